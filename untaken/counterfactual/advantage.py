"""How far a delta can be trusted: the advantage over the selected skill's own history (§2a).

A delta sets an expectation against one run, which may have been lucky. The *advantage* sets two histories
against each other. Both carry a 95% interval (`untaken.stats.contrast`): the delta's takes the
run's own score as known and doubts the history alone, the advantage's doubts both histories.

Two identical skills differ clearly in at most 5% of cases from 3 runs per side on, and the interval covers
the true advantage in 95%, in more where successes or failures are rare: see ``benchmarks/coverage.py``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

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
from untaken.counterfactual.run_evaluation import Direction, Support
from untaken.counterfactual.scoring import Scale
from untaken.counterfactual.words import MOST_RUNS, N_MIN, end_words, too_few
from untaken.errors import Score
from untaken.memory import Record
from untaken.stats.contrast import band_between, band_of
from untaken.stats.rates import Z_95

BETTER: Final = 1
WORSE: Final = -1


class AdvantageEstimate(Struct, frozen=True, kw_only=True, gc=False):
    """The advantage of an alternative, its 95% interval, and what they are worth."""

    advantage: Score
    low: Score
    high: Score
    p_better: Score
    support: Support
    reason: str
    direction: Direction | None = None


class Estimate(NamedTuple):
    """Variance of a history's mean score, and the effective number of runs behind it."""

    variance: np.ndarray
    n: np.ndarray


class Advantages(NamedTuple):
    """The advantages of many alternatives: columns.

    Attributes:
        used: the terms that both histories have.
        advantage, low, high: NaN where unscored; `why`: code of `WHY`, of the advantage if it is, else of
            its interval.
        p_better: probability that the advantage exceeds the threshold; NaN without an interval.
        runs: of the alternative, and of the selected skill.
        needed: about how many more runs of each would show a difference.
        direction: `BETTER`, `WORSE`, or 0 where the interval supports nothing.
    """

    used: Used
    advantage: np.ndarray
    low: np.ndarray
    high: np.ndarray
    why: np.ndarray
    p_better: np.ndarray
    runs: tuple[np.ndarray, np.ndarray]
    needed: np.ndarray
    direction: np.ndarray

    def call(self, row: int) -> tuple[Support, str, Direction | None]:
        """What is supported in a row, why, in words, and in which direction."""
        if self.why[row] != FOUND:
            return "weak", f"{WHY[self.why[row]].reason}: needs at least {N_MIN} runs of each", None
        runs = int(self.runs[0][row]), int(self.runs[1][row])
        if min(runs) < N_MIN:
            return "weak", too_few(runs), None
        interval = f"the 95% interval {end_words(self.low[row])} to {end_words(self.high[row])}"
        if self.direction[row] == BETTER:
            took = f"{runs[0]} runs took the alternative, {runs[1]} the selected skill"
            return "supported", f"{interval} is above 0 ({took})", "better"
        if self.direction[row] == WORSE:
            why = f"{interval} is below 0: the alternative scores lower"
            return "supported", why, "worse"
        more = int(self.needed[row])
        wanted = f"about {more}" if more <= MOST_RUNS else f"more than {MOST_RUNS}"
        needs = f"needs {wanted} more {'run' if more == 1 else 'runs'} of each"
        return "weak", f"{interval} includes 0: {needs}", None

    def trusts(self) -> list[AdvantageEstimate]:
        """A row each, in words."""
        found = []
        for row, above in enumerate(self.p_better):
            why, (support, reason, direction) = WHY[self.why[row]], self.call(row)
            found.append(
                AdvantageEstimate(
                    advantage=scored(self.advantage[row], why),
                    low=scored(self.low[row], why),
                    high=scored(self.high[row], why),
                    p_better=scored(above, why),
                    support=support,
                    reason=reason,
                    direction=direction,
                )
            )
        return found


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
        return found.trusts()[0]


def advantages(alternative: Histories, selected: Histories, scales: Scales, threshold: float) -> Advantages:
    """The advantages of alternatives over the skills selected, row by row."""
    with np.errstate(all="ignore"):  # unknown figures are NaN, and stay it
        used = Used.common(alternative.placed, selected.placed)
        advantage = scales.scores(alternative.placed, used) - scales.scores(selected.placed, used)
        (first, lacks), (second, lacking) = (side.samples(scales, used) for side in (alternative, selected))
        band = band_between(first, second)
        low, high = band.ends(advantage, -1.0, 1.0)
        why = np.select(
            [~selected.known, np.isnan(advantage), lacks != FOUND, lacking != FOUND, np.isnan(band.rest)],
            [NOT_TAKEN, NO_FIGURE, lacks, lacking, NOTHING_VARIED],
            FOUND,
        )
        none = np.where(why == FOUND, 0.0, np.nan)
        one, two = (Estimate(side.variance(band.slope), side.n) for side in (first, second))
        runs = alternative.figures.runs, selected.figures.runs
        enough = (why == FOUND) & (np.minimum(*runs) >= N_MIN)
        return Advantages(
            used=used,
            advantage=advantage,
            low=low + none,
            high=high + none,
            why=why.astype(CODE),
            p_better=np.where(why == FOUND, band.above(advantage - threshold), np.nan),
            runs=(runs[0].astype(COUNT), runs[1].astype(COUNT)),
            needed=more_runs(advantage, one, two),
            direction=(enough & (low > 0)) * CODE(BETTER) + (enough & (high < 0)) * CODE(WORSE),
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


def more_runs(gap: np.ndarray, first: Estimate, second: Estimate) -> np.ndarray:
    """About how many more runs of each skill would make the interval exclude 0, were the gap to stay as it
    is.

    The smallest m with q²·(a / (n₁ + m) + b / (n₂ + m)) ≤ gap², where a and b are the variances of one run
    and q the normal quantile; more than `MOST_RUNS` is cut there. NaN where anything is unknown.
    """
    with np.errstate(all="ignore"):
        return _more_runs(gap, first, second)


def _more_runs(gap: np.ndarray, first: Estimate, second: Estimate) -> np.ndarray:
    a, b = first.variance * first.n, second.variance * second.n
    level = (gap / Z_95) ** 2
    linear = level * (first.n + second.n) - a - b
    constant = level * first.n * second.n - a * second.n - b * first.n
    root = (np.sqrt(np.maximum(0.0, linear**2 - 4 * level * constant)) - linear) / (2 * level)
    found = np.minimum(MOST_RUNS + 1, np.maximum(1, np.ceil(root)))
    return np.where(a + b >= level * (MOST_RUNS + first.n + second.n), MOST_RUNS + 1, found)
