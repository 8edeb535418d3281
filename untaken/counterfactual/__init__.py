"""Counterfactual evaluation from ledgers alone (§2 of docs/concepts.md)."""

from untaken.counterfactual.balance import Balance
from untaken.counterfactual.choices import SMALL_Q, Choice, Point, choices
from untaken.counterfactual.diagnostics import (
    Diagnostics,
    Influence,
    Placebo,
    diagnose,
    influence,
    placebo,
)
from untaken.counterfactual.evaluate import Evaluations, abort_unread, evaluate_run, evaluate_runs
from untaken.counterfactual.insights import (
    OUTCOMES,
    collect_signals,
    insight_events,
    insight_mapping,
    insights_bytes,
    signals_of,
)
from untaken.counterfactual.levels import coarse_contexts, level_words
from untaken.counterfactual.model import (
    Alternative,
    Decision,
    DeltaVerdict,
    Direction,
    EvaluationStatus,
    Insight,
    RunEvaluation,
    Summary,
    Support,
)
from untaken.counterfactual.off_policy import (
    ASSOCIATION,
    FROM_ODDS,
    LoggedChoice,
    OffPolicy,
    OffPolicyContrast,
    contrast,
    logged_choices,
    off_policy,
)
from untaken.counterfactual.paths import THRESHOLD, alternatives_of, verdict_of
from untaken.counterfactual.scoring import Outcome, Scale, Terms, Weights, score
from untaken.counterfactual.summary import summarise, summary_mapping
from untaken.memory import Signal, as_observation

__all__ = [
    "ASSOCIATION",
    "FROM_ODDS",
    "OUTCOMES",
    "SMALL_Q",
    "THRESHOLD",
    "Alternative",
    "Balance",
    "Choice",
    "Decision",
    "DeltaVerdict",
    "Diagnostics",
    "Direction",
    "EvaluationStatus",
    "Evaluations",
    "Influence",
    "Insight",
    "LoggedChoice",
    "OffPolicy",
    "OffPolicyContrast",
    "Outcome",
    "Placebo",
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
    "coarse_contexts",
    "collect_signals",
    "contrast",
    "diagnose",
    "evaluate_run",
    "evaluate_runs",
    "influence",
    "insight_events",
    "insight_mapping",
    "insights_bytes",
    "level_words",
    "logged_choices",
    "off_policy",
    "placebo",
    "score",
    "signals_of",
    "summarise",
    "summary_mapping",
    "verdict_of",
]
