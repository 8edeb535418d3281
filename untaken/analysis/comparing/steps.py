"""What each run did at one row, step beside step, with the arguments that differ marked (§4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from untaken.analysis.comparing.aligned import AlignedRow
from untaken.ledger import Message, Observation, Run, ToolCall, paired, readable

DEEPEST: Final = 6
MOST_DECODED: Final = 100_000
"""Characters of a text that may hold JSON; of a longer one the beginning is shown as it is."""


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """One argument of a call, as text; `differs` from the same call of another run shown."""

    name: str
    text: str
    differs: bool


class CallAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back: an observation; `ok` is ``None`` where that was not recorded."""

    seq: int
    ok: bool | None
    transient: bool
    text: str


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One action; texts are untrusted.

    Attributes:
        tool: empty for a message, whose words are in `text`.
    """

    seq: int
    tool: str
    text: str
    arguments: tuple[Argument, ...]
    answers: tuple[CallAnswer, ...]


def steps_of(row: AlignedRow, runs: Mapping[str, Run]) -> dict[str, tuple[Step, ...]]:
    """The actions of each run at a row, in order, by run digest.

    The n-th call of a tool in this row is compared with the n-th call of the same tool in the other runs. An
    argument differs if these calls gave different values, or if one left it out.
    """
    acted = {cell.digest: _actions(runs[cell.digest], cell.events) for cell in row.cells}
    values = _values(acted.values())
    found = {}
    for digest, actions in acted.items():
        answers = _answers(runs[digest]) if actions else {}
        seen: Counter[str] = Counter()
        steps = []
        for action in actions:
            steps.append(_step(action, answers.get(action.seq, ()), values, seen))
        found[digest] = tuple(steps)
    return found


def in_words(value: object) -> str:
    """Recorded content as people read it: ``amount: 78 · to: card``, also where a text holds it as JSON."""
    if isinstance(value, str):
        inner = _decoded(value) if value[:1] in ("{", "[") else None
        return value if inner is None else _words(inner, 0)
    return _words(value, 0)


def _words(value: object, depth: int) -> str:
    if isinstance(value, Mapping) and value and depth < DEEPEST:
        words = " · ".join(f"{name}: {_words(one, depth + 1)}" for name, one in value.items())
        return f"({words})" if depth else words
    if isinstance(value, list) and value and depth < DEEPEST:
        return ", ".join(_words(one, depth + 1) for one in value)
    return '""' if value == "" else readable(value) or "null"


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text[:MOST_DECODED])
    except (msgspec.DecodeError, RecursionError):
        return None


Action = ToolCall | Message
Place = tuple[str, int]
"""A tool, and which of its calls."""


def _actions(run: Run, events: Sequence[int]) -> list[Action]:
    wanted = set(events)
    return [e for e in run.events if e.seq in wanted and isinstance(e, ToolCall | Message)]


def _values(acted: Any) -> Mapping[Place, Mapping[str, set[bytes | None]]]:
    """The values of each argument of each call; ``None`` means left out."""
    calls: dict[Place, list[dict[str, Any]]] = defaultdict(list)
    for actions in acted:
        seen: Counter[str] = Counter()
        for action in actions:
            if isinstance(action, ToolCall):
                # The second call with the second.
                calls[action.tool, seen[action.tool]].append(action.arguments)
                seen[action.tool] += 1
    return {
        place: {
            # Encoded, because lists and objects cannot be in a set.
            name: {msgspec.json.encode(one[name], order="sorted") if name in one else None for one in given}
            for name in {name for one in given for name in one}
        }
        for place, given in calls.items()
    }


def _step(
    action: Action,
    answers: Sequence[Observation],
    values: Mapping[Place, Mapping[str, set[bytes | None]]],
    seen: Counter[str],
) -> Step:
    if isinstance(action, Message):
        return Step(seq=action.seq, tool="", text=readable(action.content) or "", arguments=(), answers=())
    given = values[action.tool, seen[action.tool]]
    seen[action.tool] += 1
    return Step(
        seq=action.seq,
        tool=action.tool,
        text="",
        arguments=tuple(
            Argument(name=name, text=in_words(value), differs=len(given[name]) > 1)
            for name, value in action.arguments.items()
        ),
        answers=tuple(
            CallAnswer(
                seq=o.seq,
                ok=o.ok,
                transient=bool(o.transient),
                text="" if o.content is None else in_words(o.content),
            )
            for o in answers
        ),
    )


def _answers(run: Run) -> Mapping[int, list[Observation]]:
    """`seq` of a call → what answered it."""
    found: dict[int, list[Observation]] = defaultdict(list)
    for answer, call in paired(run.actions, run.of(Observation)):
        if call is not None:
            found[call.seq].append(answer)
    return found
