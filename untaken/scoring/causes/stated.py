"""What one failed run states of why it did not complete a sub-goal: its own calls and their answers (§5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Final

import msgspec

from untaken.ledger import Run, ToolCall
from untaken.plans import PlanGraph, SubGoal, ToolCallSpec, call_matches
from untaken.scoring.causes.error_text import stripped_error
from untaken.scoring.causes.features import (
    FEATURES,
    Attempts,
    RunFeatures,
    StatedCause,
    encoded_features,
)
from untaken.scoring.causes.places import undone_in_order
from untaken.scoring.differences import FieldDifference, nearest_call
from untaken.scoring.run_score import RunScore
from untaken.scoring.seen_texts import SeenTexts
from untaken.scoring.unused import unused_values

_Beside = dict[tuple[str, tuple[int, ...], tuple[str, ...]], tuple[StatedCause, ...]]
_BESIDE: Final = "stated_beside"
"""Where a run keeps what it states beside others, by attempts and those runs."""
MOST_EVENTS: Final = 20_000
"""Of a run whose features are taken while it is read: those of a longer one would take memory beside it."""
NOBODY: Final[Mapping[str, Sequence[Run]]] = MappingProxyType({})


class BlamedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A failed run and the sub-goal at which it failed first.

    Attributes:
        events: `seq` of its attempts at the sub-goal; none where it was never attempted.
        moment: what comes after this `seq` cannot have caused the failure.
    """

    run: Run
    node: SubGoal
    events: tuple[int, ...]
    moment: float

    @property
    def expected(self) -> ToolCallSpec | None:
        """The call that the check of the sub-goal expects."""
        return None if self.node.check is None else self.node.check.tool_call

    @property
    def attempts(self) -> Attempts:
        """What the run's attempts are known by."""
        return "" if self.expected is None else digest_of_call(self.expected), self.events


def digest_of_call(spec: ToolCallSpec) -> str:
    """Of an expected call: what a run states of its attempts holds for this very one."""
    held: str | None = spec.__dict__.get("digest")
    if held is None:
        held = spec.__dict__["digest"] = sha256(msgspec.json.encode(spec)).hexdigest()[:16]
    return held


def stated_of(one: BlamedRun, passed: Mapping[str, Sequence[Run]]) -> tuple[StatedCause, ...]:
    """`stated_causes`, found once: runs may have to be read again for them."""
    siblings, key = passed.get(one.run.task_id, ()), one.attempts
    alone = RunFeatures.of(one.run).stated.get(key)
    if alone:
        causes, unseen = alone
        if not (unseen and siblings):
            return causes
    known: _Beside = one.run.__dict__.setdefault(_BESIDE, {})
    beside = *key, tuple([run.digest for run in siblings])
    if beside not in known:
        known[beside] = tuple(stated_causes(one, passed))
    return known[beside]


def take_features(run: Run, score: RunScore, graph: PlanGraph) -> None:
    """Finds the features of a run while it is whole, and what it states of each sub-goal that it failed at.

    Nobody who looks at many failed runs has to read it again then.
    """
    if len(run.events) > MOST_EVENTS:  # who asks reads it again
        return
    features = RunFeatures.of(run)
    if run.success is False:
        nodes = {node.id: node for node in graph.sub_goals}
        for undone in undone_in_order(score, graph, run):
            node = nodes[undone.node.sub_goal]
            one = BlamedRun(run=run, node=node, events=undone.events, moment=undone.place)
            features.stated[one.attempts] = tuple(stated_causes(one)), _lacks_values(one)
    run.__dict__[FEATURES] = encoded_features(run)


def _lacks_values(one: BlamedRun) -> bool:
    """Whether the nearest call lacks values that this run was never shown."""
    spec = one.expected
    calls = [] if spec is None else _calls_of(one)
    if spec is None or any(call_matches(spec, call) for call in calls):
        return False
    near = nearest_call(spec, [call for call in calls if call.tool == spec.name])
    if near is None:
        return False
    return any(value.missing for value in unused_values(SeenTexts(one.run), spec, near[0]))


def _calls_of(one: BlamedRun) -> list[ToolCall]:
    events = set(one.events)
    return [call for call in one.run.actions if call.seq in events]


def stated_causes(one: BlamedRun, passed: Mapping[str, Sequence[Run]] = NOBODY) -> Iterator[StatedCause]:
    """What a run's own attempts at the sub-goal say of why they did not complete it.

    `passed`: runs that completed it, by task; those of the same task tell whether a value could be known.
    """
    calls, spec = _calls_of(one), one.expected
    if not calls:
        return
    siblings = passed.get(one.run.task_id, ())
    if spec is not None:
        held = [call for call in calls if call_matches(spec, call)]
        if not held:
            yield from _wrong_values(one.run, spec, calls, siblings)
            return
        calls = held
    last = calls[-1]
    answer = one.run.answers.get(last.seq)
    if answer is not None and answer.ok is False and (error := stripped_error(answer.content)):
        yield StatedCause("tool_error", last.tool, error, "", "")


def _wrong_values(
    run: Run, spec: ToolCallSpec, calls: Iterable[ToolCall], siblings: Sequence[Run]
) -> Iterator[StatedCause]:
    """The arguments of the nearest call that are not as expected.

    Apart those whose value was never shown to this run, but to another of the task: what no run was shown may
    be in a prompt that no ledger records.
    """
    near = nearest_call(spec, [call for call in calls if call.tool == spec.name])
    if near is None:
        return
    call, differences = near
    others = map(SeenTexts, siblings)
    # Without another run of the task, nobody can tell whether the value was there to know.
    unused = unused_values(SeenTexts(run), spec, call, others=others) if siblings else ()
    missing = {_plain(value.argument) for value in unused if value.missing and value.elsewhere is not None}
    for field in sorted(missing):
        yield StatedCause("missing_information", spec.name, "", field, "")
    for difference in differences:
        field = _plain(difference.field)
        if not difference.met and field not in missing:
            yield StatedCause("argument", spec.name, "", field, _value(difference))


def _plain(field: str) -> str:
    """A field without places in lists: items of one list are one argument."""
    return ".".join(part for part in field.split(".") if not part.isdecimal())


def _value(difference: FieldDifference) -> str:
    """As a feature writes it: without the quotes of a text."""
    value = difference.actual
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
