"""What the interval of a history's mean score needs of the history (§2a)."""

from __future__ import annotations

from math import sqrt
from typing import Final

from one_by_one.contrast import Sample
from one_by_one.terms import in_force
from untaken.counterfactual.memory import Record, ValueRange
from untaken.counterfactual.scoring import Scale, Terms
from untaken.errors import Unscored

NO_SPREAD: Final = Unscored("one run has no spread")
FEW_FIGURES: Final = Unscored("fewer than two runs recorded cost and steps")


def sample_of(record: Record, success: float, scale: Scale, terms: Terms) -> Sample | Unscored:
    """The history of a record, whose success rate is `success`, over the terms given."""
    if record.spread.n <= 1:
        return NO_SPREAD
    spread, weights, sums = record.spread, in_force(scale.weights, terms), record.sums
    cost_sd = spread.cost_sd if terms.cost else 0.0
    steps_sd = spread.steps_sd if terms.steps else 0.0
    if isinstance(cost_sd, Unscored) or isinstance(steps_sd, Unscored):
        return FEW_FIGURES
    # A mean over the runs that have the figure is known as well as they are many, not as all runs are.
    c = weights.cost * _share(cost_sd, scale.spans.cost) * _thinned(record.n, sums.priced)
    s = weights.steps * _share(steps_sd, scale.spans.steps) * _thinned(record.n, sums.timed)
    x = 0.0 if isinstance(spread.success_sd, Unscored) else spread.success_sd
    # Score falls as cost and steps rise. Unknown how these two move together: the worst case, as one.
    cost_steps = 1.0 if isinstance(spread.cost_steps, Unscored) else spread.cost_steps
    with_cost, with_steps = _product(x * c, spread.success_cost), _product(x * s, spread.success_steps)
    return Sample(
        n=spread.n,
        rate=(0.5 + success * spread.n) / (1 + spread.n),
        weight=weights.success,
        success=x * x,
        rest=max(0.0, c * c + s * s + 2 * cost_steps * c * s),
        together=None if with_cost is None or with_steps is None else -with_cost - with_steps,
    )


def _share(sd: float, span: ValueRange | None) -> float:
    """A standard deviation on the normalised scale."""
    return 0.0 if span is None or span.high <= span.low else sd / (span.high - span.low)


def _thinned(n: int, having: int) -> float:
    return 1.0 if having in (0, n) else sqrt(n / having)


def _product(sizes: float, correlation: float | Unscored) -> float | None:
    """A covariance; 0 where one of the two never varied, ``None`` where it is not known."""
    if not sizes:
        return 0.0
    return None if isinstance(correlation, Unscored) else sizes * correlation
