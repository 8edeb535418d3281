"""The graph's expressions, tried on the run's final state or after each step (§4, §4a).

The `when` of a sub-goal is one of them: it says in which runs the sub-goal is required.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final

from msgspec import Struct, structs

from untaken import limits
from untaken.errors import Unscored
from untaken.ledger import RunFinished, State, cut
from untaken.plans import evaluate_expression
from untaken.scoring.attempts import Attempt
from untaken.scoring.compiled import CompiledGraph, CompiledSubGoal, Conditions
from untaken.scoring.differences import FieldDifference, fields_in_words, state_differences
from untaken.scoring.trace import JsonObject, StateFold, Trace

"""Characters of an expression in a reason."""
REMEMBERED: Final = 16_384
"""Results kept: runs of a task end in few states, as far as one expression looks."""
REMEMBERED_CHARS: Final = 200
"""Longest text in a state whose result is kept."""
_ABSENT: Final = object()


class ExpressionResult(Struct, frozen=True, kw_only=True, gc=False):
    """What an expression gave, in words, with the events that set the fields it reads.

    Attributes:
        at: `seq` after which it holds.
        differences: of an expression that is false, its parts beside what the final state holds.
    """

    passed: bool | Unscored
    reason: str = ""
    evidence: tuple[int, ...] = ()
    at: int | None = None
    differences: tuple[FieldDifference, ...] = ()


class ExpressionResults:
    """Results for one run; expressions tried after each step are worked out in one walk over the states."""

    def __init__(
        self,
        compiled: CompiledGraph,
        trace: Trace,
        attempts: Mapping[str, Attempt],
        ends: Sequence[int],
        *,
        in_words: bool,
    ) -> None:
        self._fold = StateFold(trace.states if compiled.reads_state else (), compiled.fields)
        self._during: dict[str, ExpressionResult] = {}
        self._in_words = in_words
        if not compiled.reads_state:
            return
        waiting = [
            (_begun(c, attempts[c.node.id]), c)
            for c in compiled.stepwise
            if attempts[c.node.id].made or not c.needs_action
        ]
        if waiting:
            waiting.sort(key=itemgetter(0), reverse=True)  # the earliest last: `_walk` takes from the end
            self._walk(waiting, ends)
        self._fold.forward(trace.last)

    def result(self, criterion: CompiledSubGoal, attempt: Attempt) -> ExpressionResult:
        """The result for one sub-goal that was attempted, or needs no action."""
        if (held := self._during.get(criterion.node.id)) is not None:
            return self._compared(held, criterion) if held.passed is False else held
        passed = _evaluate(criterion, self._fold.state)
        words = "the final state meets" if passed is True else "the final state does not meet"
        found = self._explain(criterion, passed, words, begun=_begun(criterion, attempt))
        return self._compared(found, criterion) if passed is False else found

    def holds(self, criterion: CompiledSubGoal) -> bool:
        """Whether the final state meets it, whatever was attempted."""
        return bool(criterion.expression) and _evaluate(criterion, self._fold.state) is True

    def fails(self, criterion: CompiledSubGoal) -> bool:
        """Whether the final state is known not to meet it, whatever was attempted."""
        final = bool(criterion.expression) and not criterion.stepwise
        return final and _evaluate(criterion, self._fold.state) is False

    def _compared(self, found: ExpressionResult, criterion: CompiledSubGoal) -> ExpressionResult:
        """The result, with what the final state holds instead: in the reason and field by field."""
        if not self._in_words:
            return found
        differences = state_differences(criterion.expression, self._fold.state)
        words = fields_in_words(differences)
        reason = found.reason.replace(cut(criterion.expression), f"its check: {words}")
        return structs.replace(found, reason=reason if words else found.reason, differences=differences)

    def _walk(self, coming: list[tuple[int, CompiledSubGoal]], ends: Sequence[int]) -> None:
        """Try each expression after every step from its first action on, until it holds once.

        Args:
            coming: `seq` of the first action, and the criterion; the earliest is last.
            ends: last `seq` of each step.
        """
        trying: list[tuple[int, CompiledSubGoal]] = []
        budget, fold = limits.STEP_CHECKS, self._fold
        for end in ends:
            if fold.ahead > end and not (coming and coming[-1][0] <= end):
                continue  # most steps
            moved, begun = fold.forward(end), []
            while coming and coming[-1][0] <= end:
                begun.append(coming.pop())
            due = [one for one in trying if one[1].could_differ(moved)] + begun
            if not due:
                continue
            budget -= len(due)
            if budget < 0:
                too_long = Unscored("the run has too many steps to check after each one")
                for _, criterion in (*trying, *begun, *coming):
                    self._during[criterion.node.id] = ExpressionResult(passed=too_long)
                return
            held = {criterion.node.id for first, criterion in due if self._try(criterion, first)}
            trying = [one for one in (*trying, *begun) if one[1].node.id not in held]

    def _try(self, criterion: CompiledSubGoal, begun: int) -> bool:
        """Try one expression now."""
        passed = _evaluate(criterion, self._fold.state)
        name = criterion.node.id
        before = self._during.get(name)  # a plain "no" outweighs a step at which it could not be decided
        if not isinstance(passed, Unscored) or before is None or isinstance(before.passed, Unscored):
            words = (
                "after one step the state meets" if passed is True else "after no step does the state meet"
            )
            self._during[name] = self._explain(criterion, passed, words, begun=begun)
        return passed is True

    def _explain(
        self, criterion: CompiledSubGoal, passed: bool | Unscored, words: str, *, begun: int
    ) -> ExpressionResult:
        """The result, with the events that last set what it reads; it held from the last of them on."""
        if isinstance(passed, Unscored) or not (passed or self._in_words):
            return ExpressionResult(passed=passed)
        changed = self._fold.changed
        evidence = [changed[field] for field in criterion.fields or changed if field in changed]
        at = max([begun, *evidence])
        if not self._in_words:
            return ExpressionResult(passed=passed, at=at)
        return ExpressionResult(
            passed=passed,
            reason=f"{words} {cut(criterion.expression)}",
            evidence=tuple(sorted(set(evidence if criterion.fields else sorted(evidence)[-1:]))),
            at=at,
        )


def _begun(criterion: CompiledSubGoal, attempt: Attempt) -> int:
    """From which event on its expression counts: its first action, or the run's begin."""
    return attempt.events[0] if attempt.events and criterion.needs_action else 0


def _evaluate(criterion: CompiledSubGoal, state: JsonObject) -> bool | Unscored:
    return evaluated(criterion.expression, criterion.fields, state)


def evaluated(expression: str, fields: tuple[str, ...], state: JsonObject) -> bool | Unscored:
    """`evaluate_expression`, remembered where all it reads are small scalars.

    `fields` are the top-level fields that it reads; none where it reads the whole state.
    """
    values = [state.get(field, _ABSENT) for field in fields]
    if values and all(map(_small, values)):
        return _remembered(expression, fields, *values)
    return evaluate_expression(expression, state)


def _small(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= REMEMBERED_CHARS
    # No floats: 0.0 and -0.0 are one key, not one value.
    return value is None or value is _ABSENT or isinstance(value, int)


# Typed: True and 1 are one key of a dict, but two values of JSON.
@lru_cache(maxsize=REMEMBERED, typed=True)
def _remembered(expression: str, fields: tuple[str, ...], *values: object) -> bool | Unscored:
    read = {field: value for field, value in zip(fields, values, strict=True) if value is not _ABSENT}
    return evaluate_expression(expression, read)


NONE: Final[Conditions] = {}
_TOO_LONG: Final = Unscored("the run changes its state too often to try the condition each time")


def conditions(compiled: CompiledGraph, states: Sequence[State | RunFinished]) -> Conditions:
    """Whether each conditional sub-goal is required in a run.

    Returns:
        True where `when` holds on the final state or, with ``when_at: step``, after any event that changes
        the state; unscored with the missing field's name where it could never be decided.
    """
    if not compiled.conditional:
        return NONE
    fold = StateFold(states, compiled.fields)
    during = [one for one in compiled.conditional if one.node.when_at == "step"]
    found = {one.node.id: _during(one, states) for one in during}
    if states:
        fold.forward(states[-1].seq)
    found |= {
        one.node.id: evaluated(one.when, one.when_fields, fold.state)
        for one in compiled.conditional
        if one.node.when_at == "final"
    }
    return found


def _during(criterion: CompiledSubGoal, states: Sequence[State | RunFinished]) -> bool | Unscored:
    """Whether the condition holds after any change."""
    fold = StateFold(states, frozenset(criterion.when_fields) or None)
    known: bool | Unscored = evaluated(criterion.when, criterion.when_fields, fold.state)
    budget = limits.STEP_CHECKS
    for event in states:
        if known is True:
            return True
        if not fold.forward(event.seq):
            continue
        budget -= 1
        if budget < 0:
            return _TOO_LONG
        now = evaluated(criterion.when, criterion.when_fields, fold.state)
        # A plain "no" outweighs a state that cannot decide it.
        known = now if not isinstance(now, Unscored) or isinstance(known, Unscored) else known
    return known
