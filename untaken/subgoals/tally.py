"""Counts and rates of one run (§4)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from untaken.errors import Score, Unscored
from untaken.subgoals.model import MissingRule, NodeScore, counted_nodes


class Tally(Struct, frozen=True, kw_only=True, gc=False):
    """The fields of `RunScore` of the same names; `nodes` are the sub-goals that count."""

    nodes: tuple[NodeScore, ...]
    attempted: int | Unscored
    completed: int
    unscored: int
    critical: int
    critical_completed: int
    critical_skipped: int
    coverage: Score
    completion: Score
    critical_completion: Score

    @classmethod
    def of(cls, nodes: tuple[NodeScore, ...], missing: MissingRule) -> Tally:
        """Count a run's sub-goals under a rule for the unscored ones."""
        counted = counted_nodes(nodes, missing)
        critical = [node for node in counted if node.critical]
        attempted, known = attempts_known(counted)
        completed = _completed(counted)
        critical_completed = _completed(critical)
        none = _nothing_counts(nodes)
        no_attempts = "no required sub-goal's attempts are known" if counted else none
        return cls(
            nodes=counted,
            attempted=attempted if known else Unscored(no_attempts),
            completed=completed,
            unscored=[node.status for node in nodes].count("unscored"),
            critical=len(critical),
            critical_completed=critical_completed,
            critical_skipped=len([n for n in critical if n.attempted is False and not n.completed]),
            coverage=rate(attempted, known, no_attempts),
            completion=rate(completed, len(counted), none),
            critical_completion=rate(
                critical_completed, len(critical), "no critical sub-goal is required" if counted else none
            ),
        )


def attempts_known(nodes: Sequence[NodeScore]) -> tuple[int, int]:
    """How many were attempted, among how many whose attempts are known."""
    made = [node.attempted for node in nodes]
    return made.count(True), len(made) - made.count(None)


def _completed(nodes: Sequence[NodeScore]) -> int:
    return [node.completed for node in nodes].count(True)


def rate(part: int, whole: int, otherwise: str) -> Score:
    """A share, or why there is none."""
    return part / whole if whole else Unscored(otherwise)


def _nothing_counts(nodes: tuple[NodeScore, ...]) -> str:
    if not nodes:
        return "nothing is expected of this run: its graph has no sub-goals"
    return "every required sub-goal is unscored, and unscored ones are dropped"
