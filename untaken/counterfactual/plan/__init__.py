"""Plan decisions: what other runs of the same task did in the same state of the plan (§2d)."""

from untaken.counterfactual.plan.card import (
    CalibrationCard,
    ReliabilityBin,
    SupportClass,
    calibration_card,
)
from untaken.counterfactual.plan.changes import (
    HAND_OVER,
    Option,
    OptionKind,
    PlanDecision,
    PlanPath,
    PlanState,
    plan_paths,
)
from untaken.counterfactual.plan.evaluate import (
    EvaluatedDecision,
    EvaluatedPath,
    PlanAlternative,
    PlanEvaluation,
    evaluate_plans,
)
from untaken.counterfactual.plan.forecast import Forecaster
from untaken.counterfactual.plan.statements import LAYERS, Label, Situation, Statement

__all__ = [
    "HAND_OVER",
    "LAYERS",
    "CalibrationCard",
    "EvaluatedDecision",
    "EvaluatedPath",
    "Forecaster",
    "Label",
    "Option",
    "OptionKind",
    "PlanAlternative",
    "PlanDecision",
    "PlanEvaluation",
    "PlanPath",
    "PlanState",
    "ReliabilityBin",
    "Situation",
    "Statement",
    "SupportClass",
    "calibration_card",
    "evaluate_plans",
    "plan_paths",
]
