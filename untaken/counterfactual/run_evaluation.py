"""What the evaluation of a run gives: its outcome, verdicts on paths not taken, counts for telemetry (§2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from math import fsum
from typing import Any, Final, Literal

from msgspec import Struct

from untaken.counterfactual.memory import Signal, priced
from untaken.counterfactual.parts import ScoreParts
from untaken.counterfactual.scoring import Outcome
from untaken.errors import Finding, Score, Unscored, number, reason
from untaken.ledger import Run, SkillSelection

DeltaVerdict = Literal["alternative_may_be_better", "actual_was_better", "equivalent", "unknown"]
EvaluationStatus = Literal["evaluated", "skipped", "aborted"]
Support = Literal["none", "weak", "supported"]
Direction = Literal["better", "worse"]
"""The side of the selected skill's history on which the alternative's is, where that is supported."""

THRESHOLD: Final = 0.1
MAY_BE_BETTER: Final = "alternative_may_be_better"
NOT_COMPARED: Final = Unscored("the histories of both skills were not compared")
ONE_LAYER: Final = Unscored("the context has one layer alone")


def verdict_of(delta: Score, threshold: float = THRESHOLD) -> DeltaVerdict:
    """The verdict on an unrounded delta; exactly ±threshold is ``equivalent`` (§2.4)."""
    if isinstance(delta, Unscored):
        return "unknown"
    if delta > threshold:
        return MAY_BE_BETTER
    return "actual_was_better" if delta < -threshold else "equivalent"


def alternatives_of(selection: SkillSelection) -> tuple[str, ...]:
    """The paths not taken: without the selected skill and duplicates, in the ledger's order."""
    return tuple(dict.fromkeys([name for name in selection.alternatives if name != selection.selected]))


def outcome_of(run: Run, cost_unit: str | None) -> Outcome:
    """The run's own outcome; a cost in another unit than the memory's cannot be compared and is left out.

    Raises:
        ValueError: for a run that did not finish or whose success is unknown.
    """
    finished = run.finished
    if finished is None or isinstance(run.success, Unscored):
        raise ValueError("only finished runs with a known outcome are evaluated")
    comparable = cost_unit is None or finished.cost_unit == cost_unit
    return Outcome(
        success=float(run.success),
        cost=priced(finished) if comparable else None,
        steps=None if finished.steps is None else float(finished.steps),
    )


class Alternative(Struct, frozen=True, kw_only=True, gc=False):
    """One path not taken.

    Attributes:
        known: false where the memory holds no outcome of (alternative, context): then every figure is
            unscored.
        score: counterfactual score of the alternative's history; `delta`: that minus the run's actual score.
        delta_low, delta_high: its 95% interval, the run's own score being known; unscored below two runs.
        cost_used: false where the cost term was left out on both sides (unpriced), with the weights
            renormalised; `steps_used` is the same for steps.
        advantage, low, high: score of the alternative's history minus that of the selected skill's own
            history, with its 95% interval; unscored until both have history.
        actual_score: the run's own score over the terms of this comparison.
        p_better: probability that the advantage exceeds the threshold.
        direction: what is supported: the alternative is ``better`` or ``worse``; ``None`` where nothing is.
        runs: the latest runs behind the alternative's history.
        evidence_from, evidence_to: from when the first and the last of its outcomes were known.
        evidence_age_days: from the last of them to the run's start.
        level: of `levels` layers of the situation, 1 being the finest, the one that the alternative's history
            is from (§2b); ``None`` without a history.
        advantage_level: the one that both histories of the advantage are from; ``None`` without one.
        n_selected: outcomes of the selected skill there; in the finest layer where nothing is known.
        pooled, pooled_low, pooled_high: the advantage from the histories at every level at once, with its
            95% interval (§2c); unscored if there is only one layer.
        strength: runs that a coarser level weighs there; 0 where nothing was pooled.
        parts: what the delta is made of, in units: the alternative's history against the run itself;
            ``None`` without a history.
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
    direction: Direction | None = None
    runs: tuple[str, ...] = ()
    steps_used: bool = True
    p_better: Score = NOT_COMPARED
    actual_score: Score = NOT_COMPARED
    delta_low: Score = NOT_COMPARED
    delta_high: Score = NOT_COMPARED
    evidence_from: datetime | Unscored = NOT_COMPARED
    evidence_to: datetime | Unscored = NOT_COMPARED
    evidence_age_days: Score = NOT_COMPARED
    level: int | None = None
    levels: int = 1
    advantage_level: int | None = None
    n_selected: int = 0
    pooled: Score = ONE_LAYER
    pooled_low: Score = ONE_LAYER
    pooled_high: Score = ONE_LAYER
    strength: int = 0
    parts: ScoreParts | None = None


class Decision(Struct, frozen=True, kw_only=True, gc=False):
    """One decision point: `decision_point` is the `seq` of its SKILL_SELECTION event.

    `n_selected` counts earlier outcomes of the selected skill in this very context, the run's own left out.
    """

    decision_point: int
    selected: str
    context_hash: str
    n_selected: int
    branches: tuple[Alternative, ...]


class Insight(Struct, frozen=True, kw_only=True, gc=False):
    """An alternative with delta > threshold.

    That compares a history with one run; `direction` says what the histories of both skills support.
    """

    run_id: str
    decision_point: int
    selected: str
    alternative: str
    delta: float
    memory_digest: str
    advantage: Score
    support: Support
    direction: Direction | None


class Summary(Struct, frozen=True, kw_only=True):
    """Counts over one evaluation, or summed over many.

    Attributes:
        mean_delta, max_delta: over all branches with a delta.
        runs: evaluations counted; `evaluated`, `skipped` and `aborted` of them.
        codes: (code, runs) for each reason to skip or abort, by code.
    """

    decisions: int
    alternatives: int
    alternative_may_be_better: int
    actual_was_better: int
    equivalent: int
    unknown: int
    mean_delta: Score
    max_delta: Score
    signals: int
    runs: int = 1
    evaluated: int = 1
    skipped: int = 0
    aborted: int = 0
    codes: tuple[tuple[str, int], ...] = ()


class RunEvaluation(Struct, frozen=True, kw_only=True):
    """The counterfactual evaluation of one run.

    Attributes:
        code: ``DTL-STRAT-006`` when aborted; ``insufficient_decision_points``, ``run_not_finished`` or
            ``outcome_unscored`` when skipped.
        memory_digest: of the snapshot compared with; empty where none was.
        notes: what was done to keep the comparison honest (own outcome excluded, stale memory, unpriced
            cost).
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


def summarise(evaluations: Iterable[RunEvaluation]) -> Summary:
    """The counts of many evaluations together."""
    known = list(evaluations)
    decisions = [decision for e in known for decision in e.decisions]
    branches = [branch for decision in decisions for branch in decision.branches]
    return tally(
        [(e.status, e.code) for e in known],
        decisions=len(decisions),
        verdicts=[branch.verdict for branch in branches],
        deltas=[branch.delta for branch in branches if not isinstance(branch.delta, Unscored)],
        signals=sum(len(e.signals) for e in known),
    )


def tally(
    ends: Sequence[tuple[EvaluationStatus, str | None]],
    *,
    decisions: int = 0,
    verdicts: Sequence[DeltaVerdict] = (),
    deltas: Sequence[float] = (),
    signals: int = 0,
) -> Summary:
    """Count how evaluations ended, and the paths not taken at their decisions."""
    nothing = Unscored("no alternative has a delta")
    statuses = [status for status, _ in ends]
    return Summary(
        decisions=decisions,
        alternatives=len(verdicts),
        alternative_may_be_better=verdicts.count("alternative_may_be_better"),
        actual_was_better=verdicts.count("actual_was_better"),
        equivalent=verdicts.count("equivalent"),
        unknown=verdicts.count("unknown"),
        mean_delta=fsum(deltas) / len(deltas) if deltas else nothing,  # exact: the same in any order of runs
        max_delta=max(deltas) if deltas else nothing,
        signals=signals,
        runs=len(ends),
        evaluated=statuses.count("evaluated"),
        skipped=statuses.count("skipped"),
        aborted=statuses.count("aborted"),
        codes=tuple(sorted(Counter(code for _, code in ends if code).items())),
    )


def summary_mapping(summary: Summary) -> dict[str, Any]:
    """The summary as plain JSON types; an unscored number is ``None`` with its reason beside it."""
    plain: dict[str, Any] = {
        "runs": summary.runs,
        "evaluated": summary.evaluated,
        "skipped": summary.skipped,
        "aborted": summary.aborted,
        "codes": dict(summary.codes),
        "decisions": summary.decisions,
        "alternatives": summary.alternatives,
        "alternative_may_be_better": summary.alternative_may_be_better,
        "actual_was_better": summary.actual_was_better,
        "equivalent": summary.equivalent,
        "unknown": summary.unknown,
        "mean_delta": number(summary.mean_delta),
        "max_delta": number(summary.max_delta),
        "signals": summary.signals,
    }
    if (why := reason(summary.mean_delta)) is not None:
        plain |= {"mean_delta_reason": why, "max_delta_reason": why}
    return plain
