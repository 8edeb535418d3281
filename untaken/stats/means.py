"""Student's t, the 95% interval of a mean, and that of a posterior rate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from math import fsum, inf, sqrt
from statistics import fmean, stdev
from typing import Final

import numpy as np
import scipy
from numpy.polynomial import Chebyshev

from untaken.stats.rates import TAIL

UPPER: Final = 0.975


def student_quantile(freedom: float) -> float:
    """How many standard errors a 95% interval reaches to either side."""
    return float(scipy.special.stdtrit(freedom, UPPER))


def student_quantiles(freedom: np.ndarray) -> np.ndarray:
    """`student_quantile` of a column, from 1 to 1e6 degrees of freedom, to 1e-13 of itself; NaN for NaN.

    The logarithm of the quantile is smooth in 1 / freedom: a polynomial takes a tenth of the time.
    """
    found: np.ndarray = np.exp(_logarithm()(1 / freedom))
    return found


def student_cdfs(freedom: np.ndarray, value: np.ndarray) -> np.ndarray:
    """P(T ≤ value) of Student's t, of columns."""
    found: np.ndarray = scipy.special.stdtr(freedom, value)
    return found


@cache
def _logarithm() -> Chebyshev:
    quantile = scipy.special.stdtrit
    return Chebyshev.interpolate(lambda u: np.log(quantile(1 / u, UPPER)), 26, domain=(1e-6, 1.0))


def around(
    mean: float, deviation: float, n: float, *, least: float = -inf, most: float = inf
) -> tuple[float, float]:
    """Mean ± t(0.975, n − 1) · deviation / √n, inside what the mean can be.

    Args:
        mean: of the sample.
        deviation: its standard deviation, by n − 1.
        n: number of independent values, above 1; it may be an effective one.
        least: lower bound of the values.
        most: upper bound.
    """
    reach = student_quantile(n - 1) * deviation / sqrt(n)
    return max(least, mean - reach), min(most, mean + reach)


def mean(values: Collection[float]) -> float:
    """The mean of some values, also where their sum is too large for a double."""
    try:
        return fmean(values)
    except OverflowError:
        return fsum(value / len(values) for value in values)


def mean_interval(values: Sequence[float], *, least: float = -inf, most: float = inf) -> tuple[float, float]:
    """`around` the mean of at least two independent values."""
    return around(mean(values), stdev(values), len(values), least=least, most=most)


def reach_of_sum(parts: Collection[float], n: float) -> float:
    """Half the width of the interval of a statistic from its parts, one an independent unit.

    t(0.975, n − 1) · √(n / (n − 1) · Σ part²): a part is how far one unit moves the statistic (its
    influence, divided by the number of units). For n units that is the linearised cluster-robust interval.
    """
    return student_quantile(max(1.0, n - 1)) * sqrt(fsum(part**2 for part in parts) * n / (n - 1))


def mean_of_groups(groups: Collection[Sequence[float]]) -> tuple[float, float]:
    """The mean of all values of at least two groups, and the reach of its interval; groups are the units.

    They differ in size: the error is that of a ratio of sums, not of a mean of means.
    """
    n = sum(map(len, groups))
    whole = fsum(fsum(group) for group in groups) / n
    return whole, reach_of_sum([fsum(value - whole for value in group) / n for group in groups], len(groups))


def beta_interval(rate: float, n: float) -> tuple[float, float]:
    """Equal-tailed interval of the posterior Beta(½ + s, ½ + f) of a rate, s + f = n and s = rate · n.

    It always holds the rate itself: it reaches to 0 where nothing succeeded, and to 1 where everything did
    (Brown, Cai and DasGupta 2001, the modified Jeffreys interval).
    """
    won, lost = 0.5 + rate * n, 0.5 + (1 - rate) * n
    low, high = (float(scipy.special.betaincinv(won, lost, share)) for share in (TAIL, 1 - TAIL))
    # Equal tails would leave out a rate of 0 or 1.
    return min(low, rate) if rate else 0.0, max(high, rate) if rate < 1 else 1.0
