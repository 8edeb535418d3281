"""What to fix first: sub-goals and decisions by expected gain, each with its runs (§5)."""

from untaken.fix_first.listing import no_decision, triage, triage_by_agent
from untaken.fix_first.model import FixFirst, Kind, Often, Triage, Unit

__all__ = ["FixFirst", "Kind", "Often", "Triage", "Unit", "no_decision", "triage", "triage_by_agent"]
