"""The smallest and largest figure of any run, as of any moment and without any one run."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import numpy as np

from untaken.memory.totals import NOWHERE


class Extreme:
    """Running minimum of a figure over runs, with the runner-up run, so that any one run can be left out
    exactly.
    """

    def __init__(self, figures: Iterable[tuple[int, int, float]]) -> None:
        """Takes (position in the log, number of the run, value) in order."""
        states: list[tuple[int, float, int, float]] = []
        best, holder, second = inf, NOWHERE, inf
        for position, run, value in figures:
            if value >= second or (run == holder and value >= best):
                continue
            if run == holder:
                best = value
            elif value < best:
                best, holder, second = value, run, best
            else:
                second = value
            states.append((position, best, holder, second))
        self._positions, self._best, self._holder, self._second = (
            np.array(column) for column in zip((NOWHERE, inf, NOWHERE, inf), *states, strict=True)
        )

    def least(self, cut: np.ndarray, without: np.ndarray) -> np.ndarray:
        """The minimum known at each cut over all runs but one; infinite if there is none."""
        at = np.searchsorted(self._positions, cut) - 1
        left_out = (self._holder[at] == without) & (without != NOWHERE)
        return np.where(left_out, self._second[at], self._best[at])
