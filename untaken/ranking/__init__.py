"""Rankings by outcome and by sub-goals, how well they agree, and where the outcome misleads."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from untaken.ranking.comparisons import (
    Comparison,
    PairedDifference,
    PassK,
    QuadrantPoint,
    RuleChange,
    RuleEffect,
    RuleFlip,
    RunContribution,
    SubGoalGap,
    TaskGap,
    WorkflowVerdict,
)
from untaken.ranking.contradictions import contradictory_runs
from untaken.ranking.groups import Group, comparable_groups
from untaken.ranking.metrics import HEADLINE, METRICS, OUTCOME, Metric, metric_words
from untaken.ranking.model import (
    Agreement,
    Bootstrap,
    Contradiction,
    DiscordantPair,
    RankedAgent,
)
from untaken.ranking.pass_k import pass_hat_k
from untaken.ranking.pooled import pooled_reversals
from untaken.ranking.rank_report import RankReport
from untaken.ranking.rules import rule_effect

if TYPE_CHECKING:
    from untaken.ranking.rank import rank_agents, rank_comparable

__all__ = [
    "HEADLINE",
    "METRICS",
    "OUTCOME",
    "Agreement",
    "Bootstrap",
    "Comparison",
    "Contradiction",
    "DiscordantPair",
    "Group",
    "Metric",
    "PairedDifference",
    "PassK",
    "QuadrantPoint",
    "RankReport",
    "RankedAgent",
    "RuleChange",
    "RuleEffect",
    "RuleFlip",
    "RunContribution",
    "SubGoalGap",
    "TaskGap",
    "WorkflowVerdict",
    "comparable_groups",
    "contradictory_runs",
    "metric_words",
    "pass_hat_k",
    "pooled_reversals",
    "rank_agents",
    "rank_comparable",
    "rule_effect",
]

_NUMERIC: Final = {
    "rank_agents": "rank",
    "rank_comparable": "rank",
}


def __getattr__(name: str) -> Any:
    """Loads what computes, and NumPy with it, when it is first asked for."""
    if name not in _NUMERIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_NUMERIC[name]}"), name)
