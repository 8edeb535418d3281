"""Discovery: a draft of a plan graph from runs that succeeded; nothing is accepted without a person (§4)."""

from untaken.discovery.draft import Source as Source, discover as discover
from untaken.discovery.proposed_graph import (
    Alternatives as Alternatives,
    FoundSubGoal as FoundSubGoal,
    ProposedGraph as ProposedGraph,
    Support as Support,
)
