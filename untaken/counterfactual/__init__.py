"""Counterfactual evaluation from ledgers alone (§2 of docs/concepts.md)."""

from typing import TYPE_CHECKING

from untaken.lazy_imports import imported_on_first_use

from untaken.counterfactual.balance import Balance as Balance
from untaken.counterfactual.choice import SMALL_Q as SMALL_Q, Choice as Choice, Point as Point
from untaken.counterfactual.diagnostics import (
    Diagnostics as Diagnostics,
    Influence as Influence,
    Placebo as Placebo,
    diagnose as diagnose,
    influence as influence,
    placebo as placebo,
)
from untaken.counterfactual.evaluate import (
    Evaluations as Evaluations,
    abort_unread as abort_unread,
    evaluate_run as evaluate_run,
    evaluate_runs as evaluate_runs,
)
from untaken.counterfactual.insights import (
    OUTCOMES as OUTCOMES,
    collect_signals as collect_signals,
    insight_events as insight_events,
    insights_bytes as insights_bytes,
)
from untaken.counterfactual.levels import (
    coarse_contexts as coarse_contexts,
    context_words as context_words,
    level_words as level_words,
)
from untaken.counterfactual.run_evaluation import (
    THRESHOLD as THRESHOLD,
    Alternative as Alternative,
    Decision as Decision,
    EvaluationStatus as EvaluationStatus,
    Insight as Insight,
    RunEvaluation as RunEvaluation,
    Summary as Summary,
    Support as Support,
    alternatives_of as alternatives_of,
    outcome_of as outcome_of,
    summarise as summarise,
    summary_mapping as summary_mapping,
    verdict_of as verdict_of,
)
from untaken.counterfactual.off_policy import (
    ASSOCIATION as ASSOCIATION,
    FROM_ODDS as FROM_ODDS,
    LoggedChoice as LoggedChoice,
    OffPolicyContrast as OffPolicyContrast,
    contrast as contrast,
    logged_choices as logged_choices,
    off_policy as off_policy,
)
from untaken.counterfactual.parts import (
    ScorePart as ScorePart,
    ScoreParts as ScoreParts,
    power_words as power_words,
)
from untaken.counterfactual.scoring import (
    Outcome as Outcome,
    Scale as Scale,
    Terms as Terms,
    Weights as Weights,
    score as score,
)
from untaken.counterfactual.memory import Signal as Signal, as_observation as as_observation

# fmt: off
if TYPE_CHECKING:
    from untaken.counterfactual.choice import ChoiceSide as ChoiceSide, Points as Points
    from untaken.counterfactual.choices_gathered import Choices as Choices, choices as choices
    from untaken.counterfactual.critical import CriticalCost as CriticalCost, critical_costs as critical_costs
    from untaken.counterfactual.evaluate import ABORTED as ABORTED
    from untaken.counterfactual.memory.record import (
        Interval as Interval, cost_interval as cost_interval, steps_interval as steps_interval,
        success_interval as success_interval,
    )
    from untaken.counterfactual.memory.observing import COPIES as COPIES, priced as priced
    from untaken.counterfactual.memory.policy import (
        Memories as Memories, PolicyMemory as PolicyMemory, by_memory as by_memory,
    )
    from untaken.counterfactual.memory.preview import Effect as Effect, Flag as Flag, preview as preview
    from untaken.counterfactual.memory.queue import (
        Applied as Applied, applied_digest as applied_digest, applied_signals as applied_signals,
        apply_signals as apply_signals, fold_in as fold_in, queue_signals as queue_signals,
        read_queue as read_queue, waiting_signals as waiting_signals,
    )
    from untaken.counterfactual.memory.rebuild import (
        Difference as Difference, rebuild_memory as rebuild_memory, verify_memory as verify_memory,
    )
    from untaken.counterfactual.memory.record import (
        Observed as Observed, Record as Record, ValueRange as ValueRange,
    )
    from untaken.counterfactual.memory.snapshot import Snapshot as Snapshot
    from untaken.counterfactual.memory.sums import Sums as Sums
    from untaken.counterfactual.paths import PathColumns as PathColumns, VERDICTS as VERDICTS
    from untaken.counterfactual.plan.card import (
        CalibrationCard as CalibrationCard, ReliabilityBin as ReliabilityBin,
        calibration_card as calibration_card,
    )
    from untaken.counterfactual.plan.changes import (
        Option as Option, OptionKind as OptionKind, PlanChange as PlanChange, PlanDecision as PlanDecision,
        PlanState as PlanState, plan_changes as plan_changes, why_silent as why_silent,
    )
    from untaken.counterfactual.plan.evaluate import (
        EvaluatedDecision as EvaluatedDecision, EvaluatedPath as EvaluatedPath,
        PlanAlternative as PlanAlternative, PlanEvaluation as PlanEvaluation,
    )
    from untaken.counterfactual.plan.scored import (
        plan_evaluation as plan_evaluation, same_decisions as same_decisions,
    )
    from untaken.counterfactual.plan.statements import Situation as Situation, Statement as Statement
    from untaken.counterfactual.run_evaluation import DeltaVerdict as DeltaVerdict
    from untaken.counterfactual.words import N_MIN as N_MIN, time_words as time_words
# fmt: on

__getattr__, __dir__ = imported_on_first_use(__name__)
