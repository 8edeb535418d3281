"""Which runs failed at a sub-goal and which passed it, and up to when each is looked at (§5)."""

from __future__ import annotations

from dataclasses import dataclass

from untaken.ledger import Run
from untaken.plans.plan_graph import SubGoal


@dataclass(frozen=True, slots=True, kw_only=True)
class BlamedRun:
    """A failed run and the sub-goal at which it failed first.

    Attributes:
        events: `seq` of its attempts at the sub-goal; none where it was never attempted.
        moment: what comes after this `seq` cannot have caused the failure.
    """

    run: Run
    node: SubGoal
    events: tuple[int, ...]
    moment: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedRun:
    """A run that completed the sub-goal: `first` and `last` are the `seq` of its attempts at it."""

    run: Run
    first: float
    last: float
