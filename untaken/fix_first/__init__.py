"""What to fix first: sub-goals and decisions by expected gain, each with its runs (§5)."""

from untaken.fix_first.listing import no_decision, triage, triage_by_agent
from untaken.fix_first.model import Conflict, FailurePattern, FixFirst, Kind, Often, Triage, Unit
from untaken.fix_first.plan_changes import BetterWay, better_ways

__all__ = [
    "BetterWay",
    "Conflict",
    "FailurePattern",
    "FixFirst",
    "Kind",
    "Often",
    "Triage",
    "Unit",
    "better_ways",
    "no_decision",
    "triage",
    "triage_by_agent",
]
