"""Rates from a few people's labels and a judge's verdicts on everything (§5, "A few labels and a judge").

Prediction-powered inference: the judge's rate over all items, corrected by how far it is off where people
labelled, θ = ȳ + λ · (f̄ over all − f̄ over the labelled). λ is the slope of labels on verdicts: 0, so that the
judge has no say, where the two do not go together (Angelopoulos, Duchi and Zrnic 2023, PPI++; their λ is this
one times the share of items without a label, as the mean of their judge leaves the labelled out).

Labels may be drawn with unequal, known odds: each then weighs 1 / odds (Hájek 1971). The variance is that of
sums over clusters (tasks), so labels of one task are never taken for independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

import numpy as np

from untaken.errors import Score, Unscored
from untaken.stats.means import student_cdf, student_quantile
from untaken.stats.powered import Powered, Target
from untaken.stats.rounding import Floats

FEWEST_CLUSTERS: Final = 5
FEWEST_LABELS: Final = 10
PSEUDO_LABELS: Final = 0.1
"""Added to each of the four cells of people × judge, for λ and the variance alone.

Where labels show no disagreement, as 30 do in 6% of draws where a judge errs once in eleven, the plain
variance is 0, and nominal 95% intervals hold 90%. In the variance they weigh as much as a cluster holds on
average. The size is chosen by simulation (`benchmarks/labels.py`): twice as many hold 98% and more.
"""
NOT_LABELLED: Final = Unscored("no item that the judge decided has a label")
ALL_LABELLED: Final = Unscored("every item has a label")
TOO_FEW_LABELS: Final = Unscored(f"too few labels: an interval needs {FEWEST_LABELS}")
TOO_FEW_CLUSTERS: Final = Unscored(
    f"labels from too few tasks: an interval needs {FEWEST_CLUSTERS} tasks (or runs of one task)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What people and a judge say of the same items; all arrays have one entry an item.

    Attributes:
        judge: its verdict, 0 to 1; NaN where it could not tell, which counts as its mean.
        people: the label, 0 or 1; NaN where nobody labelled.
        odds: the probability with which an item was drawn for labelling, above 0.
        cluster: which task (or run) it belongs to; only those of different ones are independent.
    """

    judge: Floats
    people: Floats
    odds: Floats
    cluster: np.ndarray


NOTHING: Final = Powered(
    **dict.fromkeys(
        ("value", "low", "high", "people", "people_low", "people_high", "judge", "worth", "tuning"),
        NOT_LABELLED,
    ),
    labels=0,
    items=0,
    clusters=0,
)


def powered_rate(labels: Labels, *, target: Target = "runs") -> Powered:
    """The rate of items that people would call met.

    Args:
        labels: of the items; each must be a random draw, or drawn with the odds given.
        target: ``runs`` asks about these items alone, so that labels on all of them leave no doubt; ``tasks``
            also counts how much tasks differ.
    """
    return _joined([labels], target, least=0.0)


def powered_difference(first: Labels, second: Labels, *, target: Target = "runs") -> Powered:
    """The first rate minus the second; clusters that both have are paired."""
    return _joined([first, second], target, least=-1.0)


def random_draw_p(labels: Labels) -> Score:
    """Two-sided p of "the labelled items are a random draw", by the judge's rate among them and among all.

    Clustered, and weighted by their odds. Unscored where labels are too few, or all verdicts alike.
    """
    labelled, known = ~np.isnan(labels.people), ~np.isnan(labels.judge)
    clusters = len(np.unique(labels.cluster[labelled]))
    if clusters < FEWEST_CLUSTERS or np.count_nonzero(labelled) < FEWEST_LABELS:
        return TOO_FEW_CLUSTERS
    weights = np.where(labelled & known, 1 / labels.odds, 0.0)
    judge = np.where(known, labels.judge, 0.0)
    mean = float(weights @ judge / weights.sum())
    moves = weights * np.sqrt(1 - labels.odds) * (judge - mean) / weights.sum()
    sums = np.bincount(np.unique(labels.cluster, return_inverse=True)[1], moves)
    error = sqrt(float(sums @ sums) * clusters / (clusters - 1))
    if not error:
        return Unscored("the judge says the same of every labelled item, or every item has a label")
    away = abs(mean - float(judge[known].mean())) / error
    return 2 * (1 - student_cdf(clusters - 1, away))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Influence:
    """An estimate, how far each item moves it (its influence), and what pseudo-labels add to its variance."""

    value: float
    moves: Floats
    added: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One group of items: with the judge's help, and by labels alone."""

    both: _Influence
    people: _Influence
    judge: float
    tuning: float
    cluster: np.ndarray
    labelled: np.ndarray

    @classmethod
    def of(cls, labels: Labels, target: Target) -> _Part | None:
        labelled, known = ~np.isnan(labels.people), ~np.isnan(labels.judge)
        if not labelled.any() or not known.any():
            return None
        judge = np.where(known, labels.judge, labels.judge[known].mean())
        sample = _Sample(
            people=np.where(labelled, labels.people, 0.0),
            judge=judge,
            weights=np.where(labelled, 1 / labels.odds, 0.0),
            unseen=1 - labels.odds if target == "runs" else np.ones(len(judge)),
        )
        counts = np.unique(labels.cluster[labelled], return_counts=True)[1]
        size = float(counts @ counts) / float(counts.sum())
        tuning = sample.slope()
        return cls(
            both=sample.influence(tuning, target, size),
            people=sample.influence(0.0, target, size),
            judge=float(judge.mean()),
            tuning=tuning,
            cluster=labels.cluster,
            labelled=labelled,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """Labels with their weights (0 if there is none), and the share of its variance that each leaves."""

    people: Floats
    judge: Floats
    weights: Floats
    unseen: Floats

    def slope(self) -> float:
        """λ: the weighted regression of labels on verdicts, pseudo-labels included, inside 0 to 1."""
        weights, people, judge = self.weights, self.people, self.judge
        extra = PSEUDO_LABELS * weights.sum() / np.count_nonzero(weights)
        total = weights.sum() + 4 * extra
        means = [(float(weights @ one) + 2 * extra) / total for one in (people, judge)]
        together = float(weights @ (people * judge)) + extra - total * means[0] * means[1]
        spread = float(weights @ judge**2) + 2 * extra - total * means[1] ** 2
        return min(1.0, max(0.0, together / spread)) if spread > 0 else 0.0

    def influence(self, slope: float, target: Target, size: float) -> _Influence:
        """The estimate with this λ; pseudo-labels come in clusters of `size`."""
        whole, n = float(self.weights.sum()), int(np.count_nonzero(self.weights))
        residual = self.people - slope * self.judge
        centre, mean = float(self.weights @ residual) / whole, float(self.judge.mean())
        moves = self.weights * np.sqrt(self.unseen) * (residual - centre) / whole
        if target == "tasks":
            moves = moves + slope * (self.judge - mean) / len(self.judge)
        corners = sum((y - slope * f - centre) ** 2 for y in (0, 1) for f in (0, 1))
        left = float(self.weights @ self.unseen) / whole
        return _Influence(
            value=centre + slope * mean, moves=moves, added=left * PSEUDO_LABELS * size * corners / n**2
        )


def _joined(groups: list[Labels], target: Target, *, least: float) -> Powered:
    """One group, or the first minus the second."""
    found = [part for part in (_Part.of(group, target) for group in groups) if part is not None]
    if len(found) < len(groups):
        return replace(NOTHING, items=sum(len(group.judge) for group in groups))
    signs = (1.0, -1.0)[: len(found)]
    labelled = [part.cluster[part.labelled] for part in found]
    seen = min(len(np.unique(clusters)) for clusters in labelled)
    fewest = min(map(len, labelled))
    names = np.unique(np.concatenate([part.cluster for part in found]), return_inverse=True)[1]
    units = int(names.max()) + 1 if target == "tasks" else len(np.unique(np.concatenate(labelled)))

    def estimate(influences: list[_Influence]) -> tuple[float, float]:
        """Value and variance."""
        sums = np.bincount(
            names, np.concatenate([sign * one.moves for sign, one in zip(signs, influences, strict=True)])
        )
        square = float(sums @ sums) + sum(one.added for one in influences)
        value = sum(sign * one.value for sign, one in zip(signs, influences, strict=True))
        return value, square * units / max(1, units - 1)

    def ends(value: float, variance: float) -> tuple[Score, Score]:
        if why is not None:
            return why, why
        reach = student_quantile(seen - 1) * sqrt(variance)
        return max(least, value - reach), min(1.0, value + reach)

    why = TOO_FEW_LABELS if fewest < FEWEST_LABELS else TOO_FEW_CLUSTERS if seen < FEWEST_CLUSTERS else None
    both, people = estimate([part.both for part in found]), estimate([part.people for part in found])
    low, high = ends(*both)
    people_low, people_high = ends(*people)
    return Powered(
        value=min(1.0, max(least, both[0])),
        low=low,
        high=high,
        people=people[0],
        people_low=people_low,
        people_high=people_high,
        judge=sum(sign * part.judge for sign, part in zip(signs, found, strict=True)),
        worth=why if why is not None else people[1] / both[1] if both[1] else ALL_LABELLED,
        tuning=found[0].tuning,
        labels=sum(map(len, labelled)),
        items=len(names),
        clusters=seen,
    )
