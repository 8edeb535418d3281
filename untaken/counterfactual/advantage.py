"""The advantage over the selected skill's own history, and how sure it is (§2a).

It is shown and supports nothing: that is decided on success alone (`untaken.counterfactual.support`).

A delta sets an expectation against one run, which may have been lucky. The *advantage* sets two histories
against each other. Both carry a 95% interval (`untaken.stats.contrast`): the delta's takes the
run's own score as known and doubts the history alone, the advantage's doubts both histories.

Two identical skills differ clearly in at most 5% of cases from 3 runs per side on, and the interval covers
the true advantage in 95%, in more where successes or failures are rare: see ``benchmarks/coverage.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct

from untaken.counterfactual.histories import (
    CODE,
    COUNT,
    FOUND,
    NO_FIGURE,
    NOT_TAKEN,
    NOTHING_VARIED,
    WHY,
    Histories,
    Scales,
    Used,
    history_of,
    scored,
)
from untaken.counterfactual.memory import Record
from untaken.counterfactual.run_evaluation import Direction, Support
from untaken.counterfactual.scoring import Scale
from untaken.counterfactual.support import OptionTest
from untaken.errors import Score
from untaken.stats import band_between, band_of


class AdvantageEstimate(Struct, frozen=True, kw_only=True, gc=False):
    """The advantage of an alternative, and its 95% interval."""

    advantage: Score
    low: Score
    high: Score
    p_better: Score


class Trust(AdvantageEstimate, frozen=True, kw_only=True, gc=False):
    """An advantage, and whether the alternative is supported to succeed more, or less, often.

    `ruling` is what that rests on; ``None`` where the selected skill has no history.
    """

    support: Support
    reason: str
    direction: Direction | None
    ruling: OptionTest | None


class Advantages(NamedTuple):
    """The advantages of many alternatives: columns.

    Attributes:
        used: the terms that both histories have.
        advantage, low, high: NaN where unscored; `why`: code of `WHY`, of the advantage if it is, else of
            its interval.
        p_better: probability that the advantage exceeds the threshold; NaN without an interval.
        runs: of the alternative, and of the selected skill.
    """

    used: Used
    advantage: np.ndarray
    low: np.ndarray
    high: np.ndarray
    why: np.ndarray
    p_better: np.ndarray
    runs: tuple[np.ndarray, np.ndarray]

    def estimates(self) -> list[AdvantageEstimate]:
        """A row each."""
        columns = self.advantage, self.low, self.high, self.p_better
        return [
            AdvantageEstimate(
                advantage=scored(advantage, WHY[why]),
                low=scored(low, WHY[why]),
                high=scored(high, WHY[why]),
                p_better=scored(above, WHY[why]),
            )
            for why, advantage, low, high, above in zip(self.why, *columns, strict=True)
        ]


def compare(
    alternative: Record, selected: Record | None, scale: Scale, threshold: float
) -> AdvantageEstimate:
    """The advantage of the alternative's history over the selected skill's, in the same context.

    Args:
        alternative: history of the path not taken.
        selected: history of the path taken, the run itself left out; ``None`` without any.
        scale: spans and weights of the evaluation.
        threshold: `p_better` is the probability that the advantage exceeds it.
    """
    first, second = history_of(alternative, scale), history_of(selected, scale)
    found = advantages(first, second, Scales.of(scale.spans, scale.weights), threshold)
    with np.errstate(all="ignore"):
        return found.estimates()[0]


def advantages(alternative: Histories, selected: Histories, scales: Scales, threshold: float) -> Advantages:
    """The advantages of alternatives over the skills selected, row by row."""
    with np.errstate(all="ignore"):  # unknown figures are NaN, and stay it
        used = Used.common(alternative.placed, selected.placed)
        advantage = scales.scores(alternative.placed, used) - scales.scores(selected.placed, used)
        (first, lacks), (second, lacking) = (side.samples(scales, used) for side in (alternative, selected))
        band = band_between(first, second)
        low, high = band.ends(advantage, -1.0, 1.0)  # scores lie from 0 to 1
        why = np.select(
            [~selected.known, np.isnan(advantage), lacks != FOUND, lacking != FOUND, np.isnan(band.rest)],
            [NOT_TAKEN, NO_FIGURE, lacks, lacking, NOTHING_VARIED],
            FOUND,
        )
        low, high, p_better = (
            np.where(why == FOUND, column, np.nan)  # no interval where there is a reason
            for column in (low, high, band.above(advantage - threshold))
        )
        runs = alternative.figures.runs, selected.figures.runs
        return Advantages(
            used=used,
            advantage=advantage,
            low=low,
            high=high,
            why=why.astype(CODE),
            p_better=p_better,
            runs=(runs[0].astype(COUNT), runs[1].astype(COUNT)),
        )


def around(
    history: Histories, score: np.ndarray, scales: Scales, used: Used
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The 95% intervals of histories' mean scores over the terms used; and why there is none, as a code."""
    with np.errstate(all="ignore"):
        sample, lacks = history.samples(scales, used)
        band = band_of(sample)
        low, high = band.ends(score, 0.0, 1.0)
        why = np.select(
            [np.isnan(score), lacks != FOUND, np.isnan(band.rest)], [NO_FIGURE, lacks, NOTHING_VARIED], FOUND
        )
        none = np.where(why == FOUND, 0.0, np.nan)
        return low + none, high + none, why
