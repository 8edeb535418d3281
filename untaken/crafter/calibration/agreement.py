"""How well estimates agree with the truth, with intervals that resample held-out maps (§2c)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from untaken.counterfactual import THRESHOLD
from untaken.crafter.calibration.model import Bin, CalibrationPair, Estimator, Figure, Measure
from untaken.errors import number
from untaken.stats.bootstrap import bootstrap_interval, task_weights
from untaken.stats.correlation import spearman
from untaken.stats.rounding import Floats

RESAMPLES: Final = 500
SEED: Final = 0
BINS: Final = 8
"""Most bins of a curve, with about as many pairs in each."""
LEAST: Final = 10
"""Fewest pairs in a bin."""
DIGITS: Final = 4
ESTIMATORS: Final[tuple[Estimator, ...]] = ("delta", "advantage", "pooled", "ceiling")
DRAWN: Final[tuple[Estimator, ...]] = ("delta", "advantage", "pooled")
"""Those that have a curve."""


def values_of(pair: CalibrationPair, estimator: Estimator) -> tuple[float, float] | None:
    """An estimate, and what it is an estimate of; ``None`` if there is none."""
    if estimator == "ceiling":
        return pair.half, pair.other_half
    if estimator == "delta":
        return None if pair.delta is None else (pair.delta, pair.true_delta)
    value = pair.advantage if estimator == "advantage" else pair.pooled
    return None if value is None else (value, pair.true_advantage)


def ends_of(pair: CalibrationPair, estimator: Estimator) -> tuple[float, float] | None:
    """The 95% interval of an estimate of the advantage; ``None`` if there is none."""
    ends = {"advantage": (pair.low, pair.high), "pooled": (pair.pooled_low, pair.pooled_high)}
    low, high = ends.get(estimator, (None, None))
    return None if low is None or high is None else (low, high)


def measures(pairs: Sequence[CalibrationPair]) -> Iterator[Measure]:
    """Every estimator, over all pairs and over each part."""
    levels = max((pair.levels for pair in pairs), default=0)
    parts: list[tuple[str, Callable[[CalibrationPair], bool]]] = [
        ("all", lambda _: True),
        ("supported", lambda pair: pair.support == "supported"),
        ("weak", lambda pair: pair.support == "weak"),
        *((f"level {n}", _at_level(n)) for n in range(1, levels + 1)),
    ]
    for estimator in ESTIMATORS:
        for name, belongs in (*parts, ("interval", _left_out_by(estimator))):
            part = Part.of([pair for pair in pairs if belongs(pair)], estimator)
            if part is not None:
                yield part.measure(estimator, name)


def curve(pairs: Sequence[CalibrationPair]) -> Iterator[Bin]:
    """Bins of each estimate, where it is supported and where it is weak."""
    for estimator in DRAWN:
        for support in ("supported", "weak"):
            part = Part.of([pair for pair in pairs if pair.support == support], estimator)
            if part is not None:
                yield from part.bins(estimator, support)


class Part:
    """Some pairs with an estimate, as columns."""

    def __init__(self, maps: Sequence[int], estimates: Floats, truths: Floats, ends: Floats) -> None:
        self._names, self._map = np.unique(np.asarray(maps), return_inverse=True)
        self._e, self._t, self._ends = estimates, truths, ends

    @classmethod
    def of(cls, pairs: Sequence[CalibrationPair], estimator: Estimator) -> Part | None:
        """The pairs that have the estimate; ``None`` where none has."""
        known = [
            (pair.map, *values, *(ends_of(pair, estimator) or (np.nan, np.nan)))
            for pair in pairs
            if (values := values_of(pair, estimator)) is not None
        ]
        if not known:
            return None
        maps, *columns = (np.asarray(column) for column in zip(*known, strict=True))
        return cls(maps.tolist(), columns[0], columns[1], np.stack(columns[2:]))

    def measure(self, estimator: Estimator, part: str) -> Measure:
        """All measures of agreement."""
        e, t = self._e, self._t
        beyond = np.abs(e) > THRESHOLD
        return Measure(
            estimator=estimator,
            part=part,
            pairs=e.size,
            maps=self._names.size,
            three_way=self._mean(_verdicts(e) == _verdicts(t)),
            sign=self._mean(np.sign(e) == np.sign(t), beyond),
            spearman=self._spearman(),
            rmse=self._mean((e - t) ** 2, root=True),
            coverage=self._mean((self._ends[0] <= t) & (t <= self._ends[1]), np.isfinite(self._ends[0])),
        )

    def bins(self, estimator: Estimator, part: str) -> Iterator[Bin]:
        """Bins of equally many pairs, ordered by estimate."""
        count = max(1, min(BINS, self._e.size // LEAST))
        for some in np.array_split(np.argsort(self._e, kind="stable"), count):
            inside = np.zeros(self._e.size, dtype=bool)
            inside[some] = True
            truth = self._mean(self._t, inside)
            yield Bin(
                estimator=estimator,
                part=part,
                pairs=some.size,
                maps=np.unique(self._map[some]).size,
                estimate=round(float(self._e[some].mean()), DIGITS),
                truth=round(float(self._t[some].mean()), DIGITS),
                low=truth.low,
                high=truth.high,
            )

    def _mean(
        self,
        values: NDArray[np.float64] | NDArray[np.bool_],
        of: NDArray[np.bool_] | None = None,
        *,
        root: bool = False,
    ) -> Figure:
        """A mean over pairs (its root, on request), resampled by map."""
        kept = np.ones(self._e.size, dtype=bool) if of is None else of
        clusters, at = np.unique(self._map[kept], return_inverse=True)
        n = int(kept.sum())
        if not n:
            return Figure(n=0, value=None, low=None, high=None)
        sums = np.bincount(at, weights=values[kept].astype(np.float64))
        sizes = np.bincount(at).astype(np.float64)
        resampled = [weights @ np.stack([sums, sizes], axis=1) for weights in _weights(clusters.size)]
        means = [block[:, 0] / block[:, 1] for block in resampled]
        return _figure(n, sums.sum() / n, means, clusters.size, root=root)

    def _spearman(self) -> Figure:
        found = number(spearman(self._e, self._t))
        if found is None:
            return Figure(n=self._e.size, value=None, low=None, high=None)
        rows = [np.flatnonzero(self._map == at) for at in range(self._names.size)]
        drawn = []
        for block in _weights(self._names.size):
            for weights in block.astype(int):
                some = np.concatenate([rows[at] for at in np.repeat(np.arange(weights.size), weights)])
                drawn.append(number(spearman(self._e[some], self._t[some])))
        known = np.asarray([value for value in drawn if value is not None])
        return _figure(self._e.size, found, [known], self._names.size)


def _weights(maps: int) -> Iterator[Floats]:
    return task_weights(maps, RESAMPLES, SEED)


def _figure(n: int, value: float, resampled: Sequence[Floats], maps: int, *, root: bool = False) -> Figure:
    drawn = np.concatenate(resampled)[:, None]
    ends = bootstrap_interval(drawn, maps)[:, 0] if maps > 1 else None
    low, high = (None, None) if ends is None else (float(ends[0]), float(ends[1]))
    return Figure(
        n=n, value=_figure_value(value, root), low=_figure_value(low, root), high=_figure_value(high, root)
    )


def _figure_value(value: float | None, root: bool) -> float | None:
    return None if value is None else round(float(value**0.5 if root else value), DIGITS)


def _verdicts(values: Floats) -> Floats:
    """−1, 0 or 1: worse, equivalent, better by more than the threshold."""
    verdicts: Floats = np.sign(values) * (np.abs(values) > THRESHOLD)
    return verdicts


def _left_out_by(estimator: Estimator) -> Callable[[CalibrationPair], bool]:
    """Whether the estimate's own interval leaves 0 out."""

    def belongs(pair: CalibrationPair) -> bool:
        ends = ends_of(pair, estimator)
        return ends is not None and (ends[0] > 0 or ends[1] < 0)

    return belongs


def _at_level(level: int) -> Callable[[CalibrationPair], bool]:
    return lambda pair: pair.level == level
