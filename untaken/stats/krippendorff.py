"""Krippendorff's α: any number of raters, answers may be missing (§6, §8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import fsum
from typing import Final

from untaken.errors import Score, Unscored
from untaken.stats.rates import Z_95

RESAMPLES: Final = 2_000
_CHUNK: Final = 200
Unit = Sequence[Hashable]
"""What was answered on one item, missing answers left out."""


def nominal_alpha(units: Sequence[Unit]) -> Score:
    """α = 1 − Dₒ/Dₑ: how far raters agree beyond chance; 1 is full agreement, 0 what chance gives.

    Over the items with two answers or more: Dₒ is the share of pairs of answers to one item that differ, the
    pairs of an item with m answers weighing 1/(m − 1); Dₑ the share of differing pairs among all n answers
    (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011). Unscored where all answers are the same.
    """
    pairable = [Counter(unit) for unit in units if len(unit) > 1]
    total = Counter[Hashable]()
    for unit in pairable:
        total.update(unit)
    n = total.total()
    if len(total) < 2:
        return Unscored(
            "all answers are the same, so chance alone explains it" if n else "no item has two answers"
        )
    expected = (n * n - sum(c * c for c in total.values())) / (n - 1)
    return 1.0 - fsum(map(_differing, pairable)) / expected


def ordinal_alpha(units: Sequence[Sequence[int]]) -> Score:
    """Krippendorff's α for ordinal data, missing values allowed.

    Args:
        units: for each subject the levels it was given, in any order; one with fewer than two says nothing.

    α = 1 − Dₒ/Dₑ with δ²(c, k) = (Σ g=c…k of n_g − (n_c + n_k)/2)², n_g the pairable values at level g
    (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011). Unscored where all values are the same.
    """
    pairable = [Counter(unit) for unit in units if len(unit) > 1]
    totals = Counter[int]()
    for unit in pairable:
        totals.update(unit)
    n, levels = totals.total(), sorted(totals)
    if len(levels) < 2:
        why = "all values are the same" if n else "no subject has two values"
        return Unscored(why)
    place, below = {}, 0.0
    for level in levels:  # the middle of the level's ranks: δ is the distance of two middles
        place[level] = below + totals[level] / 2
        below += totals[level]
    observed = fsum(
        unit[c] * unit[k] * (place[c] - place[k]) ** 2 / (unit.total() - 1)
        for unit in pairable
        for c in unit
        for k in unit
    )
    expected = fsum(totals[c] * totals[k] * (place[c] - place[k]) ** 2 for c in levels for k in levels)
    return 1.0 - (n - 1) * observed / expected


def alpha_interval(
    clusters: Mapping[str, Sequence[Unit]], *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[Score, Score]:
    """95 % bootstrap interval of α; the items of a cluster (a run) are drawn together.

    Where nothing differs the bootstrap gives an interval of no width: there the lower end takes Dₒ at the
    upper end of Wilson's interval for none of so many clusters.

    Args:
        clusters: the items by cluster.
        resamples: how many times clusters are drawn.
        seed: of the draws.
    """
    told = {name: [Counter(unit) for unit in some if len(unit) > 1] for name, some in clusters.items()}
    told = {name: some for name, some in told.items() if some}
    alpha = nominal_alpha([list(unit.elements()) for some in told.values() for unit in some])
    if isinstance(alpha, Unscored):
        return alpha, alpha
    if len(told) < 2:
        few = Unscored("an interval needs at least two runs")
        return few, few
    if alpha == 1.0:
        return _certain(told), 1.0
    return _drawn(list(told.values()), resamples, seed)


def _differing(unit: Counter[Hashable]) -> float:
    m = unit.total()
    return (m * m - sum(c * c for c in unit.values())) / (m - 1)


def _certain(told: Mapping[str, Sequence[Counter[Hashable]]]) -> float:
    total = sum((unit for some in told.values() for unit in some), Counter[Hashable]())
    n = total.total()
    expected = (n * n - sum(c * c for c in total.values())) / (n * (n - 1))
    z2 = Z_95**2
    return max(-1.0, 1.0 - z2 / (len(told) + z2) / expected)


def _drawn(told: Sequence[Sequence[Counter[Hashable]]], resamples: int, seed: int) -> tuple[Score, Score]:
    import numpy as np  # noqa: PLC0415 (slow)

    answers = list(dict.fromkeys(answer for some in told for unit in some for answer in unit))
    sums = np.array(
        [
            [fsum(map(_differing, some)), *(sum(unit[answer] for unit in some) for answer in answers)]
            for some in told
        ]
    )
    draw, size, found = np.random.default_rng(seed), len(told), []
    for _ in range(0, resamples, _CHUNK):
        weights = draw.multinomial(size, np.full(size, 1 / size), size=_CHUNK)
        parts = weights @ sums
        n = parts[:, 1:].sum(axis=1)
        expected = (n * n - (parts[:, 1:] ** 2).sum(axis=1)) / (n - 1)
        mixed = expected > 0
        found.append(1.0 - parts[mixed, 0] / expected[mixed])
    low, high = np.quantile(np.concatenate(found), (0.025, 0.975))
    return float(low), float(high)
