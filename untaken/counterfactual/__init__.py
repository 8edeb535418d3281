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
from untaken.counterfactual.levels import coarse_contexts as coarse_contexts, level_words as level_words
from untaken.counterfactual.run_evaluation import (
    Alternative as Alternative,
    Decision as Decision,
    EvaluationStatus as EvaluationStatus,
    Insight as Insight,
    RunEvaluation as RunEvaluation,
    Summary as Summary,
    Support as Support,
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
from untaken.counterfactual.paths import (
    THRESHOLD as THRESHOLD,
    alternatives_of as alternatives_of,
    verdict_of as verdict_of,
)
from untaken.counterfactual.scoring import (
    Outcome as Outcome,
    Scale as Scale,
    Terms as Terms,
    Weights as Weights,
    score as score,
)
from untaken.counterfactual.run_evaluation import summarise as summarise, summary_mapping as summary_mapping
from untaken.counterfactual.memory import Signal as Signal, as_observation as as_observation

if TYPE_CHECKING:
    from untaken.counterfactual.choices_gathered import choices as choices

__getattr__, __dir__ = imported_on_first_use(__name__)
