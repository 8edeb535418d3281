"""How far a delta can be trusted: the advantage over the selected skill's own history (§2a).

A delta sets an expectation against one run, which may have been lucky. The *advantage* sets two histories
against each other, and carries a 95 % interval in normal form:

* success has the posterior Beta(½ + s, ½ + f) with s + f the effective number of runs (repeats inside a run
  share its one outcome), which has a spread even where every run succeeded;
* cost and steps have the standard error of their own mean;
* the three move together as their sample correlations say; where a correlation cannot be had (all runs
  succeeded, some are unpriced) the worst case is taken: the errors add up;
* the quantile is Student's t at the Welch-Satterthwaite degrees of freedom, as the spreads are estimated.

A seeded Monte Carlo over the same posteriors agrees, and two identical skills are told apart in about 5 % of
cases at 3 to 60 runs a side: the tests and ``benchmarks/policy_memory.py`` show both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, sqrt
from typing import Final

from msgspec import Struct

from untaken.counterfactual.model import Support
from untaken.counterfactual.scoring import (
    Outcome,
    Scale,
    Terms,
    common_terms,
    difference,
    in_force,
    score_placed,
)
from untaken.errors import Score, Unscored
from untaken.memory import Record, Span

N_MIN: Final = 3
"""Fewest runs on either side for an advantage to count as supported."""
N_SPREAD: Final = 2
"""Fewest runs that have a spread."""
UPPER: Final = 0.975
NORMAL_QUANTILE: Final = 1.959963984540054
MOST_RUNS: Final = 1000
"""Where more runs than this are needed, their number is not worth naming."""


class Trust(Struct, frozen=True, kw_only=True, gc=False):
    """The advantage of an alternative, its 95 % interval, and what they are worth."""

    advantage: Score
    low: Score
    high: Score
    p_better: Score
    support: Support
    reason: str


class Estimate(Struct, frozen=True, kw_only=True, gc=False):
    """Posterior mean and variance of a history's mean score, and the effective number of runs behind it."""

    mean: float
    variance: float
    n: float


class Arm:
    """One side of a comparison: a history, and its mean outcome placed on the scale.

    Its estimate is worked out once, though every alternative of a decision is compared with the same selected
    skill.
    """

    __slots__ = ("_estimates", "placed", "record", "scale")

    def __init__(self, record: Record, scale: Scale) -> None:
        self.record = record
        self.scale = scale
        self.placed = scale.place(Outcome.of(record))
        self._estimates: dict[Terms, Estimate | Unscored] = {}

    def estimate(self, terms: Terms) -> Estimate | Unscored:
        """Posterior mean and variance of the history's mean score, over the terms given."""
        found = self._estimates.get(terms)
        if found is None:
            found = self._estimates[terms] = _estimate(self.record, self.placed, self.scale, terms)
        return found


def compare(alternative: Record, selected: Record | None, scale: Scale, threshold: float) -> Trust:
    """The advantage of the alternative's history over the selected skill's, in the same context.

    Args:
        alternative: history of the path not taken.
        selected: history of the path taken, the run itself left out; ``None`` without any.
        scale: spans and weights of the evaluation.
        threshold: `p_better` is the probability that the advantage exceeds it.
    """
    other = None if selected is None else Arm(selected, scale)
    return compare_arms(Arm(alternative, scale), other, threshold)


def compare_arms(alternative: Arm, selected: Arm | None, threshold: float) -> Trust:
    """`compare`, for histories on one scale."""
    if selected is None:
        return _weak(Unscored("no earlier run took the selected skill in this context"))
    weights, terms = alternative.scale.weights, common_terms(alternative.placed, selected.placed)
    advantage = difference(
        score_placed(alternative.placed, terms, weights), score_placed(selected.placed, terms, weights)
    )
    if isinstance(advantage, Unscored):
        return _weak(advantage)
    first, second = alternative.estimate(terms), selected.estimate(terms)
    if isinstance(first, Unscored):
        return _weak(first, advantage)
    if isinstance(second, Unscored):
        return _weak(second, advantage)
    return _judged(advantage, first, second, threshold, (alternative.record.n_runs, selected.record.n_runs))


def _estimate(record: Record, placed: Outcome, scale: Scale, terms: Terms) -> Estimate | Unscored:
    if record.n_runs < N_SPREAD:
        return Unscored("one run has no spread")
    spread, weights = record.spread, in_force(scale.weights, terms)
    won, lost = 0.5 + placed.success * spread.n, 0.5 + (1 - placed.success) * spread.n
    rate = won / (won + lost)
    mean = score_placed(Outcome(success=rate, cost=placed.cost, steps=placed.steps), terms, scale.weights)
    cost = _error(spread.cost_sd, scale.spans.cost, spread.n) if terms.cost else 0.0
    steps = _error(spread.steps_sd, scale.spans.steps, spread.n) if terms.steps else 0.0
    if isinstance(mean, Unscored) or isinstance(cost, Unscored) or isinstance(steps, Unscored):
        return Unscored("fewer than two runs recorded cost and steps")
    x = weights.success * sqrt(rate * (1 - rate) / (won + lost + 1))
    c, s = weights.cost * cost, weights.steps * steps
    # The score is x − c − s, so success and cost that rise together cancel, cost and steps add up.
    together = (
        _or(spread.cost_steps, 1.0) * c * s
        - _or(spread.success_cost, -1.0) * x * c
        - _or(spread.success_steps, -1.0) * x * s
    )
    return Estimate(mean=mean, variance=max(0.0, x * x + c * c + s * s + 2 * together), n=spread.n)


def more_runs(gap: float, first: Estimate, second: Estimate) -> int:
    """About how many more runs of each skill would make the interval exclude 0, were the gap to stay as it
    is.

    The smallest m with q²·(a / (n₁ + m) + b / (n₂ + m)) ≤ gap², where a and b are the variances of one run
    and q the normal quantile; more than `MOST_RUNS` is cut there.
    """
    a, b = first.variance * first.n, second.variance * second.n
    level = (gap / NORMAL_QUANTILE) ** 2
    if a + b >= level * (MOST_RUNS + first.n + second.n):
        return MOST_RUNS + 1
    linear = level * (first.n + second.n) - a - b
    constant = level * first.n * second.n - a * second.n - b * first.n
    root = (sqrt(max(0.0, linear**2 - 4 * level * constant)) - linear) / (2 * level)
    return min(MOST_RUNS + 1, max(1, ceil(root)))


def _judged(
    advantage: float, first: Estimate, second: Estimate, threshold: float, runs: tuple[int, int]
) -> Trust:
    variance = first.variance + second.variance
    if not variance:
        return _weak(Unscored("nothing that has a weight varied in either history"), advantage)
    centre, error, share = first.mean - second.mean, sqrt(variance), first.variance / variance
    freedom = 1 / (share**2 / (first.n - 1) + (1 - share) ** 2 / (second.n - 1))
    below, quantile = _student()
    reach = float(quantile(freedom, UPPER)) * error
    # The prior draws the centre towards even odds; the interval always holds the advantage itself.
    low, high = min(centre - reach, advantage), max(centre + reach, advantage)
    support, why = _support(low, high, runs, more_runs(centre, first, second))
    return Trust(
        advantage=advantage,
        low=low,
        high=high,
        p_better=float(below(freedom, (centre - threshold) / error)),
        support=support,
        reason=why,
    )


@cache
def _student() -> tuple[Callable[[float, float], float], Callable[[float, float], float]]:
    """Student's t, its distribution function and its quantile; SciPy is loaded when one is first needed."""
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415 (slow)

    return stdtr, stdtrit


def _support(low: float, high: float, runs: tuple[int, int], more: int) -> tuple[Support, str]:
    if min(runs) < N_MIN:
        known = f"{runs[0]} runs took the alternative and {runs[1]} the selected skill"
        return "weak", f"{known}: needs at least {N_MIN} of each"
    interval = f"the 95 % interval {low:.2f} to {high:.2f}"
    if low > 0:
        return "supported", f"{interval} lies above 0 ({runs[0]} and {runs[1]} runs)"
    if high < 0:
        return "supported", f"{interval} lies below 0: the selected skill has the better history"
    wanted = f"about {more}" if more <= MOST_RUNS else f"more than {MOST_RUNS}"
    return "weak", f"{interval} covers 0: needs {wanted} more runs of each"


def _weak(why: Unscored, advantage: Score | None = None) -> Trust:
    return Trust(
        advantage=why if advantage is None else advantage,
        low=why,
        high=why,
        p_better=why,
        support="weak",
        reason=f"{why.reason}: needs at least {N_MIN} runs of each",
    )


def _error(sd: Score, span: Span | None, n: float) -> Score:
    """Standard error of a mean, on the normalised scale."""
    if isinstance(sd, Unscored):
        return sd
    return 0.0 if span is None or span.high <= span.low else sd / (span.high - span.low) / sqrt(n)


def _or(correlation: Score, worst: float) -> float:
    return worst if isinstance(correlation, Unscored) else correlation
