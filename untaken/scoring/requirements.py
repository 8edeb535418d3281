"""Which sub-goals count in this run, and what follows from the graph's edges (§4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import structs

from untaken import limits
from untaken.scoring.attempts import Attempt, AttemptsById
from untaken.scoring.checks import DecisionsById, NodeDecision
from untaken.scoring.compiled import CompiledGraph, CompiledSubGoal, Conditions
from untaken.scoring.run_score import ENDED_OUTSIDE, NodeResult, NodeScore, Status, Violation

_SATISFIED: Final = frozenset({"completed", "not_required"})


def node_results(
    compiled: CompiledGraph,
    attempts: AttemptsById,
    decisions: DecisionsById,
    required: Conditions,
    *,
    outside: bool,
) -> tuple[NodeResult, ...]:
    """How every sub-goal ended, in graph order; unscored where something outside the agent ended the run."""
    unused = _not_required(compiled, attempts, decisions, required)
    results = tuple(
        NodeResult(
            sub_goal=name,
            title=criterion.node.title,
            critical=criterion.node.critical,
            status="not_required" if name in unused else _status(attempts[name], decisions[name]),
            attempted=attempts[name].made,
            completed=decisions[name].completed,
            weight=criterion.node.weight,
            groups=criterion.groups,
            holds=decisions[name].holds,
            left_out=decisions[name].left_out,
        )
        for name, criterion in compiled.criteria.items()
    )
    if not outside:
        return results
    unknown = {"attempted": None, "completed": None, "holds": False, "counts": False}
    return tuple(structs.replace(each, status="unscored", **unknown) for each in results)


def node_scores(
    compiled: CompiledGraph,
    attempts: AttemptsById,
    decisions: DecisionsById,
    required: Conditions,
    *,
    outside: bool,
) -> tuple[NodeScore, ...]:
    """Every sub-goal's score, in graph order."""
    scores = []
    unused = _not_required(compiled, attempts, decisions, required)
    for result in node_results(compiled, attempts, decisions, required, outside=outside):
        name = result.sub_goal
        attempt, decision = attempts[name], decisions[name]
        not_needed = unused.get(name)
        scores.append(
            NodeScore(
                **structs.asdict(result),
                decided_by=decision.by,
                reason=ENDED_OUTSIDE if outside else not_needed or _reason(attempt, decision),
                events=attempt.events,
                evidence=decision.evidence,
                completed_at=decision.at,
                unanchored=decision.unanchored and result.counts,
                differences=() if not_needed else decision.differences,
                nearest=None if not_needed else decision.nearest,
                missed=None if not_needed else decision.missed,
            )
        )
    return tuple(scores)


def _status(attempt: Attempt, decision: NodeDecision) -> Status:
    if decision.completed is None:
        return "unscored"
    if decision.completed:
        return "completed"
    return "skipped" if attempt.made is False else "attempted"


def _reason(attempt: Attempt, decision: NodeDecision) -> str:
    """A verdict of "not met" does not tell whether anything was tried: say so."""
    if decision.completed is False and attempt.made is None:
        return f"{decision.reason}; whether it was attempted is unknown: {attempt.unknown}"
    return decision.reason


def _not_required(
    compiled: CompiledGraph, attempts: AttemptsById, decisions: DecisionsById, required: Conditions
) -> dict[str, str]:
    """Why sub-goals need not be completed: their condition does not hold, or another option is enough."""
    unused = {name: decisions[name].reason for name, one in required.items() if one is False}
    for name in compiled.options_first:
        options = compiled.criteria[name].options
        # A recorded verdict on the group itself still counts.
        if options and decisions[name].completed is None and unused.keys() >= {*options}:
            unused[name] = "not required: none of its options is"
    # Groups first: the options of one that is not required need not be completed either.
    for name in reversed(compiled.options_first):
        criterion = compiled.criteria[name]
        if criterion.groups and name not in unused and not decisions[name].completed:
            instead = [
                _instead(criterion, place, decisions, unused) for place in range(len(criterion.groups))
            ]
            if all(instead):
                unused[name] = f"not required: {instead[0]}"
            elif attempts[name].made is False:
                unused[name] = "not required: an option that was not used"
    return unused


def _instead(
    criterion: CompiledSubGoal, place: int, decisions: DecisionsById, unused: Mapping[str, str]
) -> str | None:
    """Why one of its groups does not need a sub-goal: another option was completed, or nobody needs it."""
    siblings = (o for o in criterion.siblings[place] if o != criterion.node.id)
    if (done := next((o for o in siblings if decisions[o].completed), None)) is not None:
        return f"{done!r} was completed instead"
    group = criterion.groups[place]
    return f"{group!r} is not required" if group in unused else None


def dependency_figures(compiled: CompiledGraph, nodes: Mapping[str, NodeResult]) -> tuple[int, int]:
    """How many completed requirements have their direct dependencies completed, and how many all of them.

    A group needs its own dependencies and those of one option that completed it, if one did.
    """
    # An option that is not required holds nobody up.
    unmet = {name for name, node in nodes.items() if node.status not in _SATISFIED}
    direct: set[str] = set()
    transitive: set[str] = set()
    for name in compiled.dependencies_first:
        deps = compiled.criteria[name].deps
        if unmet.isdisjoint(deps):
            direct.add(name)
            if transitive.issuperset(deps):
                transitive.add(name)
    return _completed_among(direct, compiled, nodes), _completed_among(transitive, compiled, nodes)


def _completed_among(whole: set[str], compiled: CompiledGraph, nodes: Mapping[str, NodeResult]) -> int:
    """How many requirements are completed and, groups through one of their options, in `whole`."""
    completed: set[str] = set()
    for name in compiled.options_first:
        used = [option for option in compiled.criteria[name].options if nodes[option].completed]
        # No option used: a recorded verdict completed the group itself.
        if name in whole and nodes[name].completed and (not used or not completed.isdisjoint(used)):
            completed.add(name)
    return sum(not nodes[name].groups for name in completed)  # options count through their groups


def critical_violations(compiled: CompiledGraph, nodes: Mapping[str, NodeResult]) -> list[Violation]:
    """A sub-goal reached although a critical one that it needs, transitively, is not completed.

    At most `limits.VIOLATIONS`.
    """
    broken = {
        name: 1 << i  # a bit each: sets of what lies behind thousands of sub-goals would fill memory
        for i, (name, node) in enumerate(nodes.items())
        if node.critical and node.completed is False and node.status != "not_required"
    }
    if not broken:
        return []
    names = list(nodes)
    behind: dict[str, int] = {}
    for name in compiled.dependencies_first:
        mask = 0
        for dep in compiled.criteria[name].deps:
            mask |= behind[dep] | broken.get(dep, 0)
        behind[name] = mask
    found: list[Violation] = []
    for name, node in nodes.items():
        reached = node.status != "not_required" and (node.completed or node.attempted)
        mask = behind[name] if reached else 0
        while mask and len(found) < limits.VIOLATIONS:
            lowest = mask & -mask  # its lowest bit alone
            mask ^= lowest
            dependency = names[lowest.bit_length() - 1]
            found.append(_reached_without(node, dependency))
    return found


def _reached_without(node: NodeResult, dependency: str) -> Violation:
    verb = "completed" if node.completed else "attempted"
    return Violation(
        kind="critical",
        sub_goal=node.sub_goal,
        dependency=dependency,
        message=f"{node.sub_goal!r} was {verb} although the critical {dependency!r} was not completed",
    )


def order_violations(
    compiled: CompiledGraph, attempts: AttemptsById, required: Conditions
) -> list[Violation]:
    """A sub-goal first attempted before a direct dependency was; at most `limits.VIOLATIONS`."""
    found: list[Violation] = []
    for name, dep in compiled.edges:
        if required and False in (required.get(name), required.get(dep)):
            continue  # where the condition of either does not hold, there is no order to keep
        events, before = attempts[name].events, attempts[dep].events
        if events and before and events[0] < before[0] and len(found) < limits.VIOLATIONS:
            message = f"{name!r} began at event {events[0]}, before {dep!r} at event {before[0]}"
            found.append(Violation(kind="order", sub_goal=name, dependency=dep, message=message))
    return found
