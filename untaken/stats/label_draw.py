"""Can labelled items be a random draw? A permutation test on what is known of every item (§5).

What a draw keeps is kept. What nobody recorded cannot be seen: labels just where the judge is wrong look
random.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from msgspec import Struct

from untaken.errors import Unscored
from untaken.stats.means import student_cdfs
from untaken.stats.rounding import Floats

SHUFFLES: Final = 199
LEVEL: Final = 0.05
FEWEST_UNITS: Final = 5
ALIKE: Final = 10
"""Runs at least whose labels change places: those of neighbouring sizes are put together."""


class DrawTest(Struct, frozen=True, kw_only=True):
    """How unusual the labelled items are among the draws that could have been.

    Attributes:
        p: share of draws that are as unusual in some feature, the real one included.
        unusual: the features that are unusual by themselves (p ≤ 0.05), where `p` is.
    """

    p: float
    unusual: tuple[str, ...]


def draw_test(
    labelled: np.ndarray,
    run: np.ndarray,
    task: np.ndarray,
    features: Mapping[str, Floats],
    *,
    seed: int = 0,
) -> DrawTest | Unscored:
    """Compare the labelled items with all items in each feature.

    The sum of each centred feature over the labelled items is standardised by `SHUFFLES` other draws; p is
    that of the largest one in size.

    Args:
        labelled: which items have a label.
        run: of each item, any codes.
        task: of each item, any codes.
        features: (items,) or (items, columns) each; NaN counts as the mean. What does not vary says nothing.
        seed: of the draws.
    """
    columns, owner = _centred(features)
    shuffled = _Shuffled.of(labelled, run, task)
    units = len(np.unique(shuffled.unit[labelled]))
    if units < FEWEST_UNITS:
        what = "tasks" if shuffled.whole == "task" else "runs"
        return Unscored(f"labels in fewer than {FEWEST_UNITS} {what}")
    if not owner:
        return Unscored("nothing that is recorded tells items apart")
    random = np.random.default_rng(seed)
    draws = np.array([labelled, *(shuffled.draw(random) for _ in range(SHUFFLES))], dtype=np.float64)
    sums = draws @ columns
    spread = sums.std(axis=0)
    known = spread > 1e-9
    if not known.any():
        return Unscored("every draw of labels would look alike")
    away = np.abs(sums[:, known] - sums[:, known].mean(axis=0)) / spread[known]
    names = [name for name, kept in zip(owner, known, strict=True) if kept]
    by_name = {
        name: away[:, [at for at, one in enumerate(names) if one == name]].max(axis=1)
        for name in dict.fromkeys(names)
    }
    p = _share_as_large(np.max(list(by_name.values()), axis=0))
    unusual = [name for name, sizes in by_name.items() if _share_as_large(sizes) <= LEVEL]
    return DrawTest(p=p, unusual=tuple(unusual) if p <= LEVEL else ())


def weighted_draw_test(
    labelled: np.ndarray, odds: Floats, task: np.ndarray, features: Mapping[str, Floats]
) -> DrawTest | Unscored:
    """The same for labels drawn with unequal odds, which are known of the labelled items alone.

    By the Hájek mean of each column over the labelled items, its variance over tasks and Student's t, times
    the number of columns (Bonferroni).

    Args:
        labelled: which items have a label.
        odds: with which each was drawn; only those of labelled items are used.
        task: of each item, any codes.
        features: as for `draw_test`.
    """
    columns, owner = _centred(features)
    cluster = np.unique(task[labelled], return_inverse=True)[1]
    units = int(cluster.max()) + 1
    if units < FEWEST_UNITS:
        return Unscored(f"labels in fewer than {FEWEST_UNITS} tasks")
    if not owner:
        return Unscored("nothing that is recorded tells items apart")
    weights, columns = 1 / odds[labelled], columns[labelled]
    means = weights @ columns / weights.sum()
    # An item that was sure to be drawn adds nothing to the variance of the draw.
    moves = (weights * np.sqrt(1 - odds[labelled]))[:, None] * (columns - means) / weights.sum()
    sums = np.array([np.bincount(cluster, column) for column in moves.T])
    errors = np.sqrt((sums**2).sum(axis=1) * units / (units - 1))
    if not (known := errors > 1e-12).any():
        return Unscored("the labelled items are all alike")
    single = np.ones(len(owner))
    single[known] = 2 * student_cdfs(np.array(units - 1.0), -np.abs(means[known]) / errors[known])
    p = min(1.0, float(single.min()) * int(known.sum()))
    unusual = dict.fromkeys(name for name, one in zip(owner, single, strict=True) if one <= LEVEL)
    return DrawTest(p=p, unusual=tuple(unusual) if p <= LEVEL else ())


def _share_as_large(sizes: Floats) -> float:
    """Of all draws, those as large as the first."""
    return float(np.mean(sizes >= sizes[0] - 1e-9))


def _centred(features: Mapping[str, Floats]) -> tuple[Floats, list[str]]:
    """(items, columns) with mean 0, and the feature that each column is of; constant ones are left out."""
    columns, owner = [], []
    for name, values in features.items():
        for column in np.atleast_2d(values.T):
            known = ~np.isnan(column)
            if known.any() and np.ptp(column[known]) > 0:
                columns.append(np.where(known, column - column[known].mean(), 0.0))
                owner.append(name)
    return (np.array(columns).T if columns else np.empty((0, 0))), owner


class _Shuffled(Struct, frozen=True, kw_only=True):
    """Draws that keep what the real one keeps.

    Attributes:
        unit: of each item: its task or run.
        whole: what is labelled as a whole, if anything.
        given: labels of each unit; `size`: items of each.
        strata: units whose labels change places; of whole ones all.
    """

    unit: np.ndarray
    whole: str
    given: np.ndarray
    size: np.ndarray
    strata: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, labelled: np.ndarray, run: np.ndarray, task: np.ndarray) -> _Shuffled:
        # Where whole tasks, or whole runs, are labelled or not, these are swapped. Else labels change places
        # between runs of about one size, and inside each run between its items.
        for whole, codes in (("task", task), ("run", run)):
            unit = np.unique(codes, return_inverse=True)[1].ravel()
            given, size = np.bincount(unit, labelled), np.bincount(unit)
            if np.all((given == 0) | (given == size)):
                strata: tuple[np.ndarray, ...] = (np.arange(len(size)),)
                return cls(unit=unit, whole=whole, given=given, size=size, strata=strata)
        return cls(unit=unit, whole="", given=given, size=size, strata=_of_a_size(size))

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """Which items have a label in another draw."""
        given = self.given.copy()
        for some in self.strata:
            given[some] = random.permutation(self.given[some])
        if self.whole:
            swapped: np.ndarray = given[self.unit] > 0
            return swapped
        # Items in a random order inside their unit; as many as it was given, from the first on, are labelled.
        order = np.lexsort((random.random(len(self.unit)), self.unit))
        begin = np.concatenate([[0], np.cumsum(self.size)[:-1]])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order)) - begin[self.unit[order]]
        moved: np.ndarray = place < given[self.unit]
        return moved


def _of_a_size(size: np.ndarray) -> tuple[np.ndarray, ...]:
    """Units of one size together, with the next larger ones until they are enough."""
    order = np.argsort(size, kind="stable")
    begins = [0]
    for end in np.cumsum(np.unique(size, return_counts=True)[1]).tolist():
        if end - begins[-1] >= ALIKE and len(size) - end >= ALIKE:
            begins.append(end)
    return tuple(np.split(order, begins[1:]))
