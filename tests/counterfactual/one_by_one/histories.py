"""One history and two of them set against each other, with their 95% intervals (§2a)."""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple

from one_by_one.contrast import Sample, band_between, band_of
from untaken.counterfactual.memory import Record, ValueRange
from untaken.counterfactual.scoring import Outcome, Scale, Terms, Weights, difference, score_placed
from untaken.errors import Score, Unscored, number

NO_SPREAD: Final = Unscored("one run has no spread")
FEW_FIGURES: Final = Unscored("fewer than two runs recorded cost and steps")
NOTHING_VARIED: Final = Unscored("no weighted figure varies in either history")


def common_terms(first: Outcome, second: Outcome) -> Terms:
    """The terms that two placed outcomes both have."""
    return Terms(
        cost=first.cost is not None and second.cost is not None,
        steps=first.steps is not None and second.steps is not None,
    )


def in_force(weights: Weights, terms: Terms) -> Weights:
    """The weights of the terms given, renormalised."""
    cost, steps = weights.cost * terms.cost, weights.steps * terms.steps
    used = weights.success + cost + steps
    return Weights(success=weights.success / used, cost=cost / used, steps=steps / used)


def mean_of(record: Record) -> Outcome:
    """The mean outcome of a history."""
    rate = number(record.success_rate)
    assert rate is not None, "a record has at least one outcome"
    return Outcome(success=rate, cost=number(record.avg_cost), steps=number(record.avg_steps))


class Arm:
    """One side of a comparison: a history, and its mean outcome placed on the scale."""

    def __init__(self, record: Record, scale: Scale) -> None:
        self.record, self.scale = record, scale
        self.placed = scale.place(mean_of(record))

    def sample(self, terms: Terms) -> Sample | Unscored:
        """What an interval over the terms given needs of the history."""
        if self.record.spread.n <= 1:
            return NO_SPREAD
        spread, weights, sums = self.record.spread, in_force(self.scale.weights, terms), self.record.sums
        cost_sd = spread.cost_sd if terms.cost else 0.0
        steps_sd = spread.steps_sd if terms.steps else 0.0
        if isinstance(cost_sd, Unscored) or isinstance(steps_sd, Unscored):
            return FEW_FIGURES
        # A mean over the runs that have the figure is known as well as they are many, not as all runs are.
        spans, n = self.scale.spans, self.record.n
        c = weights.cost * _share(cost_sd, spans.cost) * _thinned(n, sums.priced)
        s = weights.steps * _share(steps_sd, spans.steps) * _thinned(n, sums.timed)
        x = 0.0 if isinstance(spread.success_sd, Unscored) else spread.success_sd
        # Score falls as cost and steps rise. Unknown how these two move together: the worst case, as one.
        cost_steps = 1.0 if isinstance(spread.cost_steps, Unscored) else spread.cost_steps
        with_cost, with_steps = _product(x * c, spread.success_cost), _product(x * s, spread.success_steps)
        return Sample(
            n=spread.n,
            rate=(0.5 + self.placed.success * spread.n) / (1 + spread.n),
            weight=weights.success,
            success=x * x,
            rest=max(0.0, c * c + s * s + 2 * cost_steps * c * s),
            together=None if with_cost is None or with_steps is None else -with_cost - with_steps,
        )

    def around(self, score: Score, terms: Terms) -> tuple[Score, Score]:
        """The interval of the history's mean score over the terms given."""
        if isinstance(score, Unscored):
            return score, score
        sample = self.sample(terms)
        if isinstance(sample, Unscored):
            return sample, sample
        band = band_of(sample)
        return (NOTHING_VARIED, NOTHING_VARIED) if band is None else band.ends(score, 0.0, 1.0)


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


class Trust(NamedTuple):
    """The advantage of an alternative, its interval, and the confidence that it is above the threshold."""

    advantage: Score
    low: Score
    high: Score
    p_better: Score

    @classmethod
    def weak(cls, why: Unscored, advantage: Score | None = None) -> Trust:
        return cls(why if advantage is None else advantage, why, why, why)


def compare_arms(alternative: Arm, selected: Arm | None, threshold: float) -> Trust:
    """The advantage of an alternative's history over the selected skill's, on one scale."""
    if selected is None:
        return Trust.weak(Unscored("no earlier run chose the selected skill in this context"))
    weights, terms = alternative.scale.weights, common_terms(alternative.placed, selected.placed)
    advantage = difference(
        score_placed(alternative.placed, terms, weights), score_placed(selected.placed, terms, weights)
    )
    if isinstance(advantage, Unscored):
        return Trust.weak(advantage)
    first, second = alternative.sample(terms), selected.sample(terms)
    if isinstance(first, Unscored):
        return Trust.weak(first, advantage)
    if isinstance(second, Unscored):
        return Trust.weak(second, advantage)
    band = band_between(first, second)
    if band is None:
        return Trust.weak(NOTHING_VARIED, advantage)
    return Trust(advantage, *band.ends(advantage, -1.0, 1.0), band.above(advantage - threshold))
