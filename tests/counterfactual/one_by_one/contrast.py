"""The interval of a mean score, and of the difference of two, where one part of a score is a rate (§2a).

A score interval, as Wilson's for one rate and Miettinen and Nurminen's for the difference of two: an end is
the value that the data only just do not contradict, so the variance is the one that holds *at that end*, not
the one at the estimate, which is too small just where a difference by chance is large.

The score of a run is split into g·success and a rest that does not move with success: g is the weight of
success plus what success saves in cost and steps, a slope common to both histories. The rest has the standard
error of its own mean. The success part has the rates of Beta(½ + s, ½ + f), moved by its share φ of the error
e = estimate − end, which leaves a quadratic equation e² = q²·V(e): no loop, no draws.

The quantile q is Student's t at Satterthwaite's degrees of freedom, for variances in V are estimated; that
of a Bernoulli variable is known the better the nearer its rate is to one half (`certainty`). Where there is
one history alone, its rate is the one supposed, and nothing of that variance is estimated.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Final

from msgspec import Struct
from scipy.special import stdtr

from untaken.stats.contrast import ROUNDING
from untaken.stats.means import student_quantile

FREEDOM_MIN: Final = 1.0
FREEDOM_MAX: Final = 1e6


class Sample(Struct, frozen=True, kw_only=True):
    """What an interval needs of one history; variances are those of a single run, in units of the score."""

    n: float  # effective number of runs (Kish)
    rate: float  # posterior mean of the success rate, (½ + s) / (1 + n)
    weight: float  # of success, among the terms in force
    success: float  # variance of success; 0 where it never varied
    rest: float  # variance of what cost and steps contribute
    together: float | None  # covariance of success and that; None where some runs lack a figure

    def gain(self, slope: float) -> float:
        """What success adds to the score, by its weight and by what it saves; 0 where these cancel out."""
        both = self.weight + slope
        return both if abs(both) > ROUNDING * self.weight else 0.0

    def residual(self, slope: float) -> float:
        """Variance of the mean of the rest, what moves with success taken out."""
        shared = 0.0 if self.together is None else (slope * self.success - 2 * self.together) * slope
        left = self.rest + shared
        return left / self.n if left > ROUNDING * self.rest else 0.0

    def variance(self, slope: float) -> float:
        """Variance of the history's mean score, at its own rate."""
        return self.gain(slope) ** 2 * self.rate * (1 - self.rate) / self.n + self.residual(slope)


class Parabola(Struct, frozen=True):
    """Variance of the success part, a + b·d + c·d², where `d` is the rate (or difference of rates) supposed.

    `at` is the estimate; outside `low` to `high`, where a rate would leave 0 to 1, the variance stays as it
    is there.
    """

    a: float
    b: float
    c: float
    at: float
    low: float
    high: float

    def value(self, d: float) -> float:
        """The variance where `d` is true."""
        d = min(max(d, self.low), self.high)
        return self.a + (self.b + self.c * d) * d


class Band(Struct, frozen=True, kw_only=True):
    """How far an estimate may be off."""

    success: Parabola  # variance of the success part
    rest: float
    lean: float  # how far the supposed rate moves for one unit of error
    freedom: float  # degrees of freedom of the quantile

    def ends(self, estimate: float, least: float, most: float) -> tuple[float, float]:
        """The 95% interval around an estimate, which it always holds, within what can be at all."""
        quantile, curve = student_quantile(self.freedom), self.success
        level = quantile * quantile
        flat = level * (self.rest + curve.a + (curve.b + curve.c * curve.at) * curve.at)
        tilt = -level * (curve.b + 2 * curve.c * curve.at) * self.lean
        bend = 1 - level * curve.c * self.lean * self.lean
        root = sqrt(tilt * tilt + 4 * bend * flat)  # of e² = q²·V(e), which is bend·e² − tilt·e − flat = 0
        down = self._possible((root + tilt) / (2 * bend), self.lean, quantile)
        up = self._possible((root - tilt) / (2 * bend), -self.lean, quantile)
        return min(estimate, max(least, estimate - down)), max(estimate, min(most, estimate + up))

    def above(self, excess: float) -> float:
        """Confidence that the truth is above (estimate − excess), from 0 to 1; 0.975 at the lower end."""
        variance = self.rest + self.success.value(self.success.at - self.lean * excess)
        if not variance:
            return float(excess > 0)
        return float(stdtr(self.freedom, excess / sqrt(variance)))

    def _possible(self, reach: float, lean: float, quantile: float) -> float:
        """The reach, unless it supposes a rate outside 0 to 1: then by the variance at the last inside."""
        end = self.success.at - lean * reach
        if self.success.low <= end <= self.success.high:
            return reach
        return quantile * sqrt(self.rest + self.success.value(end))


def band_of(sample: Sample) -> Band | None:
    """The band of one history's mean score; ``None`` where nothing that has a weight varied."""
    rate, n = sample.rate, sample.n

    def curve(factor: float) -> Parabola:
        unit = factor / n
        return Parabola(unit * rate * (1 - rate), unit * (1 - 2 * rate), -unit, 0.0, -rate, 1 - rate)

    return _band(curve, rate, (sample,), (0.0,))  # the one rate is the one supposed, so its variance is known


def band_between(first: Sample, second: Sample) -> Band | None:
    """The band of the difference of two histories' mean scores; ``None`` where nothing varied.

    Both rates are supposed to lie about their pooled value, apart by the difference that is supposed, each
    the nearer to it the more runs it has; the variance is corrected by N / (N − 1), as it is pooled.
    """
    one, two = first.n, second.n
    total = one + two
    rate = (one * first.rate + two * second.rate) / total
    first_share, second_share = two / total, one / total

    def curve(factor: float) -> Parabola:
        unit = factor * total / (total - 1)
        return Parabola(
            unit * rate * (1 - rate) * (1 / one + 1 / two),
            unit * (1 - 2 * rate) * (first_share / one - second_share / two),
            -unit * (first_share**2 / one + second_share**2 / two),
            first.rate - second.rate,
            -min(rate / first_share, (1 - rate) / second_share),
            min((1 - rate) / first_share, rate / second_share),
        )

    return _band(curve, rate, (first, second), (first_share, second_share))


def certainty(rate: float, n: float) -> float:
    """Degrees of freedom of the variance p(1 − p) as `n` runs estimate it.

    2 / (relative variance of p(1 − p)), to second order: the curvature keeps it finite at p = ½.
    """
    return 2 / ((1 - 2 * rate) ** 2 / (n * rate * (1 - rate)) + 2 / n**2)


def _slope(samples: tuple[Sample, ...]) -> float | None:
    """Regression of the rest on success inside the histories; ``None`` where none shows it."""
    moved = varied = 0.0
    for sample in samples:
        if sample.success and sample.together is not None:
            moved += (sample.n - 1) * sample.together
            varied += (sample.n - 1) * sample.success
    return moved / varied if varied else None


def _band(
    curve: Callable[[float], Parabola], rate: float, samples: tuple[Sample, ...], shares: tuple[float, ...]
) -> Band | None:
    """The band from the curve of the success part, times a factor.

    `shares` say how much of that part rests on the rate of each history as it was estimated.
    """
    known = _slope(samples)
    slope = known or 0.0
    gain = samples[0].gain(slope)
    parabola = curve(gain**2)
    residuals = [sample.residual(slope) for sample in samples]
    success, rest = parabola.value(parabola.at), sum(residuals)
    whole = success + rest
    if not whole:
        return None
    lean, doubt = success / whole / gain if gain else 0.0, 0.0
    for sample, share, residual in zip(samples, shares, residuals, strict=True):
        doubt += (residual / whole) ** 2 / (sample.n - 1)
        doubt += (share * success / whole) ** 2 / certainty(rate, sample.n)
    if known is None and success and rest:
        # The worst case: the two errors add up. (√success + √rest)² is replaced by its tangent from above.
        ratio = sqrt(rest / success)
        parabola, rest = curve(gain**2 * (1 + ratio)), rest * (1 + 1 / ratio)
    freedom = min(FREEDOM_MAX, max(FREEDOM_MIN, 1 / doubt)) if doubt else FREEDOM_MAX
    return Band(success=parabola, rest=rest, lean=lean, freedom=freedom)
