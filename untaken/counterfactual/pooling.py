"""The pooled advantage: a skill's histories at every level of a situation, fine drawn to coarse (§2c).

Empirical Bayes. At each level the skill's worth is taken to lie about its worth one level coarser, as far off
as σ² / k is large; in the coarsest, about the mean of every choice made in that context. So

    m_l = (n_l · mean_l + k · m_{l+1}) / (n_l + k),    V_l = σ² / (n_l + k) + (k / (n_l + k))² · V_{l+1}

from coarse to fine. k is the one that best foretells the outcomes of each run from all other runs in the
memory itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from untaken.counterfactual.histories import FOUND, WHY, Histories, Scales, Used, unknown
from untaken.counterfactual.memory import Observed, Snapshot
from untaken.counterfactual.memory.history import ANY, History
from untaken.counterfactual.memory.totals import NOWHERE, Moment
from untaken.counterfactual.run_evaluation import ONE_LAYER
from untaken.counterfactual.scoring import Weights
from untaken.errors import Score, Unscored
from untaken.stats import Z_95

STRENGTHS: Final = (1, 2, 4, 8, 16, 32, 64)
"""What k is chosen from, in runs."""
UNTRIED: Final = 8
"""k if the memory cannot predict any run from others."""
LATEST: Final = 2000
"""Outcomes that k is chosen by at the most, the latest."""
TIE: Final = 1e-9
"""Errors this near to the least, as a share of it, differ by rounding only."""
NOTHING_CHOSEN: Final = Unscored("no earlier run chose anything in this context")

# By history, and gone with it: choosing k predicts thousands of outcomes seven times.
_CHOSEN: WeakKeyDictionary[History, dict[tuple[int, Weights], int]] = WeakKeyDictionary()


class Pooled(NamedTuple):
    """The pooled advantage with its 95% interval, and the k it was shrunk with."""

    value: Score
    low: Score
    high: Score
    strength: int


NOT_POOLED: Final = Pooled(ONE_LAYER, ONE_LAYER, ONE_LAYER, 0)


class Level(NamedTuple):
    """What is known of skills at one level, row by row: effective runs, and their mean score."""

    n: np.ndarray
    mean: np.ndarray


class PooledAdvantages(NamedTuple):
    """`Pooled` of many rows: columns; `why` is the code of `WHY`, -1 where nothing was ever chosen there."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    strength: np.ndarray
    why: np.ndarray

    def row(self, row: int) -> Pooled:
        """One of them."""
        if self.why[row] == FOUND:
            return Pooled(
                float(self.value[row]), float(self.low[row]), float(self.high[row]), int(self.strength[row])
            )
        why = NOTHING_CHOSEN if self.why[row] < 0 else WHY[self.why[row]]
        return Pooled(why, why, why, 0)


def shrunk(
    levels: Sequence[Level], base: np.ndarray, variance: np.ndarray, strength: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The mean score that is expected of skills from their histories, coarsest first, and its variance.

    Args:
        levels: one a layer; n = 0 where nothing is known.
        base: mean score of every choice in the coarsest context.
        variance: σ², of one run's score.
        strength: k.
    """
    mean, doubt = base, np.zeros_like(base)
    for level in levels:
        total = level.n + strength
        mean = (level.n * level.mean + strength * mean) / total
        doubt = variance / total + (strength / total) ** 2 * doubt
    return mean, doubt


def pooled_advantages(
    alternative: Sequence[Histories],
    selected: Sequence[Histories],
    everything: Histories,
    strength: np.ndarray,
    scales: Scales,
) -> PooledAdvantages:
    """The alternatives' worth minus the selected skills'."""
    with np.errstate(all="ignore"):
        used = Used.common(everything.placed, everything.placed)
        sample, lacks = everything.samples(scales, used)
        # The rate of success as its interval has it, so that a few runs that all came out alike are no
        # certainty.
        success = sample.weight**2 * sample.rate * (1 - sample.rate)
        together = np.where(np.isnan(sample.together), 0.0, sample.together)
        variance = np.maximum(0.0, success + sample.rest + 2 * sample.weight * together)
        # Where nothing was chosen, `why` says so.
        base = np.nan_to_num(scales.scores(everything.placed, used))
        (first, doubt), (second, other_doubt) = (
            shrunk(
                [level_of(histories, used, scales) for histories in reversed(skill)], base, variance, strength
            )
            for skill in (alternative, selected)
        )
        value, reach = first - second, Z_95 * np.sqrt(doubt + other_doubt)
        low, high = np.maximum(-1.0, value - reach), np.minimum(1.0, value + reach)
        return PooledAdvantages(value, low, high, strength, np.where(everything.known, lacks, -1))


def level_of(histories: Histories, used: Used, scales: Scales) -> Level:
    """A level whose history lacks a figure that the others have tells nothing comparable: n = 0."""
    placed = histories.placed
    lacks = (used.cost & np.isnan(placed.cost)) | (used.steps & np.isnan(placed.steps))
    mean = scales.scores(placed, used)
    there = histories.known & ~lacks & ~np.isnan(mean)
    return Level(np.where(there, histories.figures.effective, 0.0), np.nan_to_num(mean))


def strengths_for(snapshot: Snapshot, cuts: np.ndarray, weights: Weights) -> np.ndarray:
    """The k that predicts best at each of these moments of a history."""
    found = np.full(cuts.size, UNTRIED)
    chosen = _CHOSEN.setdefault(snapshot.history, {})
    doubled = np.array([int(cut).bit_length() for cut in cuts])  # chosen again when the memory has doubled
    for bits in set(doubled[cuts > 0].tolist()):
        cut = 1 << (bits - 1)
        if (cut, weights) not in chosen:
            known = Snapshot(
                history=snapshot.history, as_of=None, cost_unit=snapshot.cost_unit, observations=cut
            )
            chosen[cut, weights] = _chosen(known, weights)
        found[doubled == bits] = chosen[cut, weights]
    return found


def _chosen(snapshot: Snapshot, weights: Weights) -> int:
    """Leave one run out: the mean squared error of each k over the outcomes of all runs."""
    scales = Scales.of(snapshot.spans(), weights)
    errors, predicted = dict.fromkeys(STRENGTHS, 0.0), False
    latest = [o for o in snapshot.history.log[: snapshot.observations][-LATEST:] if o.kind == "outcome"]
    for layers in sorted({len(o.layers) for o in latest} - {1}):
        for k, error in _predict([o for o in latest if len(o.layers) == layers], snapshot, scales):
            errors[k], predicted = errors[k] + float(error.sum()), predicted or bool(error.size)
    least = min(errors.values()) * (1 + TIE)
    # Of equals the most cautious.
    return max(k for k in STRENGTHS if errors[k] <= least) if predicted else UNTRIED


def _predict(
    outcomes: Sequence[Observed], snapshot: Snapshot, scales: Scales
) -> list[tuple[int, np.ndarray]]:
    """The squared errors of each k, of the outcomes in whose context any other run chose anything."""
    history = snapshot.history
    runs = np.array([history.run_numbers[o.run_id] for o in outcomes])
    cut = np.full(runs.size, snapshot.observations)

    def known(places: Sequence[tuple[str, str]], *, of_contexts: bool = False) -> Histories:
        totals = history.totals_of_contexts if of_contexts else history.totals
        numbers = np.array([totals.places.get(place, NOWHERE) for place in places])
        return Histories.of(totals.figures(Moment(numbers, cut, runs)), scales)

    with np.errstate(all="ignore"):
        own = scales.place(
            *(
                np.array([unknown(v) for v in c])
                for c in zip(*((o.success, o.cost, o.steps) for o in outcomes), strict=True)
            )
        )
        everything = known([(ANY, o.layers[-1]) for o in outcomes], of_contexts=True)
        used = Used.common(own, everything.placed)
        levels = [
            level_of(known([(o.skill, o.layers[level]) for o in outcomes]), used, scales)
            for level in reversed(range(len(outcomes[0].layers)))
        ]
        came, base = scales.scores(own, used), scales.scores(everything.placed, used)
        both_known = everything.known & ~np.isnan(came) & ~np.isnan(base)
        nothing = np.zeros_like(base)  # the variance is not asked for here
        return [
            (k, ((came - shrunk(levels, base, nothing, np.full_like(base, k))[0]) ** 2)[both_known])
            for k in STRENGTHS
        ]
