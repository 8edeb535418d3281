"""Two options compared inside strata: risk difference (§2d) and difference of mean scores (§2a).

Only strata in which both options were taken say anything; the others must be left out by the caller.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from math import fsum, sqrt
from typing import Final, NamedTuple

import numpy as np
import scipy
from scipy.special import stdtrit

from untaken.stats.rates import Z_95
from untaken.stats.rounding import without_noise

_TIED: Final = 1 + 1e-9
"""Outcomes within this factor of the observed one's probability are as extreme."""

POWER_TRIES: Final = 200
"""Comparisons made up for the power of the exact test."""
_NO_SPREAD: Final = 1e-18
"""A sum of squares of scores below this is rounding alone."""
_UPPER: Final = 0.975


class Stratum(NamedTuple):
    """Successes and runs of the first option (`k1` of `n1`) and of the second (`k0` of `n0`), both taken."""

    k1: int
    n1: int
    k0: int
    n0: int

    @property
    def weight(self) -> float:
        """Mantel-Haenszel weight n₁n₀ / (n₁ + n₀)."""
        return self.n1 * self.n0 / (self.n1 + self.n0)

    @property
    def informative(self) -> bool:
        """Whether both outcomes occurred: else no test can tell the options apart here."""
        return 0 < self.k1 + self.k0 < self.n1 + self.n0


def strata_of(runs: Iterable[tuple[Hashable, bool, bool]]) -> list[Stratum]:
    """Strata of runs, each (its stratum, whether it took the first option, whether it succeeded).

    One in which only one option was taken compares nothing, and is left out.
    """
    counts: defaultdict[Hashable, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for name, first, success in runs:
        cell, side = counts[name], 0 if first else 2
        cell[side] += success
        cell[side + 1] += 1
    return [Stratum(*cell) for cell in counts.values() if cell[1] and cell[3]]


class ExactTest(NamedTuple):
    """Two-sided exact p, and the smallest p that these margins could ever give (for Tarone's rule)."""

    p: float
    least: float


def risk_difference(strata: Sequence[Stratum]) -> float:
    """RD = Σ wₖ (p₁ₖ − p₀ₖ) / Σ wₖ with wₖ = n₁ₖn₀ₖ / (n₁ₖ + n₀ₖ)."""
    total = fsum(stratum.weight for stratum in strata)
    return fsum(s.weight * (s.k1 / s.n1 - s.k0 / s.n0) for s in strata) / total


def exact_test(strata: Sequence[Stratum]) -> ExactTest:
    """Conditional exact test that the options do not differ in any stratum.

    The successes of the first option are, given all margins, a sum of independent hypergeometrics; p sums the
    probabilities of the totals that are no likelier than the observed one.
    """
    # Sorted: equal sets of strata share what is cached.
    margins = tuple(sorted((s.n1, s.n0, s.k1 + s.k0) for s in strata if s.informative))
    return _exact(margins, sum(s.k1 for s in strata if s.informative)) if margins else ExactTest(1.0, 1.0)


@lru_cache(maxsize=65_536)
def _exact(margins: tuple[tuple[int, int, int], ...], total: int) -> ExactTest:
    tails = _two_sided(margins)
    observed = total - _total(margins)[0]
    # A sum of hypergeometrics has one peak: its least likely total is at one of its ends.
    p, *ends = without_noise(tails[[observed, 0, -1]]).tolist()
    return ExactTest(p, min(ends))


def more_often_inside_p(strata: Sequence[Stratum]) -> float:
    """One-sided p of the same test: the chance of as many or more successes of the first option."""
    informative = [s for s in strata if s.informative]
    low, probabilities = _total(tuple(sorted((s.n1, s.n0, s.k1 + s.k0) for s in informative)))
    return min(1.0, float(probabilities[sum(s.k1 for s in informative) - low :].sum()))


def exact_power(strata: Sequence[Stratum], rate1: float, rate0: float, alpha: float) -> float:
    """The share of comparisons made up by these rates in which the exact test finds the options apart.

    Of the strata the numbers of runs count alone; the same numbers give the same share.
    """
    random = np.random.default_rng(0)
    n1, n0 = [s.n1 for s in strata], [s.n0 for s in strata]
    k1 = random.binomial(n1, rate1, (POWER_TRIES, len(strata))).tolist()
    k0 = random.binomial(n0, rate0, (POWER_TRIES, len(strata))).tolist()
    made = (map(Stratum, *columns) for columns in zip(k1, repeat(n1), k0, repeat(n0)))
    return sum(exact_test(list(some)).p <= alpha for some in made) / POWER_TRIES


@lru_cache(maxsize=65_536)
def _total(margins: tuple[tuple[int, int, int], ...]) -> tuple[int, np.ndarray]:
    """The least total of successes of the first option, and the probability of each total from there on."""
    low, probabilities = 0, np.ones(1)
    for margin, times in Counter(margins).items():
        least, spread = _alike(margin, times)
        low, probabilities = low + least, np.convolve(probabilities, spread)
    return low, probabilities


@lru_cache(maxsize=65_536)
def _alike(margin: tuple[int, int, int], times: int) -> tuple[int, np.ndarray]:
    """The same of so many strata with equal margins."""
    least, doubled = hypergeometric(*margin)
    least, found = least * times, np.ones(1)
    while times:
        if times % 2:
            found = np.convolve(found, doubled)
        times //= 2
        if times:
            doubled = np.convolve(doubled, doubled)
    return least, found


@lru_cache(maxsize=65_536)
def hypergeometric(n1: int, n0: int, successes: int) -> tuple[int, np.ndarray]:
    """The hypergeometric distribution: how many of the successes are the first option's, from the least on.

    Each probability from its neighbour's, P(i + 1) / P(i) = (n₁ − i)(s − i) / ((i + 1)(n₀ − s + i + 1)), away
    from the likeliest on both sides: no logarithm of a huge number is rounded.
    """
    least, most = max(0, successes - n0), min(n1, successes)
    i = np.arange(least, most, dtype=float)
    steps = (n1 - i) * (successes - i) / ((i + 1) * (n0 - successes + i + 1))  # ever smaller
    likeliest = np.count_nonzero(steps > 1)
    below, above = np.cumprod(1 / steps[:likeliest][::-1])[::-1], np.cumprod(steps[likeliest:])
    odds = np.concatenate([below, [1.0], above])
    return least, odds / odds.sum()


@lru_cache(maxsize=65_536)
def _two_sided(margins: tuple[tuple[int, int, int], ...]) -> np.ndarray:
    """The two-sided p of each total, with the noise of summation."""
    _, probabilities = _total(margins)
    ranked = np.sort(probabilities)
    below = np.searchsorted(ranked, probabilities * _TIED, side="right")
    tails: np.ndarray = np.minimum(1.0, np.concatenate(([0.0], np.cumsum(ranked)))[below])
    return tails


def score_interval(strata: Sequence[Stratum]) -> tuple[float, float]:
    """95% interval of `risk_difference`: Miettinen and Nurminen's score interval, with the same weights.

    It keeps its width where every success is on one side, as a plain variance does not.
    """
    found = risk_difference(strata)
    # Sums of floats depend on their order.
    counts = np.array(sorted(strata), dtype=float).T  # sums depend on their order

    def statistic(difference: float) -> float:
        return _score(counts, found, difference)

    edge, root = 1 - 1e-9, scipy.optimize.brentq  # at ±1 itself the error is 0
    low = -1.0 if statistic(-edge) <= Z_95 else root(lambda d: statistic(d) - Z_95, -edge, min(found, edge))
    high = 1.0 if statistic(edge) >= -Z_95 else root(lambda d: statistic(d) + Z_95, max(found, -edge), edge)
    return float(low), float(high)


def mean_differences(
    values: np.ndarray, first: np.ndarray, stratum: np.ndarray, comparison: np.ndarray, *, comparisons: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D = Σ wₖdₖ / Σ wₖ with wₖ = n₁ₖn₀ₖ / (n₁ₖ + n₀ₖ), and the interval whose ends a test of D = 0 decides.

    The variance is that under shuffling inside strata, Σ wₖSₖ² / (Σ wₖ)², Sₖ² being the variance of all
    values of the stratum; the quantile Student's, with Satterthwaite's degrees of freedom. Where a run either
    succeeds or fails it keeps close to the exact permutation test: 1 against 1 in each stratum and all in
    favour, both need six strata.

    Args:
        values: one a run, shape (runs,).
        first: whether the run took the first option.
        stratum: number of the run's stratum, from 0. Those without both options say nothing.
        comparison: number of the comparison that the run is in, from 0.
        comparisons: how many there are.

    Returns:
        The mean of the first option minus that of the second inside strata, and the ends of its 95%
        interval: columns, NaN where no stratum has both options, or nothing varies in any that has.
    """
    strata = int(stratum.max(initial=0)) + 1
    place = comparison * strata + stratum
    there = np.bincount(place, minlength=comparisons * strata) > 0  # most have no run at all
    cell, of_cell = (np.cumsum(there) - 1)[place], np.flatnonzero(there) // strata
    cells = of_cell.size
    n1, n0 = (np.bincount(cell[side], minlength=cells) for side in (first, ~first))
    s1, s0 = (np.bincount(cell[side], values[side], minlength=cells) for side in (first, ~first))
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.bincount(cell, (values - ((s1 + s0) / (n1 + n0))[cell]) ** 2, minlength=cells)
        weight, both = n1 * n0 / (n1 + n0), (n1 > 0) & (n0 > 0)
        spread = weight * squares / (n1 + n0 - 1)
        # Of each stratum: wₖ, wₖdₖ, the share of the variance, and of its uncertainty; then added up.
        parts = weight, weight * (s1 / n1 - s0 / n0), spread, spread**2 / (n1 + n0 - 1)
        weight, weighted, spread, fourth = (
            np.bincount(of_cell, np.where(both, part, 0.0), minlength=comparisons) for part in parts
        )
        value = np.where(spread > _NO_SPREAD, weighted / weight, np.nan)
        reach = stdtrit(spread**2 / fourth, _UPPER) * np.sqrt(spread) / weight
    return value, value - reach, value + reach


def _score(counts: np.ndarray, found: float, difference: float) -> float:
    """(found − difference) over its standard error where the true difference is `difference`."""
    k1, n1, k0, n0 = counts
    weights = n1 * n0 / (n1 + n0)
    weights = weights / weights.sum()
    p1, p0 = _restricted(k1, n1, k0, n0, difference)
    n = n1 + n0
    variance = (p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0) * n / np.maximum(n - 1, 1)
    error = sqrt(float(np.sum(weights**2 * variance)))
    gap = found - difference
    if error == 0:
        return 0.0 if gap == 0 else float(np.sign(gap) * np.inf)
    return gap / error


def _restricted(
    k1: np.ndarray, n1: np.ndarray, k0: np.ndarray, n0: np.ndarray, difference: float
) -> tuple[np.ndarray, np.ndarray]:
    """Maximum likelihood rates under p₁ − p₀ = `difference` (Miettinen and Nurminen 1985, closed form)."""
    n, successes = n1 + n0, k1 + k0
    a3 = n  # p₀ is the root of a₃p₀³ + a₂p₀² + a₁p₀ + a₀
    a2 = (n1 + 2 * n0) * difference - n - successes
    a1 = (n0 * difference - n - 2 * k0) * difference + successes
    a0 = k0 * difference * (1 - difference)
    q = a2**3 / (3 * a3) ** 3 - a1 * a2 / (6 * a3**2) + a0 / (2 * a3)
    # The published p has the sign of q, which the cosine below takes back.
    p = np.sqrt(np.maximum(0, (a2 / (3 * a3)) ** 2 - a1 / (3 * a3)))
    ratio = np.divide(q, p**3, out=np.ones_like(q), where=p != 0)
    angle = (np.pi + np.arccos(np.clip(ratio, -1, 1))) / 3
    p0 = np.clip(2 * p * np.cos(angle) - a2 / (3 * a3), max(0.0, -difference), min(1.0, 1 - difference))
    return p0 + difference, p0
