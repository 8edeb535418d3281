"""Counterfactual evaluation from ledgers alone (§2 of docs/concepts.md)."""

from untaken.counterfactual.choices import Choice, Point, choices
from untaken.counterfactual.decisions import THRESHOLD, alternatives_of, verdict_of
from untaken.counterfactual.evaluate import abort_unread, evaluate_run
from untaken.counterfactual.insights import (
    OUTCOMES,
    gather_signals,
    insight_events,
    insight_mapping,
    insights_bytes,
    signals_of,
)
from untaken.counterfactual.model import (
    Branch,
    Decision,
    DeltaVerdict,
    EvaluationStatus,
    Insight,
    RunEvaluation,
    Summary,
    Support,
)
from untaken.counterfactual.scoring import Outcome, Scale, Terms, Weights, score
from untaken.counterfactual.summary import summarise, summary_mapping
from untaken.memory import Signal, as_observation

__all__ = [
    "OUTCOMES",
    "THRESHOLD",
    "Branch",
    "Choice",
    "Decision",
    "DeltaVerdict",
    "EvaluationStatus",
    "Insight",
    "Outcome",
    "Point",
    "RunEvaluation",
    "Scale",
    "Signal",
    "Summary",
    "Support",
    "Terms",
    "Weights",
    "abort_unread",
    "alternatives_of",
    "as_observation",
    "choices",
    "evaluate_run",
    "gather_signals",
    "insight_events",
    "insight_mapping",
    "insights_bytes",
    "score",
    "signals_of",
    "summarise",
    "summary_mapping",
    "verdict_of",
]
