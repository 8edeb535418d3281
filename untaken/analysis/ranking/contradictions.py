"""Runs whose outcome bit and sub-goals disagree, the heaviest first (§5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from untaken.analysis.ranking.ranked import Contradiction
from untaken.errors import Unscored
from untaken.scoring import RunScore


def contradictory_runs(scores: Iterable[RunScore]) -> tuple[Contradiction, ...]:
    """Every lucky and unlucky run, by weight, then agent, task and digest."""
    found = [contradiction for score in scores if (contradiction := contradiction_of(score)) is not None]
    return tuple(sorted(found, key=lambda c: (-c.weight, c.agent, c.task_id, c.run_id, c.digest)))


def contradiction_of(score: RunScore) -> Contradiction | None:
    """The contradiction of one run, if it has one.

    A ``lucky`` run weighs its critical sub-goals known not to be completed plus its critical violations: what
    the outcome bit hid. An ``unlucky`` one weighs 1: nothing was missed, so the bit or the graph is wrong.
    """
    if isinstance(score.success, Unscored):
        return None
    if score.success:
        missed = tuple(
            node.sub_goal
            for node in score.results
            if node.critical and node.completed is False and node.status != "not_required"
        )
        broken = sum(violation.kind == "critical" for violation in score.violations)
        return _of(score, "lucky", missed, len(missed) + broken) if missed else None
    whole = score.required > 0 and score.completed == score.required and score.unscored == 0
    return _of(score, "unlucky", (), 1) if whole else None


def _of(
    score: RunScore, kind: Literal["lucky", "unlucky"], sub_goals: tuple[str, ...], weight: int
) -> Contradiction:
    return Contradiction(
        kind=kind,
        run_id=score.run_id,
        digest=score.digest,
        agent=score.agent,
        task_id=score.task_id,
        sub_goals=sub_goals,
        weight=float(weight),
    )
