"""p-values adjusted for looking at many of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from untaken.stats.rounding import DECIMALS, Floats, without_noise


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """The q of each p, in the same order: the false discovery rate of all that are no larger than it.

    Benjamini and Hochberg 1995; valid for independent or positively dependent tests.
    """
    if not len(p):
        return []
    falling = np.argsort(p)[::-1]
    adjusted = np.empty(len(p))
    scaled = np.asarray(p)[falling] * (len(p) / np.arange(len(p), 0, -1))
    adjusted[falling] = np.minimum(1.0, np.minimum.accumulate(scaled))
    # A digit less than p has: three times a p of 1/60, which ends in 67, is 0.05 and not above it.
    return [float(q) for q in without_noise(adjusted, DECIMALS - 1)]


def holm(p: Floats | Sequence[float]) -> Floats:
    """Each p adjusted for the family of all that are given (Holm 1979); NaN stays NaN and is not counted."""
    p = np.asarray(p, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    steps = p[order] * np.arange(order.size, 0, -1)
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted
