"""Rates from a few people's labels and a judge's verdicts on everything (§5, "A few labels and a judge").

Post-stratified: θ = Σ share · p over cells of items with one agent and one verdict of the judge, p being the
rate of labels in a cell. The judge's verdicts say how large each cell is, the labels how right it is there.

The ends are Newcombe's (1998, MOVER): θ ∓ √Σ(share · (p − end))², with Wilson's end of each cell, Student's t
for few tasks, n divided by the design effect of tasks, and the finite-population factor.

Labels may be drawn with unequal, known odds: each then weighs 1 / odds (Hájek 1971) inside its cell.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from untaken.errors import Score, Unscored
from untaken.stats.corrected import Basis, Corrected, Target
from untaken.stats.means import student_quantile
from untaken.stats.rounding import Floats

FEWEST_CLUSTERS: Final = 5
FEWEST_LABELS: Final = 10
FEWEST_WITH_JUDGE: Final = 30
"""Below, too few labels of each verdict: intervals of both hold less than labels alone."""
NOT_LABELLED: Final = Unscored("no item that the judge decided has a label")
ALL_LABELLED: Final = Unscored("every item has a label")
NO_JUDGE_YET: Final = Unscored(f"the judge is used from {FEWEST_WITH_JUDGE} labels on")
TOO_FEW_LABELS: Final = Unscored(f"too few labels: a rate needs {FEWEST_LABELS}")
TOO_FEW_CLUSTERS: Final = Unscored(
    f"labels from too few tasks: a rate needs {FEWEST_CLUSTERS} tasks (or runs of one task)"
)


class Labels(Struct, frozen=True, kw_only=True):
    """What people and a judge say of the same items; all arrays have one entry an item.

    Attributes:
        judge: its verdict, 0 or 1; NaN where it could not tell, which is a cell of its own.
        people: the label, 0 or 1; NaN where nobody labelled.
        odds: the probability with which an item was drawn for labelling, above 0.
        cluster: which task (or run) it belongs to; only those of different ones are independent.
        agent: whose run it is; agents may have unequal shares of the labels.
    """

    judge: Floats
    people: Floats
    odds: Floats
    cluster: np.ndarray
    agent: np.ndarray


NOTHING: Final = Corrected(
    **dict.fromkeys(
        ("value", "low", "high", "people", "people_low", "people_high", "judge", "worth"), NOT_LABELLED
    ),
    basis="none",
    labels=0,
    items=0,
    clusters=0,
)


def corrected_rate(labels: Labels, *, target: Target = "runs") -> Corrected:
    """The rate of items that people would call met.

    Args:
        labels: of the items; each must be a random draw, or drawn with the odds given.
        target: ``runs`` asks about these items alone, so that labels on all of them leave no doubt; ``tasks``
            also counts how much tasks differ.
    """
    items, labelled = len(labels.judge), ~np.isnan(labels.people)
    n, clusters = int(np.count_nonzero(labelled)), len(np.unique(labels.cluster[labelled]))
    known = labels.judge[~np.isnan(labels.judge)]
    if not n or not known.size:
        return replace(NOTHING, items=items)
    verdict = np.where(np.isnan(labels.judge), 2.0, labels.judge)
    alone = _over_cells(labels, labels.agent, np.zeros(items), target)
    few = TOO_FEW_LABELS if n < FEWEST_LABELS else TOO_FEW_CLUSTERS if clusters < FEWEST_CLUSTERS else None
    rate, low, high = alone if few is None else (few, few, few)
    found = Corrected(
        value=rate,
        low=low,
        high=high,
        people=alone[0],
        people_low=low,
        people_high=high,
        judge=float(known.mean()),
        worth=NO_JUDGE_YET if few is None else few,
        basis="labels" if few is None else "none",
        labels=n,
        items=items,
        clusters=clusters,
    )
    if few is not None or n < FEWEST_WITH_JUDGE:
        return found
    cells = np.unique(np.stack([labels.agent, verdict]), axis=1, return_inverse=True)[1].ravel()
    value, low, high = _over_cells(labels, cells, verdict, target)
    worth = _worth(alone[2] - alone[1], high - low)
    return replace(found, value=value, low=low, high=high, worth=worth, basis="labels_and_judge")


def corrected_difference(first: Corrected, second: Corrected) -> Corrected:
    """The first rate minus the second, by MOVER (Newcombe 1998), as if they were independent."""
    value, low, high = _minus(*((one.value, one.low, one.high) for one in (first, second)))
    people = _minus(*((one.people, one.people_low, one.people_high) for one in (first, second)))
    bases: set[Basis] = {first.basis, second.basis}
    basis: Basis = "none" if "none" in bases else "labels" if "labels" in bases else "labels_and_judge"
    worth: Score = next((one.worth for one in (first, second) if isinstance(one.worth, Unscored)), 0.0)
    widths = [
        end - begin if not isinstance(end, Unscored) and not isinstance(begin, Unscored) else 0.0
        for begin, end in ((people[1], people[2]), (low, high))
    ]
    return Corrected(
        value=value,
        low=low,
        high=high,
        people=people[0],
        people_low=people[1],
        people_high=people[2],
        judge=_minus((first.judge,) * 3, (second.judge,) * 3)[0],
        worth=worth if isinstance(worth, Unscored) else _worth(*widths),
        basis=basis,
        labels=first.labels + second.labels,
        items=first.items + second.items,
        clusters=min(first.clusters, second.clusters),
    )


Interval = tuple[Score, Score, Score]


def _minus(first: Interval, second: Interval) -> Interval:
    """Value and ends of a difference; what is unscored in either is unscored."""
    for score in (*first, *second):
        if isinstance(score, Unscored):
            known = not isinstance(first[0], Unscored) and not isinstance(second[0], Unscored)
            return (first[0] - second[0] if known else score), score, score  # type: ignore[operator]
    (a, a_low, a_high), (b, b_low, b_high) = first, second
    value = a - b  # type: ignore[operator]
    low = value - sqrt((a - a_low) ** 2 + (b_high - b) ** 2)  # type: ignore[operator]
    high = value + sqrt((a_high - a) ** 2 + (b - b_low) ** 2)  # type: ignore[operator]
    return value, max(-1.0, low), min(1.0, high)


def _worth(people_width: float, width: float) -> Score:
    return (people_width / width) ** 2 if width > 0 else ALL_LABELLED


def _over_cells(
    labels: Labels, cell: np.ndarray, wider: Floats, target: Target
) -> tuple[float, float, float]:
    """θ and its ends over these cells; one without a label has the rate of its wider cell, and any end."""
    cell = np.unique(cell, return_inverse=True)[1].ravel()
    labelled, items = ~np.isnan(labels.people), len(cell)
    weights = np.where(labelled, 1 / labels.odds, 0.0)
    people = np.nan_to_num(labels.people)
    size, n = np.bincount(cell), np.bincount(cell, labelled)
    whole = np.bincount(cell, weights)
    rate = np.bincount(cell, weights * people) / np.where(n > 0, whole, 1.0)
    rate = np.where(n > 0, rate, _wider_rates(cell, wider, weights, people))
    names = np.unique(labels.cluster[labelled], return_inverse=True)[1]
    effect = _design_effect((weights * (people - rate[cell]))[labelled], names)
    t = student_quantile(max(1, names.max()))  # named from 0: the last is their number less one
    kish = whole**2 / np.where(n > 0, np.bincount(cell, weights**2), 1.0)
    left = 1 - n / size if target == "runs" else np.ones(len(size))
    low, high = _wilson(rate, kish, effect * left, t)
    # Cells without labels can have any rate: errors of a judge that no label has shown leave a width, and an
    # agent that nobody labelled makes the rate of all uncertain, not wrong.
    low, high = np.where(n > 0, low, 0.0), np.where(n > 0, high, 1.0)
    share = size / items
    value = float(share @ rate)
    between = _between_tasks(rate[cell], value, labels.cluster) if target == "tasks" else 0.0
    down, up = (sqrt(float((share**2) @ (rate - end) ** 2) + between) for end in (low, high))
    return value, max(0.0, value - down), min(1.0, value + up)


def _wider_rates(cell: np.ndarray, wider: Floats, weights: Floats, people: Floats) -> Floats:
    """Of each cell: the labels' rate over the wider cell that holds it; a half where that has none."""
    of = np.unique(wider, return_inverse=True)[1].ravel()
    whole = np.bincount(of, weights)
    rates = np.where(whole > 0, np.bincount(of, weights * people) / np.where(whole > 0, whole, 1.0), 0.5)
    found = np.zeros(int(cell.max()) + 1)
    found[cell] = rates[of]
    return found


def _design_effect(moves: Floats, cluster: np.ndarray) -> float:
    """Clustered over independent variance of what labels differ from their cell by, at least 1."""
    clusters, square = int(cluster.max()) + 1, float(moves @ moves)
    if clusters < 2 or not square:
        return 1.0
    sums = np.bincount(cluster, moves)
    return max(1.0, float(sums @ sums) * clusters / (clusters - 1) / square)


def _wilson(rate: Floats, n: Floats, effect: Floats, t: float) -> tuple[Floats, Floats]:
    """Wilson's ends with n / effect labels; where the effect is 0, everything is known."""
    z2 = t * t * effect / np.where(n > 0, n, 1.0)
    centre = (rate + z2 / 2) / (1 + z2)
    half = np.sqrt(z2 * rate * (1 - rate) + z2**2 / 4) / (1 + z2)
    return np.minimum(np.maximum(0.0, centre - half), rate), np.maximum(np.minimum(1.0, centre + half), rate)


def _between_tasks(predicted: Floats, mean: float, cluster: np.ndarray) -> float:
    """Squared reach of a mean over tasks whose predicted shares differ: t² · variance."""
    of = np.unique(cluster, return_inverse=True)[1]
    sums = np.bincount(of, predicted - mean)
    tasks = len(sums)
    if tasks < 2:
        return 1.0
    return student_quantile(tasks - 1) ** 2 * float(sums @ sums) * tasks / (tasks - 1) / len(predicted) ** 2
