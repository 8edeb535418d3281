"""The graph's expressions, tried on the run's final state or after each step (§4, §4a)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from untaken import limits
from untaken.errors import Unscored
from untaken.plans import evaluate_expression
from untaken.subgoals.attempts import Attempt
from untaken.subgoals.rubric import Criterion, Rubric
from untaken.subgoals.state import JsonObject, StateFold
from untaken.subgoals.trace import Trace

SHOWN_CHARS: Final = 120
"""Of an expression in a reason."""
REMEMBERED: Final = 16_384
"""Results kept: runs of a task end in few states, as far as one expression looks."""
REMEMBERED_CHARS: Final = 200
"""Longest text in a state whose result is kept."""


class ExpressionResult(NamedTuple):
    """What an expression gave, in words, with the events that set the fields it reads.

    Attributes:
        at: `seq` after which it holds.
    """

    passed: bool | Unscored
    reason: str = ""
    evidence: tuple[int, ...] = ()
    at: int | None = None


class ExpressionResults:
    """Results for one run; expressions tried after each step are worked out in one walk over the states."""

    def __init__(
        self, rubric: Rubric, trace: Trace, attempts: Mapping[str, Attempt], actions: Sequence[int]
    ) -> None:
        self._fold = StateFold(trace.states)
        self._during: dict[str, ExpressionResult] = {}
        if not rubric.reads_state:
            return
        waiting = {
            name: criterion
            for name, criterion in rubric.criteria.items()
            if criterion.step_expression is not None and attempts[name].made
        }
        if waiting:
            self._walk(waiting, attempts, trace.step_ends(actions))
        self._fold.forward(trace.last)

    def result(self, criterion: Criterion, attempt: Attempt) -> ExpressionResult:
        """The result for one attempted sub-goal."""
        if (held := self._during.get(criterion.node.id)) is not None:
            return held
        check = criterion.node.check
        if check is None or check.expr is None:
            raise ValueError("only a sub-goal with an expression has a result")
        passed = _evaluate(check.expr, criterion.fields, self._fold.state)
        words = "the final state meets" if passed else "the final state does not meet"
        return self._explain(criterion, passed, words, begun=attempt.events[0])

    def _walk(
        self, waiting: Mapping[str, Criterion], attempts: Mapping[str, Attempt], ends: Sequence[int]
    ) -> None:
        """Try each waiting expression after every step from its first action on, until it holds once."""
        coming = {name: attempts[name].events[0] for name in waiting}
        trying: dict[str, Criterion] = {}
        budget = limits.STEP_CHECKS
        for end in ends:
            moved = self._fold.forward(end) if self._fold.ahead <= end else None
            due = [name for name, one in trying.items() if one.could_differ(moved)] if moved else []
            begun = [name for name, first in coming.items() if first <= end]
            for name in begun:
                trying[name] = waiting[name]
                del coming[name]
            due += begun
            budget -= len(due)
            if budget < 0:
                too_long = Unscored("the run has too many steps to try it after each")
                self._during |= {name: ExpressionResult(passed=too_long) for name in (*trying, *coming)}
                return
            for name in due:
                if self._try(trying[name], attempts[name].events[0]):
                    del trying[name]

    def _try(self, criterion: Criterion, begun: int) -> bool:
        """Try one expression now; a plain "no" outweighs a step at which it could not be decided."""
        passed = _evaluate(criterion.step_expression or "", criterion.fields, self._fold.state)
        name = criterion.node.id
        before = self._during.get(name)
        if not isinstance(passed, Unscored) or before is None or isinstance(before.passed, Unscored):
            words = "after a step the state meets" if passed else "after no step does the state meet"
            self._during[name] = self._explain(criterion, passed, words, begun=begun)
        return passed is True

    def _explain(
        self, criterion: Criterion, passed: bool | Unscored, words: str, *, begun: int
    ) -> ExpressionResult:
        """The result, with the events that last set what it reads; it held from the last of them on."""
        if isinstance(passed, Unscored):
            return ExpressionResult(passed=passed)
        changed = self._fold.changed
        evidence = {changed[field] for field in criterion.fields if field in changed}
        if not criterion.fields and changed:
            evidence = {max(changed.values())}
        return ExpressionResult(
            passed=passed,
            reason=f"{words} {_shown(criterion)}",
            evidence=tuple(sorted(evidence)),
            at=max(begun, *evidence) if evidence else begun,
        )


def _evaluate(expression: str, fields: frozenset[str], state: JsonObject) -> bool | Unscored:
    """`evaluate_expression`, remembered where all it reads are small scalars."""
    read = {field: state[field] for field in fields if field in state}
    if fields and all(map(_small, read.values())):
        return _remembered(expression, tuple(read), *read.values())
    return evaluate_expression(expression, state)


def _small(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= REMEMBERED_CHARS
    return value is None or isinstance(value, int)  # no floats: 0.0 and -0.0 are one key, not one value


@lru_cache(maxsize=REMEMBERED, typed=True)
def _remembered(expression: str, fields: tuple[str, ...], *values: object) -> bool | Unscored:
    return evaluate_expression(expression, dict(zip(fields, values, strict=True)))


def _shown(criterion: Criterion) -> str:
    text = criterion.node.check.expr if criterion.node.check is not None else None
    text = text or ""
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
