"""What an evaluation leaves behind: insights for the ledger, weak signals for the memory's queue (§2.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import rfc8785

from untaken.counterfactual.memory import Direction, Signal
from untaken.counterfactual.run_evaluation import (
    MAY_BE_BETTER,
    Decision,
    Insight,
    RunEvaluation,
    summary_mapping,
)
from untaken.errors import Unscored, number
from untaken.ledger import CounterfactualInsight, Draft, EvaluationSummary, Run

OUTCOMES: Final[dict[Direction, float]] = {"negative": 0.7, "positive": 0.6}
"""What a weak signal claims for the selected skill and for the alternative."""


def insights_of(run_id: str, decisions: Sequence[Decision], memory_digest: str) -> tuple[Insight, ...]:
    """One insight for each alternative that may have been better, by decision point, then alternative."""
    return tuple(
        Insight(
            run_id=run_id,
            decision_point=decision.decision_point,
            selected=decision.selected,
            alternative=branch.alternative,
            delta=branch.delta,
            memory_digest=memory_digest,
            advantage=branch.advantage,
            support=branch.support,
            direction=branch.direction,
        )
        for decision in decisions
        for branch in decision.branches
        if branch.verdict == MAY_BE_BETTER and not isinstance(branch.delta, Unscored)
    )


class BetterPath(NamedTuple):
    """A path not taken with delta > threshold; `supported`: as better, by the histories of both skills."""

    decision_point: int
    context_hash: str
    selected: str
    alternative: str
    delta: float
    supported: bool


def signals_of(run_id: str, paths: Iterable[BetterPath], ended: datetime) -> tuple[Signal, ...]:
    """The weak signals of a run's insights: one negative a decision point, one positive an alternative."""
    behind: dict[tuple[int, Direction, str], list[BetterPath]] = {}
    for path in paths:
        behind.setdefault((path.decision_point, "negative", path.selected), []).append(path)
        behind.setdefault((path.decision_point, "positive", path.alternative), []).append(path)
    return tuple(
        _signal(run_id, some, skill, direction, ended.astimezone(UTC))
        for (_, direction, skill), some in behind.items()
    )


def signals_expected(points: Sequence[object]) -> int:
    """How many `signals_of` makes of insights, each given by its decision point."""
    return len(points) + len(set(points))


class RunSignals(NamedTuple):
    """The weak signals of one run."""

    run_id: str
    digest: str
    signals: tuple[Signal, ...]


def collect_signals(evaluations: Iterable[RunEvaluation | RunSignals]) -> tuple[Signal, ...]:
    """The weak signals of many evaluations, by key, whatever order these come in."""
    by_run: dict[str, list[RunEvaluation | RunSignals]] = {}
    for evaluation in evaluations:
        if evaluation.signals:
            by_run.setdefault(evaluation.run_id, []).append(evaluation)
    # Of two runs under one id the one that finished first counts, as in the memory.
    chosen = (min(some, key=lambda e: (e.signals[0].ended, e.digest)) for some in by_run.values())
    return tuple(sorted((signal for one in chosen for signal in one.signals), key=lambda s: s.key))


def insight_events(run: Run, evaluation: RunEvaluation) -> tuple[Draft, ...]:
    """What to append to the run's ledger: its insights, then one summary.

    Nothing where the evaluation was skipped or aborted, and nothing where the ledger holds an evaluation
    already. The events carry the moment of the run's last one, not that of the evaluation.
    """
    held = any(isinstance(event, CounterfactualInsight | EvaluationSummary) for event in run.events)
    if held or evaluation.status != "evaluated":
        return ()
    # No clock: the same ledger and memory give the same bytes whenever they are evaluated.
    digest, ts = evaluation.memory_digest, run.events[-1].ts
    summary = {"summary": summary_mapping(evaluation.summary), "memory_digest": digest}
    insights = [Draft(CounterfactualInsight, insight_mapping(insight), ts) for insight in evaluation.insights]
    return *insights, Draft(EvaluationSummary, summary, ts)


def insight_mapping(insight: Insight) -> dict[str, Any]:
    """The fields of a COUNTERFACTUAL_INSIGHT event."""
    return {
        "decision_point": insight.decision_point,
        "selected": insight.selected,
        "alternative": insight.alternative,
        "delta": insight.delta,
        "advantage": number(insight.advantage),
        "support": insight.support,
        "direction": insight.direction,
        "memory_digest": insight.memory_digest,
    }


def insights_bytes(evaluation: RunEvaluation) -> bytes:
    """The insights as canonical JSON (RFC 8785: sorted keys, one spelling for every number)."""
    return rfc8785.dumps([insight_mapping(insight) for insight in evaluation.insights])


def _signal(
    run_id: str, behind: Sequence[BetterPath], skill: str, direction: Direction, ended: datetime
) -> Signal:
    first = behind[0]
    place = f"{run_id}/{first.decision_point:07d}"  # padded, so that keys sort by decision point
    return Signal(
        key=f"weak/{place}/{direction}/{_quoted(skill)}",
        run_id=run_id,
        decision_point=first.decision_point,
        skill=skill,
        context_hash=first.context_hash,
        outcome=OUTCOMES[direction],
        direction=direction,
        supported=any(path.supported for path in behind),
        delta=max(path.delta for path in behind),
        ended=ended,
    )


@lru_cache(maxsize=1024)
def _quoted(skill: str) -> str:
    """The skill without any "/", which could make two signals share a key."""
    return quote(skill, safe="")
