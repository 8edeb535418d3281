"""What was recorded of a run before a moment, as features that runs can share (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

import msgspec

from untaken.ledger import Run, SkillSelection, ToolCall
from untaken.scoring.causes.error_text import stripped_error

FeatureKind = Literal["argument", "error", "skill", "agent", "absent"]
VALUE_CHARS: Final = 80
"""Longer texts are prose, which no two runs share."""
# Bounds: a ledger may have calls of any number and depth.
MOST_PER_CALL: Final = 40
MOST_CALLS: Final = 2_000
DEPTH: Final = 4
_TOOL: Final = "tool "
_KNOWN: Final = "features"
"""Where a run keeps them."""


Seen = tuple[set["Feature"], set[str]]
"""The features of a run before its moment, and their scopes."""


class Feature(NamedTuple):
    """Something that runs can have in common.

    Attributes:
        tool: of an argument or an error; the skill of a choice; empty of an agent; of ``absent``, the tool
            that was not called.
        argument: its name, or the part of the context; empty of an error and of a skill in any context.
        value: as it was recorded; the stripped text of an error.
    """

    kind: FeatureKind
    tool: str
    argument: str
    value: str

    @property
    def scope(self) -> str:
        """Only runs with this scope could have had it: those that called the tool, or chose a skill."""
        everybody = {"agent": "", "absent": "", "skill": "skills"}
        return everybody.get(self.kind, f"{_TOOL}{self.tool}")


class RunFeatures:
    """The features of a run, each with the first `seq` at which it was seen."""

    @classmethod
    def of(cls, run: Run) -> RunFeatures:
        """Those of a run, found once: a run may have to be read again for them."""
        known: RunFeatures | None = run.__dict__.get(_KNOWN)
        if known is None:
            known = run.__dict__[_KNOWN] = cls(run)
        return known

    def __init__(self, run: Run) -> None:
        # Known before the first event.
        self._seen: dict[Feature, int] = {Feature("agent", "", "agent", run.agent): -1}
        self._scopes: dict[str, int] = {"": -1}
        for selection in run.selections:
            self._scopes.setdefault("skills", selection.seq)
            for feature in _choice(selection):
                self._seen.setdefault(feature, selection.seq)
        calls = run.actions[:MOST_CALLS]
        for call in calls:
            self._scopes.setdefault(f"{_TOOL}{call.tool}", call.seq)
            for argument, value in argument_values(call):
                self._seen.setdefault(Feature("argument", call.tool, argument, value), call.seq)
        self._errors = {
            Feature("error", call.tool, "", error): (call.seq, recovered)
            for call, error, recovered in _failed(run, calls)
        }

    def before(self, moment: float) -> Seen:
        """The features and the scopes seen before a moment."""
        found = {feature for feature, seq in self._seen.items() if seq < moment}
        # An error that the agent got over before is no cause.
        found |= {one for one, (seq, recovered) in self._errors.items() if seq < moment <= recovered}
        return found, {scope for scope, seq in self._scopes.items() if seq < moment}

    def at(self, feature: Feature) -> int:
        """The first `seq` at which it was seen."""
        return self._errors[feature][0] if feature in self._errors else self._seen.get(feature, -1)


def with_absent(seen: Iterable[Seen], usual: Iterable[Seen]) -> list[Seen]:
    """The same with a feature for each tool that most of the `usual` runs had called, and a run had not."""
    every = list(usual)
    calls = Counter(scope for _, scopes in every for scope in scopes if scope.startswith(_TOOL))
    most = [scope for scope, runs in calls.items() if 2 * runs > len(every)]
    return [
        (
            features
            | {Feature("absent", scope.removeprefix(_TOOL), "", "") for scope in most if scope not in scopes},
            scopes,
        )
        for features, scopes in seen
    ]


def argument_values(call: ToolCall) -> Iterator[tuple[str, str]]:
    """Each short scalar among a call's arguments: its place, and its value as text."""
    left = MOST_PER_CALL
    for place, value in _scalars(call.arguments, "", DEPTH):
        text = _as_text(value)
        if text is not None:
            yield place, text
            left -= 1
            if not left:
                return


def _scalars(value: Any, place: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items() if depth else ():
            yield from _scalars(inner, f"{place}.{key}" if place else str(key), depth - 1)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for inner in value if depth else ():
            yield from _scalars(inner, place, depth - 1)
    else:
        yield place, value


def _as_text(value: Any) -> str | None:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false"}.get(value, "null")  # type: ignore[arg-type]
    text = f"{value:g}" if isinstance(value, float) else str(value).strip()  # 1.0 and 1 are one value
    return text if 0 < len(text) <= VALUE_CHARS else None


def _choice(selection: SkillSelection) -> Iterator[Feature]:
    context = _context(selection.context)
    # One that fails everywhere is one cause, not one a context.
    yield Feature("skill", selection.selected, "", "")
    for key, value in context.items():
        yield Feature("skill", selection.selected, key, value)
    if len(context) != 1:  # of one part, the whole is that part again
        whole = ", ".join(f"{key} {value}" for key, value in context.items()) or selection.context_hash
        yield Feature("skill", selection.selected, "context", whole[:VALUE_CHARS])


def _context(context: Any) -> Mapping[str, str]:
    if isinstance(context, str):
        return _decoded(context)
    if not isinstance(context, Mapping):
        return {}
    found = {
        str(key): _as_text(value) for key, value in list(context.items())[:MOST_PER_CALL] if _flat(value)
    }
    return {key: value for key, value in found.items() if value is not None}


@lru_cache(maxsize=4096)
def _decoded(context: str) -> Mapping[str, str]:
    try:
        return _context(msgspec.json.decode(context, type=dict[str, Any]))
    except (msgspec.MsgspecError, ValueError):
        return {}


def _flat(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _failed(run: Run, calls: Sequence[ToolCall]) -> Iterator[tuple[ToolCall, str, float]]:
    """The failed calls: the error stripped, and the `seq` of the tool's next call that worked."""
    worked: dict[str, float] = {}
    for call in reversed(calls):  # from the end: what worked later is known by then
        answer = run.answers.get(call.seq)
        if answer is None or answer.ok is not False:
            worked[call.tool] = call.seq
        elif error := stripped_error(answer.content):
            yield call, error, worked.get(call.tool, float("inf"))
