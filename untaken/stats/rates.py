"""95% intervals of a rate of binary trials (§3, §5)."""

from __future__ import annotations

from math import sqrt
from typing import Final

Z_95: Final = 1.959963984540054
"""Two-sided 95% point of the standard normal."""
TAIL: Final = 0.025


def wilson(successes: float, n: float, z: float = Z_95) -> tuple[float, float]:
    """Wilson's 95% interval of a rate of `successes` out of `n` > 0 independent trials (Wilson 1927).

    `z` is the normal quantile, or Student's where n is an estimate itself.
    """
    rate, z2 = successes / n, z * z
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)
