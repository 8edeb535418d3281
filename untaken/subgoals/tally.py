"""Counts and rates of one run (§4)."""

from __future__ import annotations

from dataclasses import dataclass

from untaken.errors import Score, Unscored
from untaken.subgoals.model import MissingRule, NodeScore, counted_nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The fields of `RunScore` of the same names; `nodes` are the sub-goals that count."""

    nodes: tuple[NodeScore, ...]
    attempted: int
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
        completed = sum(node.completed is True for node in counted)
        critical_completed = sum(node.completed is True for node in critical)
        none = _nothing_counts(nodes)
        return cls(
            nodes=counted,
            attempted=attempted,
            completed=completed,
            unscored=sum(node.status == "unscored" for node in nodes),
            critical=len(critical),
            critical_completed=critical_completed,
            critical_skipped=sum(node.attempted is False and not node.completed for node in critical),
            coverage=rate(attempted, known, "no required sub-goal's attempts are known" if counted else none),
            completion=rate(completed, len(counted), none),
            critical_completion=rate(
                critical_completed, len(critical), "no critical sub-goal is required" if counted else none
            ),
        )


def attempts_known(nodes: tuple[NodeScore, ...]) -> tuple[int, int]:
    """How many were attempted, among how many whose attempts are known."""
    return sum(node.attempted is True for node in nodes), sum(node.attempted is not None for node in nodes)


def rate(part: int, whole: int, otherwise: str) -> Score:
    """A share, or why there is none."""
    return part / whole if whole else Unscored(otherwise)


def _nothing_counts(nodes: tuple[NodeScore, ...]) -> str:
    if not nodes:
        return "nothing is expected of this run: its graph has no sub-goals"
    return "every required sub-goal is unscored, and unscored ones are dropped"
