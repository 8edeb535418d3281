"""What a counterfactual evaluation gives (domain §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from untaken.errors import Finding, Score

DeltaVerdict = Literal["alternative_may_be_better", "actual_was_better", "equivalent", "unknown"]
EvaluationStatus = Literal["evaluated", "skipped", "aborted"]
Support = Literal["none", "weak", "supported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One path not taken.

    Attributes:
        known: false where the memory holds no record of (alternative, context): then every figure is unscored.
        score: counterfactual score of the alternative's history; `delta`: that minus the run's actual score.
        cost_used: false where the cost term was left out on both sides (unpriced), with the weights renormalised.
        advantage, low, high: score of the alternative's history minus that of the selected skill's own history,
            with its 95 % interval; unscored until both have history.
    """

    alternative: str
    known: bool
    n: int
    success_rate: Score
    avg_cost: Score
    avg_steps: Score
    score: Score
    delta: Score
    verdict: DeltaVerdict
    cost_used: bool
    advantage: Score
    low: Score
    high: Score
    support: Support
    support_reason: str
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision point: `decision_point` is the `seq` of its SKILL_SELECTION event."""

    decision_point: int
    selected: str
    context_hash: str
    n_selected: int
    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """An alternative with delta > threshold."""

    run_id: str
    decision_point: int
    selected: str
    alternative: str
    delta: float
    memory_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A weak signal waiting in the queue: `direction` is what it is meant to do to the skill's estimate."""

    key: str
    run_id: str
    decision_point: int
    skill: str
    context_hash: str
    outcome: float
    direction: Literal["negative", "positive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts over one evaluation, or summed over many."""

    decisions: int
    alternatives: int
    alternative_may_be_better: int
    actual_was_better: int
    equivalent: int
    unknown: int
    mean_delta: Score
    max_delta: Score
    signals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvaluation:
    """The counterfactual evaluation of one run.

    Attributes:
        code: ``DTL-STRAT-006`` when aborted, ``insufficient_decision_points`` or ``run_not_finished`` when skipped.
        notes: what was done to keep the comparison honest (own outcome excluded, stale memory, unpriced cost).
    """

    run_id: str
    digest: str
    agent: str
    task_id: str
    status: EvaluationStatus
    code: str | None
    reason: str
    actual_score: Score
    decisions: tuple[Decision, ...]
    insights: tuple[Insight, ...]
    signals: tuple[Signal, ...]
    summary: Summary
    memory_digest: str
    notes: tuple[Finding, ...] = ()
