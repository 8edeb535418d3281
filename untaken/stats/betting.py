"""Tests and ends of intervals of a mean that hold at every look (§5, "A gate that may be looked at").

Betting (Waudby-Smith and Ramdas 2024): bets against "the mean is at most m" multiply a capital of 1 by
1 − c + c·x/m at each value x from 0 to 1. If m is true no bet wins on average, so that the capital ever
reaches 20 with a probability of at most 1 in 20 (Ville 1939). The capital here is the mean over a grid of
stakes c. It falls as m grows, whatever the values, so an end of an interval is found by bisection.

Values may have any distribution, and differ, as long as each has a mean of at most m given those before: an
order that puts the easy tasks first would break that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from untaken.stats.rounding import Floats

LEVEL: Final = 0.05
"""How often an end may ever be wrong; each end by itself."""
STAKES: Final = np.linspace(0.05, 0.95, 19)
STEPS: Final = 40
LEAST: Final = 1e-9


def evidence_above(values: Sequence[float], mean: float) -> Floats:
    """Logarithm of the capital won against "the mean is at most `mean`", after each value."""
    paid = np.asarray(values, dtype=np.float64) / max(mean, LEAST)
    capital = np.cumsum(np.log1p(STAKES[:, None] * (paid - 1)), axis=1)
    most = capital.max(axis=0)
    logs: Floats = most + np.log(np.exp(capital - most).mean(axis=0))
    return logs


def first_above(values: Sequence[float], mean: float) -> int | None:
    """After how many values it was shown that the mean is above `mean`; ``None`` where it was not."""
    if not values:
        return None
    reached = np.flatnonzero(evidence_above(values, mean) >= -np.log(LEVEL))
    return int(reached[0]) + 1 if reached.size else None


def lower_end(values: Sequence[float]) -> float:
    """The largest mean that was shown, at some look, to be too small: the lower end of the mean so far."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if first_above(values, middle) is None else (middle, high)
    return low
