"""Do two rankings agree? Kendall τ-b with interval and p, Spearman, and the discordant pairs (§5)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import permutations
from math import erfc, factorial, sqrt
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from untaken.errors import Score, Unscored
from untaken.ranking.intervals import BLOCK, TAILS
from untaken.ranking.model import Agreement, DiscordantPair
from untaken.ranking.tables import Floats, MetricTable

EXACT_UP_TO: Final = 8
"""Agents up to which every permutation is tried: 8! = 40,320."""
ENOUGH_RESAMPLES: Final = 0.5
"""Share of resamples that must have a τ-b before their percentiles are an interval."""


def _pair_signs(values: Floats) -> Floats:
    """(rows, n) → (rows, n·(n−1)/2): −1, 0 or 1 for each pair, by which of the two is larger."""
    first, second = np.triu_indices(values.shape[1], k=1)
    signs: Floats = np.sign(values[:, first] - values[:, second])
    return signs


def _tau_b_rows(a: Floats, b: Floats) -> Floats:
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
        return Unscored("fewer than two agents to compare")
    tau = float(_tau_b_rows(x, y)[0])
    return Unscored("all agents tie under one of the metrics") if np.isnan(tau) else tau


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
        return erfc(abs(difference) / sqrt(2 * _variance(x[0], y[0])))
    permuted = _pair_signs(y[0][_permutations(n)]) @ _pair_signs(x)[0]
    return float((np.abs(permuted) >= abs(difference)).sum()) / factorial(n)


@cache
def _permutations(n: int) -> NDArray[np.intp]:
    return np.array(list(permutations(range(n))), dtype=np.intp)


def _variance(x: Floats, y: Floats) -> float:
    """Variance of concordant minus discordant pairs under independence, with ties in either sequence."""
    n = x.size
    tx, ty = (np.unique(values, return_counts=True)[1].astype(float) for values in (x, y))

    def total(counts: Floats, *terms: int) -> float:
        product = counts * (counts - 1)
        for term in terms:
            product = product * (counts * 2 + 5 if term == 5 else counts - term)
        return float(product.sum())

    pairs = n * (n - 1)
    v0 = (pairs * (2 * n + 5) - total(tx, 5) - total(ty, 5)) / 18
    v1 = total(tx) * total(ty) / (2 * pairs)
    v2 = total(tx, 2) * total(ty, 2) / (9 * pairs * (n - 2))
    return v0 + v1 + v2


def spearman(a: ArrayLike, b: ArrayLike) -> Score:
    """Spearman's ρ: Pearson's correlation of the mid-ranks; unscored where `kendall_tau_b` is."""
    x, y = (_mid_ranks(_as_row(values)[0]) for values in (a, b))
    if x.size < 2:
        return Unscored("fewer than two agents to compare")
    x, y = x - x.mean(), y - y.mean()
    spread = sqrt(float(x @ x) * float(y @ y))
    if spread == 0:
        return Unscored("all agents tie under one of the metrics")
    return max(-1.0, min(1.0, float(x @ y) / spread))


def _mid_ranks(values: Floats) -> Floats:
    """1 is the smallest; ties share the mean of their ranks."""
    ordered = np.sort(values)
    below, through = np.searchsorted(ordered, values), np.searchsorted(ordered, values, side="right")
    ranks: Floats = (below + through + 1) / 2
    return ranks


def _as_row(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64).reshape(1, -1)


def agree(a: MetricTable, b: MetricTable, resampled: Mapping[str, Floats]) -> Agreement:
    """How the rankings of two metrics agree, over the agents that have both."""
    rows_a, rows_b = _common_rows(a, b)
    x, y = a.comparable[rows_a], b.comparable[rows_b]
    low, high = _tau_interval(resampled[a.metric][:, rows_a], resampled[b.metric][:, rows_b])
    tau = kendall_tau_b(x, y)
    if isinstance(tau, Unscored):
        low = high = tau
    return Agreement(
        a=a.metric,
        b=b.metric,
        tau_b=tau,
        low=low,
        high=high,
        p=kendall_p(x, y),
        spearman=spearman(x, y),
        n=len(rows_a),
    )


def _tau_interval(a: Floats, b: Floats) -> tuple[Score, Score]:
    """Percentile interval of τ-b over the task resamples."""
    resamples, agents = a.shape
    if agents < 2 or not resamples:
        none = Unscored("no resamples to take an interval from")
        return none, none
    block = max(1, BLOCK // agents**2)
    taus = np.concatenate(
        [_tau_b_rows(a[at : at + block], b[at : at + block]) for at in range(0, resamples, block)]
    )
    known = taus[~np.isnan(taus)]
    if known.size < ENOUGH_RESAMPLES * resamples:
        tied = Unscored("in most resamples all agents tie, so τ-b has no interval")
        return tied, tied
    low, high = np.quantile(known, TAILS)
    return float(low), float(high)


def discordant_pairs(a: MetricTable, b: MetricTable) -> tuple[DiscordantPair, ...]:
    """Pairs of agents that `a` and `b` put in opposite orders; a tie under either is no disagreement."""
    rows_a, rows_b = _common_rows(a, b)
    agents = [a.agents[row] for row in rows_a]
    x, y = a.comparable[rows_a], b.comparable[rows_b]
    firsts, seconds = np.nonzero((x[:, None] > x[None, :]) & (y[:, None] < y[None, :]))
    return tuple(
        DiscordantPair(a_metric=a.metric, b_metric=b.metric, first=agents[i], second=agents[j])
        for i, j in zip(firsts, seconds, strict=True)
    )


def _common_rows(a: MetricTable, b: MetricTable) -> tuple[list[int], list[int]]:
    """The rows, in each table, of the agents that both have."""
    common = [agent for agent in a.agents if agent in b.agents]
    return [a.agents.index(agent) for agent in common], [b.agents.index(agent) for agent in common]
