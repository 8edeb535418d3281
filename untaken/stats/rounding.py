"""When two computed numbers are equal: the noise of summation must not break or make a tie."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DECIMALS: Final = 12
"""Means that agree to this many decimals are equal: a tie must not depend on the order of a sum."""


def quantise(values: Floats) -> Floats:
    """Round away the noise of summation, so that equal means are equal numbers."""
    rounded: Floats = np.round(values, DECIMALS)
    return rounded


def quantised(value: float) -> float:
    """One number as `quantise` makes it."""
    return round(value, DECIMALS)
