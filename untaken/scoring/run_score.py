"""What scoring a run against a plan graph gives (§4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct, structs

from untaken.errors import Finding, Score, Unscored
from untaken.scoring.differences import FieldDifference
from untaken.scoring.missed import MissedBy

Status = Literal["completed", "attempted", "skipped", "unscored", "not_required"]
Diagnosis = Literal["clean", "inside", "skipping", "violation", "not_detecting_errors", "unscored"]
MissingRule = Literal["fail", "drop"]


ENDED_OUTSIDE: Final = "an error of the provider or the environment ended the run, not the agent"
"""Why nothing of such a run is scored."""


class NodeResult(Struct, frozen=True, kw_only=True, gc=False):
    """How one sub-goal ended in one run; what every rate counts. Runs that end alike share it.

    Attributes:
        attempted: ``None`` where the ledger cannot tell (no actions recorded, or nothing maps to it).
        completed: ``None`` where there is no evidence either way.
        weight: in `completion_weighted`.
        groups: ids of the `any_of` groups that list it: they count instead of it.
        counts: false where the run says nothing about the agent: its provider or its environment ended it.
        holds: its check holds, but no mapped action was seen: the plan is the cause, never the agent.
        left_out: a verdict that would decide it is left out by a ``!`` glob: unscored under every rule.
    """

    sub_goal: str
    title: str
    critical: bool
    status: Status
    attempted: bool | None
    completed: bool | None
    weight: float = 1.0
    groups: tuple[str, ...] = ()
    holds: bool = False
    counts: bool = True
    left_out: bool = False


class NodeScore(NodeResult, frozen=True, kw_only=True, gc=False):
    """One sub-goal in one run: its result, and what that rests on.

    Attributes:
        decided_by: ``expr``, ``tool_call``, ``outcome``, ``any_of``, ``verdict:<by>`` or ``none``.
        reason: the result in words; for an unscored node, why, and what is missing.
        events: `seq` of each action mapped to it.
        evidence: `seq` of what decided it (matching call, verdict, ...).
        completed_at: `seq` after which it was completed, where a moment is known.
        differences: of a failed check, what it expects beside what the run holds, field by field.
        nearest: `seq` of the call that `differences` looks at.
        unanchored: met by a judge's word alone, on a sub-goal that says nothing about which results a quote
            must be from (`SubGoal.anchored`).
        missed: of a sub-goal without any action, which is likelier the cause: the agent, the mapping, or the
            plan, which asks for an action though its check holds.
    """

    decided_by: str
    reason: str
    events: tuple[int, ...] = ()
    evidence: tuple[int, ...] = ()
    completed_at: int | None = None
    differences: tuple[FieldDifference, ...] = ()
    nearest: int | None = None
    unanchored: bool = False
    missed: MissedBy | None = None


N = TypeVar("N", bound=NodeResult)


def counted_nodes(nodes: tuple[N, ...], missing: MissingRule) -> tuple[N, ...]:
    """The requirements of a run, the one denominator of every rate: under ``drop`` without the unscored.

    What is unscored because its verdict is left out is never counted as failed.
    """
    left_out = ("not_required", "unscored") if missing == "drop" else ("not_required",)
    # A group and the option that was used are one requirement: the group counts for both.
    counted = tuple(
        [n for n in nodes if n.counts and not n.left_out and not n.groups and n.status not in left_out]
    )
    if True not in [node.critical and bool(node.groups) for node in nodes]:  # most plans have no such option
        return counted
    critical = _with_critical_options(nodes)
    return tuple(
        structs.replace(node, critical=True) if node.sub_goal in critical else node for node in counted
    )


def _with_critical_options(nodes: tuple[NodeResult, ...]) -> set[str]:
    """The groups that a critical option was used for, at any depth of groups in groups."""
    groups_of = {node.sub_goal: node.groups for node in nodes if node.status != "not_required"}
    pending = [node.sub_goal for node in nodes if node.critical]
    found: set[str] = set()
    while pending:
        groups = set(groups_of.get(pending.pop(), ())) - found  # one may be reached in several ways
        found |= groups
        pending += groups
    return found


class Violation(Struct, frozen=True, kw_only=True, gc=False):
    """`sub_goal` was reached, `dependency` was not completed (``critical``) or not started (``order``)."""

    kind: Literal["critical", "order"]
    sub_goal: str
    dependency: str
    message: str


class ScoreDetail(Struct, frozen=True, kw_only=True, gc=False):
    """What of a run's score no rate needs: the fields of `RunScore` of the same names."""

    nodes: tuple[NodeScore, ...]
    progress: tuple[tuple[int, int], ...]


class DetailLater:
    """A run's `ScoreDetail`, worked out from its record when somebody looks, and kept."""

    __slots__ = ("_held",)

    def __init__(self, held: ScoreDetail | Callable[[], ScoreDetail]) -> None:
        self._held = held

    @property
    def held(self) -> ScoreDetail | Callable[[], ScoreDetail]:
        """The detail, where it is known, or what it is worked out by."""
        return self._held

    @property
    def known(self) -> ScoreDetail:
        """The detail."""
        held = self._held
        if not isinstance(held, ScoreDetail):
            held = self._held = held()
        return held

    def apart(self) -> DetailLater:
        """The same, kept by itself: what it works out is let go with it."""
        return DetailLater(self._held)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DetailLater) and self.known == other.known

    def __hash__(self) -> int:
        return hash(self.known)

    def __repr__(self) -> str:
        return repr(self.known)

    def __reduce__(self) -> tuple[Any, ...]:
        """Other processes get the detail, not the events that it is worked out from."""
        return DetailLater, (self.known,)


class RunScore(Struct, frozen=True, kw_only=True, gc=False):
    """One run against its plan graph. Rates are unscored, with a reason, where their denominator is 0.

    Attributes:
        results: how each sub-goal ended, in graph order; `nodes` say in words, too, what that rests on.
        completed_at: of each of them, `seq` after which it was completed, where a moment is known.
        detail: `nodes` and `progress`, worked out when one of them is asked for.
        graph_id, graph_version: of its plan graph; empty and 0 for a run that only its outcome is counted of.
        required: number of requirements (`counted`), the denominator of coverage, completion and the figures
            with dependencies; under ``drop`` without the unscored.
        attempted: of them, those that an action maps to; unscored where no attempt can be known.
        completion_weighted: completed / required, each with its `weight`.
        completed_with_deps: completed and every direct dependency completed; `_all`: every transitive one.
        unscored: requirements without evidence, whichever rule for them is in force.
        mapped: (seq of action, sub-goal, authority ``tag|rule|check|plan|judge``) for each mapped action.
        extra: `seq` of each of the agent's own actions mapped to no sub-goal.
        plans: number of plans recorded; without any, `replans` being 0 says nothing.
        recovered: share of failed sub-goal attempts later completed after a replan.
        diagnosis_advice: what to change about the sub-goal that failed first; empty where nothing is missing
            or known, or none fits.
    """

    run_id: str
    digest: str
    agent: str
    task_id: str
    task_repeat: int | None
    model: str | None
    kind: str | None
    graph_id: str
    graph_version: int
    success: bool | Unscored
    cost: Score
    steps: Score
    results: tuple[NodeResult, ...]
    completed_at: tuple[int | None, ...] = ()
    missing: MissingRule
    required: int
    attempted: int | Unscored
    completed: int
    unscored: int
    critical: int
    critical_completed: int
    critical_skipped: int
    completed_with_deps: int
    completed_with_deps_all: int
    coverage: Score
    completion: Score
    completion_weighted: Score
    critical_completion: Score
    violations: tuple[Violation, ...]
    mapped: tuple[tuple[int, str, str], ...]
    extra: tuple[int, ...]
    replans: int
    plans: int = 0
    transient_failures: int
    recovered: Score
    diagnosis: Diagnosis
    diagnosis_reason: str
    diagnosis_advice: str = ""
    findings: tuple[Finding, ...] = ()
    detail: DetailLater

    @property
    def nodes(self) -> tuple[NodeScore, ...]:
        """Every sub-goal's score, in graph order."""
        return self.detail.known.nodes

    @property
    def progress(self) -> tuple[tuple[int, int], ...]:
        """(seq, completed sub-goals so far) after each step."""
        return self.detail.known.progress

    @property
    def counted(self) -> tuple[NodeResult, ...]:
        """The sub-goals behind `required`, in graph order."""
        return counted_nodes(self.results, self.missing)

    def node(self, sub_goal: str) -> NodeScore:
        """The score of one sub-goal.

        Raises:
            KeyError: where the graph has no such sub-goal.
        """
        for node in self.nodes:
            if node.sub_goal == sub_goal:
                return node
        raise KeyError(sub_goal)


class AgentScore(Struct, frozen=True, kw_only=True):
    """Runs of one agent pooled (micro), with means over runs beside it (macro); counts are over scored runs.

    Attributes:
        runs: unbroken runs of the agent, with a plan graph or without; `scored_runs`: those with at least one
            countable sub-goal.
        coverage: attempted / `coverage_of`, the sub-goals of the runs that have a coverage; unscored where
            `attempts_known`, the number of sub-goals whose attempts can be known, is 0.
        completion_weighted: completed / sub_goals, each with its `weight`, over all runs.
        critical_path_skipped_rate: share of the scored runs with a critical sub-goal of known attempts that
            never attempted at least one.
        replanning_events_per_trace: over all runs; unscored where the agent never recorded a plan.
        violations: reached without a critical dependency; `order_violations`: started before a dependency.
        outcome_runs: runs with a recorded success bit; `successes` of them succeeded.
    """

    agent: str
    kind: str | None
    runs: int
    scored_runs: int
    sub_goals: int
    attempted: int | Unscored
    attempts_known: int
    coverage_of: int
    completed: int
    completed_with_deps: int
    completed_with_deps_all: int
    unscored: int
    critical: int
    critical_completed: int
    coverage: Score
    coverage_macro: Score
    completion: Score
    completion_macro: Score
    completion_weighted: Score
    critical_completion: Score
    critical_completion_macro: Score
    critical_path_skipped_rate: Score
    replanning_events_per_trace: Score
    violations: int
    order_violations: int = 0
    successes: int
    outcome_runs: int
    success_rate: Score


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
        none = nothing_counts(nodes)
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


def nothing_counts(nodes: Sequence[NodeResult]) -> str:
    """Why a run has no requirement that counts."""
    if not nodes:
        return "this run has no expectations: its graph has no sub-goals"
    if all(node.status == "not_required" for node in nodes):
        return "no sub-goal is required"
    if not any(node.counts for node in nodes):
        return ENDED_OUTSIDE
    if any(node.left_out for node in nodes):
        return "every required sub-goal is unscored, as verdicts that would decide it are left out"
    return "every required sub-goal is unscored, and unscored ones are dropped"
