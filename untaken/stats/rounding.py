"""Equality of computed numbers: the noise of summation must not break or make a tie."""

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


def without_noise(values: Floats, digits: int = DECIMALS) -> Floats:
    """Exact p-values to some significant digits: one of 1/20 is not above 0.05 for the order of a sum."""
    return np.array([float(f"{value:.{digits}g}") for value in values])
