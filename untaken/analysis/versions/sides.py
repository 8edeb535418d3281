"""The runs of two versions, by task and agent, and which sub-goals each of them reached (§11)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, get_args

from untaken import stats
from untaken.errors import UntakenError
from untaken.ledger import Run, copies_of
from untaken.plans import GraphSet, PlanGraph
from untaken.scoring import NodeResult, RunScore, compiled_graph

if TYPE_CHECKING:
    from untaken.stats import Stratum

Field = Literal["version", "prompt_version", "model", "agent"]
"""What two values are compared of."""
FIELDS: Final[tuple[Field, ...]] = get_args(Field)
MOST_VALUES: Final = 30
"""Values that are looked through for the two that have most in common."""
Ending = Literal["completed", "failed", "skipped"]
VALUES: Final[Mapping[Field, Callable[[Run], str | None]]] = {
    "version": lambda run: run.version,
    "prompt_version": lambda run: run.prompt_version,
    "model": lambda run: run.started.model,
    "agent": lambda run: run.agent,
}


@dataclass(frozen=True, kw_only=True)
class VersionRun:
    """A run of one of the two versions; without a plan graph it has no sub-goals.

    Attributes:
        second: whether it is of the second version.
        stratum: only runs that share it are compared: agent and task, or the task alone where agents are.
        endings: how each sub-goal that it reached ended, by the name it is compared under.
    """

    run: Run
    score: RunScore | None
    second: bool
    stratum: tuple[str, ...]
    endings: Mapping[str, Ending]

    @property
    def silent(self) -> bool:
        """Whether it has a plan, and no evidence about any sub-goal of it."""
        return self.score is not None and bool(self.score.results) and not self.endings


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The runs of two versions in the tasks that both ran.

    Attributes:
        titles: of the sub-goals, by the name that they are compared under, and whether one is critical.
        left_out: runs of either version in tasks that the other did not run; `copies`: of runs counted.
    """

    runs: Sequence[VersionRun]
    titles: Mapping[str, tuple[str, bool]]
    left_out: int
    copies: int

    @cached_property
    def tasks(self) -> int:
        """Tasks that both ran."""
        return len({one.run.task_id for one in self.runs})

    def strata(self, outcome: Callable[[VersionRun], bool | None]) -> list[Stratum]:
        """Successes and runs of the second version against the first; those with ``None`` say nothing."""
        ends = ((one, outcome(one)) for one in self.runs)
        return stats.strata_of((one.stratum, one.second, end) for one, end in ends if end is not None)


def versions_of(runs: Iterable[Run], by: Field) -> dict[str, int]:
    """Values of a field with their number of runs, in the order in which they first ran."""
    ordered = sorted(runs, key=lambda run: run.started.ts)
    return dict(Counter(value for run in ordered if (value := VALUES[by](run)) is not None))


def most_paired(runs: Iterable[Run], by: Field) -> tuple[str, str] | None:
    """The two values with the most tasks in common, of as many the last that ran; ``None`` without any."""
    unbroken = [run for run in runs if not run.integrity.broken]
    order = list(versions_of(unbroken, by))[-MOST_VALUES:]
    strata: dict[str, set[tuple[str, ...]]] = {name: set() for name in order}
    for run in unbroken:
        if (value := VALUES[by](run)) in strata:
            strata[value].add(_stratum(run, by))
    common = [
        (len(strata[first] & strata[second]), at, first, second)
        for at, second in enumerate(order)
        for first in order[:at]
    ]
    best = max(common, key=lambda pair: pair[:2], default=None)
    return (best[2], best[3]) if best and best[0] else None


def sides(
    runs: Iterable[Run], scores: Mapping[str, object], graphs: GraphSet, *, a: str, b: str, by: Field
) -> Sides:
    """Sorts the runs of two versions; broken runs say nothing, and copies of a run are one.

    Raises:
        UntakenError: ``version-unknown`` where no run is of a version; ``versions-not-paired`` where no agent
            ran a task under both.
    """
    value = VALUES[by]
    # Shuffled labels and made-up runs are drawn in this order, not in that of the files.
    ordered = sorted(runs, key=lambda run: (run.started.ts, run.digest))
    unbroken = [run for run in ordered if not run.integrity.broken]
    wanted = [run for run in unbroken if value(run) in (a, b)]
    for name in (a, b):
        if all(value(run) != name for run in wanted):
            known = ", ".join(map(repr, list(versions_of(unbroken, by))[:10]))
            hint = f"There are {known}." if known else f"No run records a {by.replace('_', ' ')}."
            raise UntakenError(
                "version-unknown", f"no run has the {by.replace('_', ' ')} {name!r}", hint=hint
            )
    copies = copies_of(wanted)
    seen: defaultdict[tuple[str, ...], set[str | None]] = defaultdict(set)
    for run in wanted:
        seen[_stratum(run, by)].add(value(run))
    kept = [run for run in wanted if len(seen[_stratum(run, by)]) > 1]
    if not kept:
        raise UntakenError(
            "versions-not-paired",
            f"no task was run by one agent under both {a!r} and {b!r}",
            hint="Run the same tasks with both versions; --by agent compares agents.",
        )
    names = _Names(graphs, kept, scores)
    found = [
        VersionRun(
            run=run,
            score=score if isinstance(score := scores.get(run.digest), RunScore) else None,
            second=value(run) == b,
            stratum=_stratum(run, by),
            endings=names.endings(run),
        )
        for run in kept
        if run.digest not in copies
    ]
    return Sides(
        runs=found, titles=names.titles, left_out=len(wanted) - len(kept), copies=len(kept) - len(found)
    )


def _stratum(run: Run, by: Field) -> tuple[str, ...]:
    # two agents have tasks in common alone
    return (run.task_id,) if by == "agent" else (run.agent, run.task_id)


class _Names:
    """What sub-goals are compared under: their id, or their tool where each task has a plan of its own."""

    def __init__(self, graphs: GraphSet, runs: Sequence[Run], scores: Mapping[str, object]) -> None:
        self._scores = scores
        self._graphs = {graph.id: graph for graph in graphs.graphs}
        tasks: defaultdict[str, set[str]] = defaultdict(set)
        for run in runs:
            if isinstance(score := scores.get(run.digest), RunScore):
                tasks[score.graph_id].add(run.task_id)
        several = len(tasks) > 1
        # Then ids mean nothing across plans, but tools do.
        self._own = several and all(len(of) == 1 for of in tasks.values())
        self._by_plan = several and not self._own
        self.titles: dict[str, tuple[str, bool]] = {}
        self._known: dict[tuple[str, str], str] = {}

    def endings(self, run: Run) -> dict[str, Ending]:
        """How the sub-goals that a run reached ended; of several under one name the worst."""
        score = self._scores.get(run.digest)
        graph = self._graphs.get(score.graph_id) if isinstance(score, RunScore) else None
        if not isinstance(score, RunScore) or graph is None:
            return {}
        found: dict[str, Ending] = {}
        for name, ending in reached(score.results, graph).items():
            key = self._name(graph, name)
            before = found.get(key)
            # In this order from the worst: failed, skipped, completed.
            worse = before is None or before == "completed" or (before == "skipped" and ending == "failed")
            found[key] = ending if worse else before or ending
        return found

    def _name(self, graph: PlanGraph, name: str) -> str:
        known = self._known.get((graph.id, name))
        if known is not None:
            return known
        node = compiled_graph(graph).criteria[name].node
        tools = [rule.tool for rule in node.rules if rule.tool]
        if node.check is not None and node.check.tool_call is not None:
            tools.insert(0, node.check.tool_call.name)  # a check names the tool itself, a rule perhaps a glob
        if self._own and tools:
            made, title = tools[0], tools[0]
        else:
            made, title = f"{graph.id}/{name}" if self._by_plan else name, node.title or name
        self._known[graph.id, name] = made
        critical = node.critical or self.titles.get(made, ("", False))[1]
        self.titles[made] = (title, critical)
        return made


def reached(results: Sequence[NodeResult], graph: PlanGraph) -> dict[str, Ending]:
    """How each sub-goal ended of whose direct dependencies none is known not to be completed.

    A sub-goal that was never attempted, and that nothing went past at any distance, is not reached where the
    run failed at another one: it stopped before it.
    """
    compiled, by_id = compiled_graph(graph), {result.sub_goal: result for result in results}
    stuck = any(one.attempted and one.completed is False and one.status != "not_required" for one in results)
    passed: set[str] = set()
    for name in reversed(compiled.dependencies_first):
        if by_id[name].attempted or by_id[name].completed or name in passed:
            passed.update(compiled.criteria[name].deps)
    found: dict[str, Ending] = {}
    for name, result in by_id.items():
        deps = [by_id[dep] for dep in compiled.criteria[name].deps]
        ready = all(dep.completed is not False or dep.status == "not_required" for dep in deps)
        asked = result.counts and result.status != "not_required" and not result.groups
        if not ready or not asked or result.completed is None:
            continue
        if result.completed:
            found[name] = "completed"
        elif result.attempted is not False:
            found[name] = "failed"
        elif name in passed or not stuck:
            found[name] = "skipped"
    return found
