"""Tests of counts and of ranks, and the probability of superiority."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, erfc, sqrt
from typing import Final

import scipy

from untaken.stats.rates import Z_95
from untaken.stats.stratified import Stratum, exact_test, hypergeometric

EXACT: Final = 40
"""Values up to which the rank-sum test counts every arrangement."""


def fisher_p(a: int, n: int, b: int, m: int) -> float:
    """Two-sided p of Fisher's exact test for `a` of `n` against `b` of `m`.

    The probability, margins given, of every table that is no more probable than this one.
    """
    return exact_test([Stratum(a, n, b, m)]).p


def sign_p(wins: int, losses: int) -> float:
    """One-sided exact sign test: the chance of so many wins or more if either were as likely.

    A tail of the binomial distribution, as the incomplete beta function: P(X ≥ k) = I(½; k, n − k + 1).
    """
    return float(scipy.special.betainc(wins, losses + 1, 0.5)) if wins else 1.0


def superiority(first: Sequence[float], second: Sequence[float]) -> float:
    """P(first > second) + ½ P(first = second) over all pairs: the area under the ROC curve."""
    m, n = len(first), len(second)
    above = sum(_doubled_ranks([*first, *second])[:m]) - m * (m + 1)
    return above / (2 * m * n)


def superiority_interval(theta: float, first_n: int, second_n: int) -> tuple[float, float]:
    """95% interval of a probability of superiority (Newcombe, Statistics in Medicine 25, 2006, method 5).

    The values t for which |θ̂ − t| ≤ z √V(t), V(t) = t(1 − t)/(mn) · [1 + N*((1 − t)/(2 − t) + t/(1 + t))] and
    N* = (m + n)/2 − 1: well-behaved where θ̂ is 0 or 1.
    """
    star = (first_n + second_n) / 2 - 1

    def outside(t: float) -> bool:
        variance = t * (1 - t) / (first_n * second_n) * (1 + star * ((1 - t) / (2 - t) + t / (1 + t)))
        return abs(theta - t) > Z_95 * sqrt(variance)

    low = 0.0 if theta == 0 else _border(outside, 0.0, theta)
    high = 1.0 if theta == 1 else _border(outside, 1.0, theta)
    return low, high


def _border(outside: Callable[[float], bool], out: float, inside: float) -> float:
    for _ in range(60):  # beyond what a double tells apart
        middle = (out + inside) / 2
        out, inside = (middle, inside) if outside(middle) else (out, middle)
    return inside


def rank_sum_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p of the rank sum under every arrangement of the outcomes; mid-ranks where values tie."""
    ranks = _doubled_ranks([*first, *second])
    m, n = len(first), len(first) + len(second)
    seen, middle = sum(ranks[:m]), m * (n + 1)
    if n > EXACT:
        # The normal approximation: the variance of the ranks themselves allows for ties.
        spread = m * (n - m) / (n * (n - 1)) * sum((rank - n - 1) ** 2 for rank in ranks)
        return erfc(abs(seen - middle) / sqrt(2 * spread)) if spread else 1.0
    ways = _sums(ranks, m)
    extreme = sum(count for total, count in ways.items() if abs(total - middle) >= abs(seen - middle))
    return extreme / comb(n, m)


def _sums(ranks: Sequence[int], m: int) -> dict[int, int]:
    """How many choices of m ranks have each sum: exact whole numbers, smaller choices first."""
    ways: list[dict[int, int]] = [{0: 1}] + [{} for _ in range(m)]
    for done, rank in enumerate(ranks):
        for size in range(min(done, m - 1), -1, -1):  # larger ones first: no rank is taken twice
            larger = ways[size + 1]
            for total, count in ways[size].items():
                larger[total + rank] = larger.get(total + rank, 0) + count
    return ways[m]


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the mid-ranks, so that they are whole."""
    ordered = sorted(values)
    first = {value: place for place, value in reversed(list(enumerate(ordered)))}
    last = {value: place for place, value in enumerate(ordered)}
    return [first[value] + last[value] + 2 for value in values]


def more_often_p(a: int, n: int, b: int, m: int) -> float:
    """One-sided p of Fisher's exact test: the chance of `a` or more of `n`, with `b` of `m` beside them.

    Margins are given, so it is the upper tail of the hypergeometric distribution.
    """
    if not a or not m or a + b == n + m:
        return 1.0
    least, chances = hypergeometric(n, m, a + b)
    return min(1.0, float(chances[a - least :].sum()))


def at_least_p(k: int, n: int, chance: float) -> float:
    """P(X ≥ k) of a binomial distribution, as the incomplete beta function."""
    return float(scipy.special.betainc(k, n - k + 1, min(1.0, chance))) if 0 < k <= n else float(k <= 0)


def poisson_binomial_tail(chances: Sequence[float], successes: int) -> float:
    """The probability of at least so many successes of independent trials with these chances."""
    spread = [1.0]
    for chance in chances:
        less, more = [*spread, 0.0], [0.0, *spread]
        spread = [(1 - chance) * a + chance * b for a, b in zip(less, more, strict=True)]
    return min(1.0, sum(spread[successes:]))
