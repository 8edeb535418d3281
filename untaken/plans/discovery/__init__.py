"""Discovery: a draft of a plan graph from runs that succeeded; nothing is accepted without a person (§4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untaken.plans.discovery.calls import MIN_SUCCESSES as MIN_SUCCESSES
from untaken.plans.discovery.families import TaskFamily as TaskFamily, task_families as task_families
from untaken.plans.discovery.first_attempts import teaches as teaches, unusable as unusable
from untaken.plans.discovery.proposed_graph import (
    MIN_RUNS as MIN_RUNS,
    MIN_SHARE as MIN_SHARE,
    THETA as THETA,
    Alternatives as Alternatives,
    FoundSubGoal as FoundSubGoal,
    ProposedGraph as ProposedGraph,
    SharedCall as SharedCall,
    Source as Source,
    Support as Support,
)
from untaken.lazy_imports import imported_on_first_use

if TYPE_CHECKING:
    from untaken.plans.discovery.draft import discover as discover

# It computes, and NumPy is slow to load.
__getattr__, __dir__ = imported_on_first_use(__name__)
