"""Plan decisions: what other runs of the same task did in the same state of the plan (§2d)."""

from untaken.counterfactual.plan.card import (
    CalibrationCard as CalibrationCard,
    ReliabilityBin as ReliabilityBin,
    SupportClass as SupportClass,
    calibration_card as calibration_card,
)
from untaken.counterfactual.plan.changes import (
    Option as Option,
    PlanDecision as PlanDecision,
    PlanPath as PlanPath,
    PlanState as PlanState,
    plan_paths as plan_paths,
)
from untaken.counterfactual.plan.evaluate import (
    EvaluatedDecision as EvaluatedDecision,
    EvaluatedPath as EvaluatedPath,
    PlanAlternative as PlanAlternative,
    PlanEvaluation as PlanEvaluation,
    evaluate_plans as evaluate_plans,
)
from untaken.counterfactual.plan.forecast import Forecaster as Forecaster
from untaken.counterfactual.plan.statements import Situation as Situation, Statement as Statement
