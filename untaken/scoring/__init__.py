"""Sub-goal scoring: one run against its plan graph, and the runs of each agent together."""

from untaken.scoring.agents import score_agents as score_agents
from untaken.scoring.differences import FieldDifference as FieldDifference
from untaken.scoring.graph_doubts import (
    DOUBTS as DOUBTS,
    GraphDoubt as GraphDoubt,
    graph_doubts as graph_doubts,
)
from untaken.scoring.run_score import (
    AgentScore as AgentScore,
    Diagnosis as Diagnosis,
    MissingRule as MissingRule,
    NodeResult as NodeResult,
    NodeScore as NodeScore,
    RunScore as RunScore,
    ScoreDetail as ScoreDetail,
    Status as Status,
    Violation as Violation,
)
from untaken.scoring.scoring import (
    recounted as recounted,
    score_outcome as score_outcome,
    score_run as score_run,
    score_together as score_together,
)
