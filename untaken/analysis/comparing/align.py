"""Aligns runs of one task by sub-goal, whatever tools they used; without a common plan, by tool (§4).

Over all runs of the task: the sub-goals whose completion goes with success. Association, not cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import nan
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from untaken import stats
from untaken.analysis.comparing.aligned import ACHIEVED, KNOWN, Basis, ComparedRun, OutcomeSplit, SideBySide
from untaken.analysis.comparing.cells import Pattern, Side, sub_goal_rows, tool_rows, tools_of
from untaken.analysis.comparing.divergence import part
from untaken.errors import Unscored, UntakenError, number
from untaken.ledger import Run
from untaken.plans import GraphSet, PlanGraph
from untaken.scoring import RunScore

MOST_SHOWN: Final = 12
"""Runs that are chosen where nobody chooses."""
ONE_OUTCOME = Unscored("no known status in successful runs, or none in failed runs")


class TaskRuns(Struct, frozen=True, kw_only=True):
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
    # One alone cannot be compared.
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
    chosen.sort(key=lambda side: side is not held)  # stable: the others stay in their order
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
    # A sub-goal of another plan, or of another version, need not be the same one.
    same_plan = sides if graph is None else [side for side in sides if side.plan == held.plan]
    tools = tools_of(same_plan) if graph is None else None
    patterns = {side.run.digest: side.pattern(tools) for side in same_plan}
    known = {row.key: (row.key, row.title, row.critical) for row in rows}
    # A tool that is called only in runs that are not shown has no row.
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
        runs=_with_marks([side.column for side in chosen]),
        rows=rows,
        divergences=tuple(part(held, side, rows) for side in chosen[1:]),
        outcome_splits=outcome_splits(same_plan, patterns, named),
    )


def _with_marks(columns: Sequence[ComparedRun]) -> tuple[ComparedRun, ...]:
    named = Counter(column.name for column in columns)
    return tuple(
        replace(column, mark=column.run_id) if named[column.name] > 1 else column for column in columns
    )


def _graph(side: Side, graphs: GraphSet) -> PlanGraph | None:
    found, _ = graphs.for_task(side.run.task_id, side.run.started.graph)
    return None if isinstance(found, Unscored) else found


def outcome_splits(
    sides: Sequence[Side],
    patterns: Mapping[str, Pattern],
    named: Sequence[tuple[str, str, bool]],
) -> tuple[OutcomeSplit, ...]:
    """What separates the runs that succeeded from those that failed: smallest p first, then largest share.

    A sub-goal that the recorded outcome itself decides is left out: it would separate them by definition.
    """
    ended = [side for side in sides if not isinstance(side.run.success, Unscored)]
    # What the outcome decides goes with the outcome anyway.
    circular = {name for side in ended for name, node in side.nodes.items() if node.decided_by == "outcome"}
    found = [_split(row, ended, patterns) for row in named if row[0] not in circular]
    return tuple(sorted(_adjusted(found), key=_by_p_value))


def _split(
    row: tuple[str, str, bool], ended: Sequence[Side], patterns: Mapping[str, Pattern]
) -> OutcomeSplit:
    key, title, critical = row
    seen = [(side.run.success is True, patterns[side.run.digest].get(key)) for side in ended]
    known = [(success, status in ACHIEVED) for success, status in seen if status in KNOWN]
    n, m = sum(success for success, _ in known), sum(not success for success, _ in known)
    a = sum(success and done for success, done in known)
    b = sum(not success and done for success, done in known)
    return OutcomeSplit(
        key=key,
        title=title,
        critical=critical,
        successes=n,
        done_in_successes=a,
        failures=m,
        done_in_failures=b,
        unknown=len(ended) - len(known),
        difference=a / n - b / m if n and m else ONE_OUTCOME,
        p=stats.fisher_p(a, n, b, m) if n and m else ONE_OUTCOME,
        p_holm=ONE_OUTCOME,
    )


def _adjusted(found: Sequence[OutcomeSplit]) -> list[OutcomeSplit]:
    if not any(number(split.p) is not None for split in found):
        return list(found)
    p = [nan if isinstance(split.p, Unscored) else split.p for split in found]
    return [
        split if isinstance(split.p, Unscored) else replace(split, p_holm=float(adjusted))
        for split, adjusted in zip(found, stats.holm(p), strict=True)
    ]


def _by_p_value(split: OutcomeSplit) -> tuple[float, float]:
    p, difference = number(split.p), number(split.difference)
    return (2.0 if p is None else p, -abs(difference or 0.0))  # 2: after every p-value


def reference_of(sides: Sequence[Side]) -> tuple[Side, str]:
    """The reference run, and why it was chosen.

    The successful run that completed most sub-goals, fewest actions on a tie; where none
    succeeded, the best of all.
    """
    successful = [side for side in sides if side.run.success is True]
    best = min(successful or sides, key=_best_first)
    why = "the successful run" if successful else "no shown run succeeded: the run"
    if isinstance(best.score, Unscored):
        return best, f"{why} with the fewest actions"
    return best, f"{why} with most sub-goals completed, fewest actions on a tie"


def _best_first(side: Side) -> tuple[float, float, int, str, int, str]:
    run, score = side.run, side.score
    known = (score, score) if isinstance(score, Unscored) else (score.completion, score.critical_completion)
    completion, critical = (number(share) or 0.0 for share in known)
    return (
        -completion,
        -critical,
        len(side.calls),
        run.agent,
        run.started.task_repeat or 0,
        run.digest,
    )


def differing_most(
    sides: Sequence[Side], patterns: Mapping[str, Pattern], most: int, include: Sequence[Side] = ()
) -> list[Side]:
    """At most `most` runs that differ as much as possible.

    The best success and the worst failure of each agent stand first; of more than fit, one after another
    the run that differs at most rows from those already taken. Then any other run that looks like none of
    them, in the same way.
    """
    if len(sides) <= most:
        return list(sides)
    best = reference_of(sides)[0]
    picked = [best, *(side for side in include if side is not best)]
    _extend(picked, _both_ends(sides), patterns, most)
    looks: dict[object, Side] = {}
    for side in sides:
        looks.setdefault(_look(side, patterns), side)
    seen = {_look(side, patterns) for side in picked}
    _extend(picked, [side for look, side in looks.items() if look not in seen], patterns, most)
    _extend(picked, sides, patterns, 2)  # it takes two, however alike they look
    return picked


def _both_ends(sides: Sequence[Side]) -> list[Side]:
    """The best success and the worst failure of each agent."""
    found = []
    for agent in sorted({side.run.agent for side in sides}):
        own = [side for side in sides if side.run.agent == agent]
        good = [side for side in own if side.run.success is True]
        bad = [side for side in own if side.run.success is False]
        found += [min(good, key=_best_first)] if good else []
        # Without the names in the key: of equally bad runs `max` then takes the first, not the last by name.
        found += [max(bad, key=lambda side: _best_first(side)[:3])] if bad else []
        found += [] if good or bad else [min(own, key=_best_first)]
    return found


def _look(side: Side, patterns: Mapping[str, Pattern]) -> object:
    return (side.run.success, frozenset(patterns[side.run.digest].items()))


def _extend(picked: list[Side], offered: Sequence[Side], patterns: Mapping[str, Pattern], most: int) -> None:
    """Takes the farthest from all that is taken, until nothing is offered or enough are taken."""
    left = {side.run.digest: side for side in offered}
    for side in picked:
        left.pop(side.run.digest, None)
    # Kept up to date below, so that each turn compares only with the run that was taken last.
    nearest = {d: min(_apart(side, old, patterns) for old in picked) for d, side in left.items()}
    while left and len(picked) < most:
        farthest = left.pop(max(nearest, key=nearest.__getitem__))
        del nearest[farthest.run.digest]
        picked.append(farthest)
        for digest, side in left.items():
            nearest[digest] = min(nearest[digest], _apart(side, farthest, patterns))


def _apart(one: Side, other: Side, patterns: Mapping[str, Pattern]) -> int:
    """Rows known to differ, and one more where the outcome does."""
    mine, theirs = patterns[one.run.digest], patterns[other.run.digest]
    rows = sum(
        status in KNOWN and theirs.get(name) in KNOWN and status != theirs[name]
        for name, status in mine.items()
    )
    return rows + (one.run.success != other.run.success)
