"""Counts of an evaluation, for telemetry (§2.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import fsum
from typing import Any

from untaken.counterfactual.run_evaluation import DeltaVerdict, EvaluationStatus, RunEvaluation, Summary
from untaken.errors import Unscored, number, reason


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
        mean_delta=fsum(deltas) / len(deltas) if deltas else nothing,
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
