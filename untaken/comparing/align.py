"""Aligns runs of one task by sub-goal, whatever tools they used; without a common plan, by tool (§4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from untaken.comparing.cells import Side, sub_goal_rows, tool_rows, tools_of
from untaken.comparing.divergence import part
from untaken.comparing.model import Basis, SideBySide
from untaken.comparing.outcome import outcome_splits
from untaken.comparing.picking import differing_most, reference_of
from untaken.errors import Unscored, UntakenError
from untaken.ledger import Run
from untaken.plans import GraphSet, PlanGraph
from untaken.subgoals import RunScore

MOST_SHOWN: Final = 12
"""Runs that are chosen where nobody chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRuns:
    """A task with unbroken runs, by content digest in the order of agent and repeat."""

    task_id: str
    digests: tuple[str, ...]
    agents: int
    successes: int
    failures: int


def tasks_of(runs: Iterable[Run]) -> tuple[TaskRuns, ...]:
    """Every task that two unbroken runs worked on; those with most to compare first.

    That is by the smaller of the numbers of successes and failures, then by the number of runs, then by name.
    """
    by_task: dict[str, list[Run]] = {}
    for run in runs:
        if not run.integrity.broken:
            by_task.setdefault(run.task_id, []).append(run)
    found = [_task(task, own) for task, own in by_task.items() if len(own) > 1]
    return tuple(sorted(found, key=lambda t: (-min(t.successes, t.failures), -len(t.digests), t.task_id)))


def _task(task: str, runs: Sequence[Run]) -> TaskRuns:
    return TaskRuns(
        task_id=task,
        digests=tuple(run.digest for run in sorted(runs, key=_in_order)),
        agents=len({run.agent for run in runs}),
        successes=sum(run.success is True for run in runs),
        failures=sum(run.success is False for run in runs),
    )


def _in_order(run: Run) -> tuple[str, int, str, str]:
    return (run.agent, run.started.task_repeat or 0, run.run_id, run.digest)


def align_runs(
    task_id: str,
    runs: Iterable[Run],
    scores: Mapping[str, RunScore | Unscored],
    graphs: GraphSet,
    *,
    shown: Collection[str] = (),
    include: Collection[str] = (),
    reference: str | None = None,
    most: int = MOST_SHOWN,
) -> SideBySide:
    """Runs of a task side by side, and where they part.

    Args:
        task_id: the task.
        runs: those of other tasks are ignored.
        scores: of the runs, by digest.
        graphs: the plan graphs that they were scored against.
        shown: digests of the runs to show; of none given, `most` that differ most.
        include: digests of runs to have among those.
        reference: digest of the reference run, one of those shown; the best success by default.
        most: runs to show where none are named; at least 2.

    Raises:
        UntakenError: ``compare-too-few`` where there are not two unbroken runs to compare, ``run-unknown``
            where a given run is not an unbroken run of the task.
    """
    of_task = [run for run in runs if run.task_id == task_id]
    sound = sorted((run for run in of_task if not run.integrity.broken), key=_in_order)
    sides = [Side(run, scores[run.digest]) for run in sound]
    _all_there(sides, [*shown, *include, *([reference] if reference else [])], task_id)
    kept = shown or _differing_most(sides, {*include, reference}, max(most, 2))
    chosen = [side for side in sides if side.run.digest in kept]
    if len(chosen) < 2:
        raise UntakenError(
            "compare-too-few",
            f"comparing needs two unbroken runs; there are {len(chosen)} of the task {task_id!r}",
            hint="Choose a task with more than one run, or add more of its runs.",
        )
    held, why = reference_of(chosen)
    if reference is not None:
        held, why = next((s for s in chosen if s.run.digest == reference), held), "as asked for"
    chosen.sort(key=lambda side: side is not held)
    return _aligned(task_id, sides, chosen, why, graphs, broken=len(of_task) - len(sound))


def _all_there(sides: Sequence[Side], named: Sequence[str], task_id: str) -> None:
    there = {side.run.digest for side in sides}
    if any(digest not in there for digest in named):
        raise UntakenError(
            "run-unknown",
            f"a given run is not an unbroken run of the task {task_id!r}",
            hint="The ledger may have changed since the link was made. Choose the run again.",
        )


def _differing_most(sides: Sequence[Side], include: Collection[str | None], most: int) -> set[str]:
    basis, _ = _basis(sides)
    tools = None if basis == "sub_goal" else tools_of(sides)
    patterns = {side.run.digest: side.pattern(tools) for side in sides}
    kept = differing_most(sides, patterns, most, [s for s in sides if s.run.digest in include])
    return {side.run.digest for side in kept}


def _basis(sides: Sequence[Side]) -> tuple[Basis, str]:
    """What a row is, and why: a sub-goal if one version of one graph scored all runs, else a tool."""
    plans = {side.plan for side in sides}
    if None in plans:
        without = sum(side.plan is None for side in sides)
        return "tool", f"{without} of {len(sides)} runs have no sub-goal score"
    if len(plans) > 1:
        return "tool", f"the runs were scored against {len(plans)} different plan graphs"
    if not any(side.nodes for side in sides):
        return "tool", "their plan graph has no sub-goals"
    return "sub_goal", ""


def _aligned(
    task_id: str, sides: Sequence[Side], chosen: Sequence[Side], why: str, graphs: GraphSet, *, broken: int
) -> SideBySide:
    basis, reason = _basis(chosen)
    held = chosen[0]
    graph = _graph(held, graphs) if basis == "sub_goal" else None
    rows = tool_rows(chosen) if graph is None else sub_goal_rows(chosen, graph)
    same_plan = sides if graph is None else [side for side in sides if side.plan == held.plan]
    tools = tools_of(same_plan) if graph is None else None
    patterns = {side.run.digest: side.pattern(tools) for side in same_plan}
    known = {row.key: (row.key, row.title, row.critical) for row in rows}
    named = [known.get(tool, (tool, tool, False)) for tool in tools] if tools else list(known.values())
    return SideBySide(
        task_id=task_id,
        basis="tool" if graph is None else "sub_goal",
        basis_reason=reason,
        graph_id=graph.id if graph else None,
        graph_version=graph.version if graph else None,
        reference=held.run.digest,
        reference_reason=why,
        of_task=len(sides),
        broken=broken,
        runs=tuple(side.column for side in chosen),
        rows=rows,
        divergences=tuple(part(held, side, rows) for side in chosen[1:]),
        outcome_splits=outcome_splits(same_plan, patterns, named),
    )


def _graph(side: Side, graphs: GraphSet) -> PlanGraph | None:
    found, _ = graphs.for_task(side.run.task_id, side.run.started.graph)
    return None if isinstance(found, Unscored) else found
