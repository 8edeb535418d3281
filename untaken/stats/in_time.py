"""Whether a choice went with time, and a difference between runs made at about the same time.

Runs of one stratum differ in when they were made. Where a choice goes with time, whatever else changed then
(an upgrade, a season, an agent that learns) looks like an effect of it. `TimeAdjustment.goes_with_time` looks
at the choice alone, never at an outcome; `TimeAdjustment.p_of` compares runs near each other only.

Columns have a row for each run, in the order of time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import log, sqrt
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsmr
from scipy.special import stdtr

LAGS: Final = 4
"""How far apart runs are neighbours."""
SHUFFLES: Final = 79  # with the real order 80, of which 8 are just the upper tenth
SERIAL_SHARE: Final = 0.10
"""A sum over neighbours in this upper share of its shuffles is serial."""
# Low: a trend that is missed may support what is false, one seen in vain costs power alone.
Z_LOG: Final = 1.28
Z_IDENTITY: Final = 1.68
CELLS: Final = 512  # the time it takes grows with their square
"""A longer series is segmented in so many cells of consecutive runs."""
BLOCKS: Final = (8, 4, 3)
"""Lengths of blocks of consecutive runs; the shorter ones where a longer one leaves the choice serial."""
CHOICE_LEFT: Final = 1.0
"""Least sum of squares of what is left of a choice, for a comparison at one time."""
DF_LEFT: Final = 5
DENSE: Final = 600
"""Up to so many runs the regression is solved by singular values, and its rank is exact."""
_RANK: Final = 1e-8
_NOTHING: Final = 1e-9


class ChoiceSeries(NamedTuple):
    """Runs in the order of time.

    Attributes:
        choice: 1 where the run took the first option, else 0.
        stratum: its number, from 0; the strata of one identity are apart from those of others.
        identity: number of who ran, from 0.
        rank: place in time, from anywhere; runs of one moment share the middle.
    """

    choice: np.ndarray
    stratum: np.ndarray
    identity: np.ndarray
    rank: np.ndarray

    @property
    def residual(self) -> np.ndarray:
        """The choice minus its stratum's mean."""
        return centred(self.choice, self.stratum)


Segments = tuple[np.ndarray, np.ndarray]
"""Where the level of a choice changed: the segment of each run over the log, and inside its identity."""


def centred(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Values minus the mean of their group."""
    n = np.bincount(group)
    means = np.bincount(group, values) / np.maximum(n, 1)
    found: np.ndarray = values - means[group]
    return found


def partition(values: np.ndarray) -> np.ndarray:
    """The number of each value's segment: optimal for squared error with a penalty for each cut.

    The penalty is 2·σ²·ln n, σ² the smaller of the variance and half the mean squared successive difference.
    A series longer than `CELLS` is cut between cells of consecutive values only.
    """
    n = values.size
    if n < 4:
        return np.zeros(n, dtype=int)
    # Steps of the level hardly change successive differences, but they inflate the variance; where neighbours
    # alternate it is the other way round.
    noise = min(float(values.var()), float(np.mean(np.diff(values) ** 2)) / 2)
    penalty = 2 * noise * log(n)
    if penalty <= _NOTHING:  # it never varies, or only from one long stretch to the next
        penalty = 2 * float(values.var()) * log(n) / n
        if penalty <= _NOTHING:
            return np.zeros(n, dtype=int)
    width = -(-n // CELLS)  # rounded up
    ends = np.append(np.arange(width, n, width), n)
    sums = np.append(0.0, np.cumsum(values)[ends - 1])
    squares = np.append(0.0, np.cumsum(values**2)[ends - 1])
    sizes = np.append(0, ends).astype(float)
    with np.errstate(all="ignore"):  # a segment ends after it begins; of the others nothing is used
        errors = np.subtract.outer(squares, squares) - (
            np.subtract.outer(sums, sums) ** 2 / np.subtract.outer(sizes, sizes)
        )
    best, cut = np.empty(ends.size + 1), np.zeros(ends.size + 1, dtype=int)
    best[0] = -penalty  # the first segment needs no cut
    for end in range(1, ends.size + 1):
        cost = best[:end] + errors[end, :end] + penalty
        cut[end] = place = cost.argmin()
        best[end] = cost[place]
    begins = np.zeros(n, dtype=int)
    end = ends.size
    while end:
        end = int(cut[end])
        begins[int(sizes[end])] = int(end > 0)
    return np.cumsum(begins)


def trend(residual: np.ndarray, rank: np.ndarray, stratum: np.ndarray) -> float:
    """|z| of choice × rank under shuffling inside strata."""
    spread = centred(rank, stratum)
    n = np.bincount(stratum)
    variance = np.bincount(stratum, residual**2) * np.bincount(stratum, spread**2) / np.maximum(n - 1, 1)
    total = float(variance.sum())
    return abs(float(residual @ spread)) / sqrt(total) if total > _NOTHING else 0.0


def serial(residual: np.ndarray, stratum: np.ndarray) -> bool:
    """Whether neighbours chose alike more than in nine of ten shuffles inside strata."""
    if residual.size <= LAGS:
        return False
    found = _neighbours(residual[None, :])[0]
    order = np.argsort(stratum, kind="stable")
    random = np.random.default_rng(0).random((SHUFFLES, residual.size))
    shuffled = np.empty_like(random)
    # Sorted by stratum, then by a random number: the places of each stratum, in a random order.
    shuffled[:, order] = residual[np.argsort(stratum[None, :] + random, axis=1)]
    as_large = np.count_nonzero(_neighbours(shuffled) >= found - _NOTHING)
    return bool((1 + as_large) / (1 + SHUFFLES) <= SERIAL_SHARE)


def _neighbours(rows: np.ndarray) -> np.ndarray:
    """The sum over lags of products of neighbours, of each row."""
    total = np.zeros(rows.shape[0])
    for lag in range(1, LAGS + 1):
        total += np.einsum("ij,ij->i", rows[:, lag:], rows[:, :-lag])
    return total


class TimeAdjustment:
    """A choice over time, looked at once for any number of outcomes."""

    def __init__(self, series: ChoiceSeries) -> None:
        self._series = series

    @cached_property
    def goes_with_time(self) -> bool:
        """Whether the choice does: in segments, with its rank, or with its neighbours' choices.

        No outcome is looked at.
        """
        series, residual = self._series, self._series.residual
        inside = (series.identity == identity for identity in np.unique(series.identity))
        return (
            any(segments.any() for segments in self._segments)
            or trend(residual, series.rank, series.stratum) > Z_LOG
            or any(trend(residual[own], series.rank[own], series.stratum[own]) > Z_IDENTITY for own in inside)
            or serial(residual, series.stratum)
        )

    def p_of(self, success: np.ndarray) -> float | None:
        """Two-sided p of a regression of success on choice, stratum, segments and blocks of consecutive runs.

        ``None`` where too little of the choice is left to compare at all.
        """
        left = self._left
        if left is None:
            return None
        outcome = left.without_means(success.astype(float))
        # Robust (HC), from the residuals without the choice.
        spread = float(np.sum((left.choice * outcome) ** 2)) * left.scale
        if spread <= _NOTHING:
            return 1.0
        t = float(left.choice @ outcome) / sqrt(spread)
        return float(2 * stdtr(left.df, -abs(t)))

    @cached_property
    def _segments(self) -> Segments:
        series, residual = self._series, self._series.residual
        inside = np.zeros(series.choice.size, dtype=int)
        for identity in np.unique(series.identity):
            own = np.flatnonzero(series.identity == identity)
            inside[own] = partition(residual[own])
        return partition(residual), inside

    @cached_property
    def _left(self) -> _LeftOver | None:
        for length in BLOCKS:
            left = _left_over(self._series, self._segments, length)
            if float(left.choice @ left.choice) < CHOICE_LEFT or left.df < DF_LEFT:
                return None
            if not serial(left.choice, self._series.stratum):
                break
        return left


class _LeftOver(NamedTuple):
    """A choice without what stratum, segments and blocks say of it.

    Attributes:
        without_means: takes the same away from any other column.
        scale: of the squared residuals: runs over runs minus rank.
    """

    choice: np.ndarray
    without_means: Callable[[np.ndarray], np.ndarray]
    df: int
    scale: float


def _left_over(series: ChoiceSeries, segments: Segments, length: int) -> _LeftOver:
    n, (log_segments, own_segments) = series.choice.size, segments
    # A number of its own for each segment of each identity.
    inside = series.identity * (int(own_segments.max(initial=0)) + 1) + own_segments
    stratum = _numbered(series.stratum)
    moments = [_numbered(g) for g in (log_segments, inside, np.arange(n) // length)]
    if n <= DENSE:
        columns = np.concatenate([_indicators(g) for g in moments], axis=1)
        u, s, _ = np.linalg.svd(_within(columns, stratum), full_matrices=False)
        basis = u[:, s > _RANK]
        rank = int(stratum.max()) + 1 + basis.shape[1]

        def without_means(column: np.ndarray) -> np.ndarray:
            centred_there = centred(column, stratum)
            left: np.ndarray = centred_there - basis @ (basis.T @ centred_there)
            return left
    else:
        groups = [stratum, *moments]
        design = sparse.hstack([sparse.csr_matrix((np.ones(n), (np.arange(n), g))) for g in groups]).tocsr()
        rank = sum(int(g.max()) for g in groups) + 1  # at most: the standard error is too large, if anything

        def without_means(column: np.ndarray) -> np.ndarray:
            left: np.ndarray = column - design @ lsmr(design, column, atol=1e-9, btol=1e-9)[0]
            return left

    return _LeftOver(
        without_means(series.choice.astype(float)), without_means, n - rank - 2, n / max(1, n - rank)
    )


def _within(columns: np.ndarray, stratum: np.ndarray) -> np.ndarray:
    """Columns minus their means in each stratum."""
    sums = np.zeros((int(stratum.max()) + 1, columns.shape[1]))
    np.add.at(sums, stratum, columns)
    found: np.ndarray = columns - (sums / np.bincount(stratum)[:, None])[stratum]
    return found


def _numbered(group: np.ndarray) -> np.ndarray:
    return np.unique(group, return_inverse=True)[1].ravel()


def _indicators(group: np.ndarray) -> np.ndarray:
    """A column for each group."""
    found = np.zeros((group.size, int(group.max(initial=0)) + 1))
    found[np.arange(group.size), group] = 1
    return found
