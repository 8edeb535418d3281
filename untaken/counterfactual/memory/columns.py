"""A log as columns, made once for all that is added up or compared over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import UNSET

from untaken.counterfactual.memory.record import Observed


class LogColumns(NamedTuple):
    """The observations of a log, in its order.

    Attributes:
        outcome: whether it is an outcome, not a weak record.
        run: number of its run.
        units: by number of a run, that of the first of its copies; its own where it has none.
        success, cost, steps: NaN where it has no such figure.
    """

    outcome: np.ndarray
    run: np.ndarray
    units: np.ndarray
    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray

    @classmethod
    def of(cls, log: Sequence[Observed], runs: Mapping[str, int]) -> LogColumns:
        """The columns of a log, whose runs have these numbers."""
        units, first = np.arange(len(runs)), dict[tuple[object, ...], int]()
        for observed in log:
            if observed.trail is not UNSET:
                run = runs[observed.run_id]
                units[run] = first.setdefault(observed.unit, run)
        return cls(
            np.array([observed.kind == "outcome" for observed in log], dtype=bool),
            np.array([runs[observed.run_id] for observed in log], dtype=np.int64),
            units,
            np.array([observed.success for observed in log], dtype=float),
            np.array([observed.cost for observed in log], dtype=float),
            np.array([observed.steps for observed in log], dtype=float),
        )

    @property
    def copies(self) -> bool:
        """Whether any run is a copy of another."""
        return bool((self.units != np.arange(self.units.size)).any())
