"""One history, one comparison at a time, where the engine has columns."""

from __future__ import annotations

from untaken.counterfactual.memory import Record, Snapshot
from untaken.counterfactual.memory.history import ANY
from untaken.counterfactual.scoring import Outcome
from untaken.errors import number


def mean_of(record: Record) -> Outcome:
    """The mean outcome of a history."""
    rate = number(record.success_rate)
    assert rate is not None, "a record has at least one outcome"
    return Outcome(success=rate, cost=number(record.avg_cost), steps=number(record.avg_steps))


def record_of_context(snapshot: Snapshot, context_hash: str, *, without_run: str) -> Record | None:
    """What is known of every choice in the context, whichever skill was chosen, but one run's."""
    every = snapshot.history._over_time((ANY, context_hash), snapshot.history.totals_of_contexts)
    return snapshot._record(every, without_run)
