"""One history, one comparison at a time, where the engine has columns."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from untaken.counterfactual.scoring import Outcome
from untaken.errors import number
from untaken.memory import Record, Snapshot
from untaken.memory.history import ANY
from untaken.stats.stratified import mean_differences, orders_of


class MeanDifference(NamedTuple):
    """Mean of the first option minus that of the second inside strata, with its 95% interval."""

    value: float
    low: float
    high: float


def mean_difference(values: np.ndarray, first: np.ndarray, stratum: np.ndarray) -> MeanDifference | None:
    """`mean_differences` of one comparison; ``None`` where it has none."""
    found = mean_differences(values, first, stratum, np.zeros_like(stratum), comparisons=1)
    value, low, high = (float(column[0]) for column in found)
    return None if np.isnan(value) else MeanDifference(value, low, high)


def order_of(moment: np.ndarray, first: np.ndarray, stratum: np.ndarray) -> Literal["before", "after"] | None:
    """`orders_of` one comparison, in words; ``None`` where it has none."""
    (order,) = orders_of(moment, first, stratum, np.zeros_like(stratum), comparisons=1)
    return ("before", None, "after")[int(order) + 1]


def mean_of(record: Record) -> Outcome:
    """The mean outcome of a history."""
    rate = number(record.success_rate)
    assert rate is not None, "a record has at least one outcome"
    return Outcome(success=rate, cost=number(record.avg_cost), steps=number(record.avg_steps))


def record_of_context(snapshot: Snapshot, context_hash: str, *, without_run: str) -> Record | None:
    """What is known of every choice in the context, whichever skill was chosen, but one run's."""
    every = snapshot.history._over_time((ANY, context_hash), snapshot.history.totals_of_contexts)
    return snapshot._record(every, without_run)
