"""What kind of trouble a run was in, a sentence with its counts, and what to change (§4)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import inf
from typing import Final

from msgspec import Struct

from untaken.numbers import counted
from untaken.scoring.attempts import AttemptsById
from untaken.scoring.compiled import CompiledGraph
from untaken.scoring.run_score import Diagnosis, NodeResult, Violation
from untaken.scoring.trace import Trace

NAMED: Final = 5
"""How many sub-goals an advice names before it only counts."""


class Diagnosed(Struct, frozen=True, kw_only=True, gc=False):
    """A diagnosis, why, and what to change: the advice of source 002, `about` some sub-goals."""

    diagnosis: Diagnosis
    reason: str
    advice: str = ""
    about: tuple[str, ...] = ()


Unrevised = tuple[Trace, AttemptsById]
"""A run whose observations failed and whose plan was recorded but never revised, with its attempts."""


def diagnose(
    nodes: Sequence[NodeResult],
    critical: Sequence[Violation],
    compiled: CompiledGraph,
    unrevised: Unrevised | None = None,
    *,
    otherwise: str = "",
) -> Diagnosed:
    """The first that holds, the gravest first.

    ``unscored``: nothing is known, or all that is missing are sub-goals whose check holds without a mapped
    action. ``violation``: a sub-goal reached without a critical dependency whose check does not hold.
    ``clean``: nothing required is known to be missing. ``not_detecting_errors``: something is missing,
    observations failed, and the plan was recorded but never revised. ``skipping``: more of what is missing
    was never attempted than was attempted without success; ``inside``: at least as much was attempted
    without success. Where most of what is missing may or may not have been attempted, that too is
    ``unscored``. `otherwise`: why there are no `nodes`, where there are none.
    """
    known = [node for node in nodes if node.completed is not None]
    if not known:
        what = "none of the required sub-goals has any evidence" if nodes else otherwise
        return Diagnosed(diagnosis="unscored", reason=what)
    # A dependency whose check holds was not skipped, as far as anybody can see.
    held = {node.sub_goal for node in nodes if node.holds}
    if skipped := [violation for violation in critical if violation.dependency not in held]:
        needed, more = [v.dependency for v in skipped], len(skipped) - 1
        # A skipped sub-goal that was itself reached too early is named once.
        last = [v.sub_goal for v in skipped if v.sub_goal not in needed]
        others = f"; {counted(more, 'more violation')} of a critical sub-goal" if more else ""
        return Diagnosed(
            diagnosis="violation",
            reason=f"{skipped[0].message}{others}",
            advice=f"Require {_some(needed)} before the agent can reach {_some(last)}.",
            about=tuple(needed),
        )
    missing = [node for node in known if not node.completed]
    if not missing:
        total, scored = len(nodes), len(known)
        clean = f"all {scored} scored sub-goals completed; {total - scored} of {total} required are unscored"
        if scored == total:
            clean = f"all {total} required sub-goals completed"
        return Diagnosed(diagnosis="clean", reason=clean)
    return _why_missing(missing, nodes, compiled, unrevised)


def _why_missing(
    missing: Sequence[NodeResult],
    nodes: Sequence[NodeResult],
    compiled: CompiledGraph,
    unrevised: Unrevised | None,
) -> Diagnosed:
    held = [node.sub_goal for node in missing if node.holds]
    if len(held) == len(missing):
        return Diagnosed(
            diagnosis="unscored",
            reason=f"{len(held)} of {len(nodes)} required sub-goals not completed: the check of "
            f"{_some(held)} holds, but no mapped action was seen",
            advice=_held(held),
            about=tuple(held),
        )
    missing = [node for node in missing if not node.holds]
    incomplete = [node.sub_goal for node in missing if node.attempted is True]
    never = [node.sub_goal for node in missing if node.attempted is False]
    inside, skipped = len(incomplete), len(never)
    unknown = len(missing) - inside - skipped
    head = f"{len(missing)} of {len(nodes)} required sub-goals not completed"
    if unknown > max(inside, skipped):  # too little is known to say which
        return Diagnosed(diagnosis="unscored", reason=f"{head}; attempts at {unknown} of them are unknown")
    counts = f"{head}: {inside} attempted without success, {skipped} never attempted"
    counts += f", {unknown} unknown" if unknown else ""
    if unrevised is not None:
        branches, after = _failed_branches(nodes, unrevised, compiled)
        return Diagnosed(
            diagnosis="not_detecting_errors",
            reason=f"{counted(len(unrevised[0].failed), 'observation')} failed and the plan was not "
            f"revised; {counts}",
            advice="Add a self-check sub-goal between branches, or feed the tool response back into the "
            f"planner before the next call{_branches_in_words(branches, after)}.",
            about=(*branches, *after),
        )
    if skipped > inside:
        return Diagnosed(diagnosis="skipping", reason=counts, advice=_skipped(never), about=tuple(never))
    return Diagnosed(
        diagnosis="inside", reason=counts, advice=_attempted(incomplete), about=tuple(incomplete)
    )


def _skipped(names: Sequence[str]) -> str:
    return f"Fix the planner or its tool descriptions: {_some(names)} {_was(names)} never attempted."


def _held(names: Collection[str]) -> str:
    return f"Correct the plan: map an action to {_some([*names])}, or write `needs_action: false`."


def _attempted(names: Sequence[str]) -> str:
    return f"Fix the tool call, or the reasoning before it: {_some(names)} {_was(names)} not completed."


def _was(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def remedy(
    diagnosed: Diagnosed,
    nodes: Sequence[NodeResult],
    compiled: CompiledGraph,
    attempts: AttemptsById,
    calls: Collection[int],
) -> str:
    """What to change about the failure that came first: the diagnosis' advice where it is about that.

    Else the advice for what happened there; empty where none fits, as for a message that was judged not met.
    """
    first = first_missing(nodes, compiled, attempts) if diagnosed.advice else None
    if first is None or first.sub_goal in diagnosed.about:
        return diagnosed.advice
    if first.holds:
        return _held([first.sub_goal])
    if first.attempted is False:
        return _skipped([first.sub_goal])
    called = not set(calls).isdisjoint(attempts[first.sub_goal].events)
    return _attempted([first.sub_goal]) if first.attempted and called else ""  # no call: none to fix


def first_missing(
    nodes: Sequence[NodeResult], compiled: CompiledGraph, attempts: AttemptsById
) -> NodeResult | None:
    """The requirement known not to be completed that failed first by the log.

    An attempted one failed at its last action, one never attempted just before the first action of something
    that needs it; what nothing went past comes last, dependencies first.
    """
    missing = [node for node in nodes if node.completed is False]
    if not missing:
        return None
    turn = {name: at for at, name in enumerate(compiled.dependencies_first)}
    past = {node.sub_goal: inf for node in missing if node.attempted is False}
    for name, at in _passed(compiled, attempts, past):
        past[name] = min(past[name], at - 0.5)  # between that action and the event before it
    ends = {
        node.sub_goal: past.get(node.sub_goal, max(attempts[node.sub_goal].events, default=inf))
        for node in missing
    }
    return min(missing, key=lambda node: (ends[node.sub_goal], turn[node.sub_goal]))


def _passed(
    compiled: CompiledGraph, attempts: AttemptsById, never: Collection[str]
) -> Iterator[tuple[str, int]]:
    """Each sub-goal of `never` with the first action of each attempted one that needs it, at any distance."""
    behind: dict[str, frozenset[str]] = {}
    for name in compiled.dependencies_first:
        deps = compiled.criteria[name].deps
        behind[name] = frozenset(dep for dep in deps if dep in never).union(*(behind[dep] for dep in deps))
        if events := attempts[name].events:
            yield from ((needed, events[0]) for needed in behind[name])


def _failed_branches(
    nodes: Sequence[NodeResult], unrevised: Unrevised, compiled: CompiledGraph
) -> tuple[list[str], list[str]]:
    """The sub-goals whose calls failed, and what directly depends on them."""
    trace, attempts = unrevised
    failed = {call.seq for _, call in trace.failures if call is not None}
    branches = [node.sub_goal for node in nodes if not failed.isdisjoint(attempts[node.sub_goal].events)]
    after = [name for name, one in compiled.criteria.items() if not set(branches).isdisjoint(one.deps)]
    return branches, after


def _branches_in_words(branches: Sequence[str], after: Sequence[str]) -> str:
    if not branches:
        return ""
    return f": calls failed at {_some(branches)}" + (f", before {_some(after)}" if after else "")


def _some(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - NAMED
    return ", ".join(map(repr, distinct[:NAMED])) + (f" and {more} more" if more > 0 else "")
