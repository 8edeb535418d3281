"""A log as columns, made once for all that is added up or compared over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from untaken.memory.record import Observed


class LogColumns(NamedTuple):
    """The observations of a log, in its order.

    Attributes:
        outcome: whether it is an outcome, not a weak record.
        run: number of its run.
        success, cost, steps: NaN where it has no such figure.
    """

    outcome: np.ndarray
    run: np.ndarray
    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray

    @classmethod
    def of(cls, log: Sequence[Observed], runs: Mapping[str, int]) -> LogColumns:
        """The columns of a log, whose runs have these numbers."""
        return cls(
            np.array([observed.kind == "outcome" for observed in log], dtype=bool),
            np.array([runs[observed.run_id] for observed in log], dtype=np.int64),
            np.array([observed.success for observed in log], dtype=float),
            np.array([observed.cost for observed in log], dtype=float),
            np.array([observed.steps for observed in log], dtype=float),
        )
