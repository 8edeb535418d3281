"""Counts and rates of one run (§4)."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from msgspec import Struct

from untaken.errors import Score, Unscored
from untaken.scoring.run_score import ENDED_OUTSIDE, MissingRule, NodeResult, counted_nodes


class Tally(Struct, frozen=True, kw_only=True, gc=False):
    """The fields of `RunScore` of the same names."""

    required: int
    attempted: int | Unscored
    completed: int
    unscored: int
    critical: int
    critical_completed: int
    critical_skipped: int
    coverage: Score
    completion: Score
    completion_weighted: Score
    critical_completion: Score

    @classmethod
    def of(cls, nodes: tuple[NodeResult, ...], missing: MissingRule) -> Tally:
        """Count a run's sub-goals under a rule for the unscored ones."""
        counted = counted_nodes(nodes, missing)
        critical = [node for node in counted if node.critical]
        attempted, known = attempts_known(counted)
        completed = _completed(counted)
        critical_completed = _completed(critical)
        none = _nothing_counts(nodes)
        no_attempts = "no required sub-goal's attempts are known" if counted else none
        return cls(
            required=len(counted),
            attempted=attempted if known else Unscored(no_attempts),
            completed=completed,
            unscored=len([n for n in nodes if n.counts and not n.groups and n.status == "unscored"]),
            critical=len(critical),
            critical_completed=critical_completed,
            critical_skipped=len([n for n in critical if n.attempted is False and not n.completed]),
            coverage=rate(attempted, len(counted), no_attempts) if known else Unscored(no_attempts),
            completion=rate(completed, len(counted), none),
            completion_weighted=weighted_completion(counted, none),
            critical_completion=rate(
                critical_completed, len(critical), "no critical sub-goal is required" if counted else none
            ),
        )


def weighted_completion(nodes: Sequence[NodeResult], otherwise: str) -> Score:
    """Weight completed over weight required, or why there is none."""
    required = fsum(node.weight for node in nodes)
    if nodes and not required:
        return Unscored("every required sub-goal has the weight 0")
    return rate(fsum(node.weight for node in nodes if node.completed), required, otherwise)


def attempts_known(nodes: Sequence[NodeResult]) -> tuple[int, int]:
    """How many were attempted, and of how many that can be known at all."""
    made = [node.attempted for node in nodes]
    return made.count(True), len(made) - made.count(None)


def _completed(nodes: Sequence[NodeResult]) -> int:
    return [node.completed for node in nodes].count(True)


def rate(part: float, whole: float, otherwise: str) -> Score:
    """A share, or why there is none."""
    return part / whole if whole else Unscored(otherwise)


def _nothing_counts(nodes: tuple[NodeResult, ...]) -> str:
    if not nodes:
        return "this run has no expectations: its graph has no sub-goals"
    if not any(node.counts for node in nodes):
        return ENDED_OUTSIDE
    if any(node.left_out for node in nodes):
        return "every required sub-goal is unscored, as verdicts that would decide it are left out"
    return "every required sub-goal is unscored, and unscored ones are dropped"
