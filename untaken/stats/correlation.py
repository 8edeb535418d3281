"""Do two rankings agree? Kendall's τ-b with its interval and p, and Spearman's ρ (§5)."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import factorial
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from untaken.errors import Score, Unscored
from untaken.stats.bootstrap import BLOCK, TAILS
from untaken.stats.rounding import Floats

TOO_FEW: Final = Unscored("fewer than two agents to compare")
ALL_TIED: Final = Unscored("all agents tie under one of the metrics")
EXACT_UP_TO: Final = 8
"""Agents up to which every permutation is tried: 8! = 40,320."""
ENOUGH_RESAMPLES: Final = 0.5
"""Share of resamples that must have a τ-b before their percentiles are an interval."""


def _pair_signs(values: Floats) -> Floats:
    """(rows, n) → (rows, n·(n−1)/2): −1, 0 or 1 for each pair, by which of the two is larger."""
    first, second = np.triu_indices(values.shape[1], k=1)
    signs: Floats = np.sign(values[:, first] - values[:, second])
    return signs


def tau_b_rows(a: Floats, b: Floats) -> Floats:
    """Kendall's τ-b of each row of `a` with the same row of `b`; NaN where a row of either is all tied.

    τ-b = (C − D) / √((P − T_a)(P − T_b)) over P pairs: C concordant, D discordant, T tied (Kendall 1945).
    """
    signs_a, signs_b = _pair_signs(a), _pair_signs(b)
    untied = np.abs(signs_a).sum(axis=1) * np.abs(signs_b).sum(axis=1)
    untied[untied == 0] = np.nan
    taus: Floats = (signs_a * signs_b).sum(axis=1) / np.sqrt(untied)
    return taus


def kendall_tau_b(a: ArrayLike, b: ArrayLike) -> Score:
    """Kendall's τ-b of two equally long sequences; unscored below two items or where one is all tied."""
    x, y = _as_row(a), _as_row(b)
    if x.shape != y.shape:
        raise ValueError("both rankings must be of the same items")
    if x.size < 2:
        return TOO_FEW
    tau = float(tau_b_rows(x, y)[0])
    return ALL_TIED if np.isnan(tau) else tau


def kendall_p(a: ArrayLike, b: ArrayLike) -> Score:
    """Two-sided p of τ-b under independence.

    Exact, by every permutation, up to 8 items; beyond that the normal approximation, its variance allowing
    for ties (Kendall 1970, ch. 4).
    """
    x, y = _as_row(a), _as_row(b)
    if isinstance(tau := kendall_tau_b(x[0], y[0]), Unscored):
        return tau
    difference = float((_pair_signs(x) * _pair_signs(y)).sum())
    n = x.size
    if n > EXACT_UP_TO:
        from scipy.stats import kendalltau  # noqa: PLC0415 (slow)

        return float(kendalltau(x[0], y[0], method="asymptotic").pvalue)
    permuted = _pair_signs(y[0][_permutations(n)]) @ _pair_signs(x)[0]
    return float((np.abs(permuted) >= abs(difference)).sum()) / factorial(n)


@cache
def _permutations(n: int) -> NDArray[np.intp]:
    return np.array(list(permutations(range(n))), dtype=np.intp)


def spearman(a: ArrayLike, b: ArrayLike) -> Score:
    """Spearman's ρ: Pearson's correlation of the mid-ranks; unscored where `kendall_tau_b` is."""
    x, y = _as_row(a)[0], _as_row(b)[0]
    if x.size < 2:
        return TOO_FEW
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return ALL_TIED
    from scipy.stats import spearmanr  # noqa: PLC0415 (slow)

    return float(spearmanr(x, y).statistic)


def _as_row(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64).reshape(1, -1)


def tau_interval(a: Floats, b: Floats) -> tuple[Score, Score]:
    """Percentile interval of τ-b over the task resamples."""
    resamples, agents = a.shape
    if agents < 2 or not resamples:
        none = Unscored("no resamples to take an interval from")
        return none, none
    block = max(1, BLOCK // agents**2)
    taus = np.concatenate(
        [tau_b_rows(a[at : at + block], b[at : at + block]) for at in range(0, resamples, block)]
    )
    known = taus[~np.isnan(taus)]
    if known.size < ENOUGH_RESAMPLES * resamples:
        tied = Unscored("in most resamples all agents tie, so τ-b has no interval")
        return tied, tied
    low, high = np.quantile(known, TAILS)
    return float(low), float(high)
