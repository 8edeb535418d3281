"""How far a delta can be trusted: the advantage over the selected skill's own history (§2a).

A delta sets an expectation against one run, which may have been lucky. The *advantage* sets two histories
against each other. Both carry a 95% interval (`untaken.stats.contrast`): the delta's takes the
run's own score as known and doubts the history alone, the advantage's doubts both histories.

Two identical skills differ clearly in at most 5% of cases from 3 runs per side on, and the interval covers
the true advantage in 95%, in more where successes or failures are rare: see ``benchmarks/coverage.py``.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from one_by_one.contrast import Sample, band_between, band_of
from one_by_one.records import mean_of
from one_by_one.sample import sample_of
from one_by_one.terms import common_terms
from untaken.counterfactual.memory import Record
from untaken.counterfactual.scoring import Scale, Terms, difference, score_placed
from untaken.errors import Score, Unscored

NOTHING_VARIED: Final = Unscored("no weighted figure varies in either history")


class Trust(Struct, frozen=True, kw_only=True, gc=False):
    """The advantage of an alternative, and its 95% interval."""

    advantage: Score
    low: Score
    high: Score
    p_better: Score


class Arm:
    """One side of a comparison: a history, and its mean outcome placed on the scale.

    What its interval needs is worked out once, though every alternative of a decision is compared with the
    same selected skill.
    """

    __slots__ = ("_samples", "placed", "record", "scale")

    def __init__(self, record: Record, scale: Scale) -> None:
        self.record = record
        self.scale = scale
        self.placed = scale.place(mean_of(record))
        self._samples: dict[Terms, Sample | Unscored] = {}

    def sample(self, terms: Terms) -> Sample | Unscored:
        """What an interval over the terms given needs of the history."""
        found = self._samples.get(terms)
        if found is None:
            found = sample_of(self.record, self.placed.success, self.scale, terms)
            self._samples[terms] = found
        return found

    def around(self, score: Score, terms: Terms) -> tuple[Score, Score]:
        """95% interval of the history's mean score over the terms given."""
        if isinstance(score, Unscored):
            return score, score
        sample = self.sample(terms)
        if isinstance(sample, Unscored):
            return sample, sample
        band = band_of(sample)
        return (NOTHING_VARIED, NOTHING_VARIED) if band is None else band.ends(score, 0.0, 1.0)


def compare_arms(alternative: Arm, selected: Arm | None, threshold: float) -> Trust:
    """The advantage of an alternative's history over the selected skill's, on one scale."""
    if selected is None:
        return _weak(Unscored("no earlier run chose the selected skill in this context"))
    weights, terms = alternative.scale.weights, common_terms(alternative.placed, selected.placed)
    advantage = difference(
        score_placed(alternative.placed, terms, weights), score_placed(selected.placed, terms, weights)
    )
    if isinstance(advantage, Unscored):
        return _weak(advantage)
    first, second = alternative.sample(terms), selected.sample(terms)
    if isinstance(first, Unscored):
        return _weak(first, advantage)
    if isinstance(second, Unscored):
        return _weak(second, advantage)
    return _judged(advantage, first, second, threshold)


def _judged(advantage: float, first: Sample, second: Sample, threshold: float) -> Trust:
    band = band_between(first, second)
    if band is None:
        return _weak(NOTHING_VARIED, advantage)
    low, high = band.ends(advantage, -1.0, 1.0)

    return Trust(advantage=advantage, low=low, high=high, p_better=band.above(advantage - threshold))


def _weak(why: Unscored, advantage: Score | None = None) -> Trust:
    return Trust(advantage=why if advantage is None else advantage, low=why, high=why, p_better=why)
