"""What was recorded of a run before a moment, as features that runs can share (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from untaken.ledger import Observation, Run, SkillSelection, ToolCall
from untaken.scoring.causes.cause import CauseKind
from untaken.scoring.causes.error_text import stripped_error

FeatureKind = Literal["argument", "error", "skill", "agent", "absent"]
VALUE_CHARS: Final = 80
"""Longer texts are prose, which no two runs share."""
# Bounds: a ledger may have calls of any number and depth.
MOST_PER_CALL: Final = 40
MOST_CALLS: Final = 2_000
DEPTH: Final = 4
_SCALAR: Final = (str, int, float, type(None))
_TOOL: Final = "tool "
FEATURES: Final = "features"
"""Where a run keeps them, or what `encoded_features` gave: who asks need not read it again."""


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


class StatedCause(NamedTuple):
    """A cause that one run states by itself; `value` is that run's own."""

    kind: CauseKind
    tool: str
    error: str
    argument: str
    value: str


Attempts = tuple[str, tuple[int, ...]]
"""What a check expects, as a digest, and the `seq` of the attempts at it."""


class RunFeatures(Struct, frozen=True, array_like=True):
    """The features of a run, and what else is asked of it when many failed runs are looked at.

    It is taken from a run that is whole, and kept: else each run would be read again and again.

    Attributes:
        seen, scopes: each with the first `seq` at which it was seen.
        errors: of failed calls, with the `seq` of the call and of the tool's next call that worked.
        refused: `seq` of the calls whose answer says that they failed.
        stated: by attempts, as far as somebody has looked.
    """

    seen: dict[Feature, int]
    scopes: dict[str, int]
    errors: dict[Feature, tuple[int, float]]
    refused: frozenset[int]
    stated: dict[Attempts, tuple[tuple[StatedCause, ...], bool]]

    @classmethod
    def of(cls, run: Run) -> RunFeatures:
        """Those of a run, found once."""
        known: RunFeatures | bytes | None = run.__dict__.get(FEATURES)
        if not isinstance(known, RunFeatures):
            known = run.__dict__[FEATURES] = _decode(known) if known else cls._found_in(run)
        return known

    @classmethod
    def _found_in(cls, run: Run) -> RunFeatures:
        # Known before the first event.
        seen: dict[Feature, int] = {Feature("agent", "", "agent", run.agent): -1}
        scopes: dict[str, int] = {"": -1}
        for selection in run.selections:
            scopes.setdefault("skills", selection.seq)
            for feature in _choice(selection):
                seen.setdefault(feature, selection.seq)
        calls, answers = run.actions[:MOST_CALLS], run.answers
        for call in calls:
            scopes.setdefault(f"{_TOOL}{call.tool}", call.seq)
            for argument, value in argument_values(call):
                seen.setdefault(Feature("argument", call.tool, argument, value), call.seq)
        errors = {
            Feature("error", call.tool, "", error): (call.seq, recovered)
            for call, error, recovered in _failed(calls, answers)
        }
        refused = frozenset([seq for seq, answer in answers.items() if answer.ok is False])
        return cls(seen, scopes, errors, refused, {})

    def before(self, moment: float) -> Seen:
        """The features and the scopes seen before a moment."""
        found = {feature for feature, seq in self.seen.items() if seq < moment}
        # An error that the agent got over before is no cause.
        found |= {one for one, (seq, recovered) in self.errors.items() if seq < moment <= recovered}
        return found, {scope for scope, seq in self.scopes.items() if seq < moment}

    def at(self, feature: Feature) -> int:
        """The first `seq` at which it was seen."""
        return self.errors[feature][0] if feature in self.errors else self.seen.get(feature, -1)


_decode = msgspec.msgpack.Decoder(RunFeatures).decode
_encode = msgspec.msgpack.Encoder().encode


def encoded_features(run: Run) -> bytes:
    """The features of a run, as `FEATURES` may keep them."""
    known: RunFeatures | bytes | None = run.__dict__.get(FEATURES)
    return known if isinstance(known, bytes) else _encode(RunFeatures.of(run))


def with_absent(runs: Mapping[str, Seen], usual: Iterable[Seen]) -> dict[str, Seen]:
    """The same with a feature for each tool that most of the `usual` runs had called, and a run had not."""
    every = list(usual)
    calls = Counter(scope for _, scopes in every for scope in scopes if scope.startswith(_TOOL))
    most = [scope for scope, runs in calls.items() if 2 * runs > len(every)]
    return {
        digest: (
            features
            | {Feature("absent", scope.removeprefix(_TOOL), "", "") for scope in most if scope not in scopes},
            scopes,
        )
        for digest, (features, scopes) in runs.items()
    }


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


def _scalars(values: Mapping[str, Any], place: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        own = f"{place}.{key}" if place else str(key)
        if isinstance(value, _SCALAR):
            yield own, value
        elif depth > 1:
            yield from _inside(value, own, depth - 1)


def _inside(value: Any, place: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, _SCALAR):
        yield place, value
    elif isinstance(value, Mapping):
        yield from _scalars(value, place, depth) if depth else ()
    else:
        for inner in value if depth else ():
            yield from _inside(inner, place, depth - 1)


def _as_text(value: Any) -> str | None:
    if isinstance(value, str):
        text = value.strip()
    elif isinstance(value, bool) or value is None:
        return {True: "true", False: "false"}.get(value, "null")  # type: ignore[arg-type]
    else:
        text = f"{value:g}" if isinstance(value, float) else str(value)  # 1.0 and 1 are one value
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


def _failed(
    calls: Sequence[ToolCall], answers: Mapping[int, Observation]
) -> Iterator[tuple[ToolCall, str, float]]:
    """The failed calls: the error stripped, and the `seq` of the tool's next call that worked."""
    worked: dict[str, float] = {}
    for call in reversed(calls):  # from the end: what worked later is known by then
        answer = answers.get(call.seq)
        if answer is None or answer.ok is not False:
            worked[call.tool] = call.seq
        elif error := stripped_error(answer.content):
            yield call, error, worked.get(call.tool, float("inf"))
