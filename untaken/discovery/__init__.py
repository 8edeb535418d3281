"""Discovery: a draft of a plan graph from runs that succeeded; nothing is accepted without a person (§4)."""

from untaken.discovery.draft import Source, discover
from untaken.discovery.model import Alternatives, FoundSubGoal, ProposedGraph, Support

__all__ = ["Alternatives", "FoundSubGoal", "ProposedGraph", "Source", "Support", "discover"]
