"""Sub-goal scoring: one run against its plan graph, and the runs of each agent together."""

from untaken.subgoals.agents import score_agents
from untaken.subgoals.differences import FieldDifference
from untaken.subgoals.graph_doubts import DOUBTS, GraphDoubt, graph_doubts
from untaken.subgoals.model import (
    AgentScore,
    Diagnosis,
    MissingRule,
    NodeScore,
    RunScore,
    Status,
    Violation,
)
from untaken.subgoals.scoring import score_outcome, score_run

__all__ = [
    "DOUBTS",
    "AgentScore",
    "Diagnosis",
    "FieldDifference",
    "GraphDoubt",
    "MissingRule",
    "NodeScore",
    "RunScore",
    "Status",
    "Violation",
    "graph_doubts",
    "score_agents",
    "score_outcome",
    "score_run",
]
