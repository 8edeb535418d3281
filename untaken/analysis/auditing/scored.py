"""The runs of one plan with their scores, as an audit looks at them (§10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from untaken.analysis.auditing.mutants import without_verdicts
from untaken.errors import Unscored, UntakenError
from untaken.ledger import Run, RunFinished, State, copies_of
from untaken.plans import PlanGraph, matches_glob, read_source
from untaken.scoring import (
    CompiledGraph,
    NodeResult,
    RunScore,
    StateFold,
    compiled_graph,
    score_together,
)


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """A run and its score against the plan."""

    run: Run
    score: RunScore

    @property
    def success(self) -> bool | Unscored:
        """The recorded outcome."""
        return self.score.success

    @cached_property
    def results(self) -> dict[str, NodeResult]:
        """How each sub-goal ended."""
        return {result.sub_goal: result for result in self.score.results}

    def completed(self, name: str) -> bool:
        """Whether it completed a sub-goal."""
        return self.results[name].completed is True

    def speaks(self, name: str) -> bool:
        """Whether it can say anything about a sub-goal: required, and with actions recorded."""
        result = self.results[name]
        acted = bool(self.run.tools) or result.attempted is not None or result.completed is not None
        return result.counts and result.status != "not_required" and acted

    @cached_property
    def first_attempts(self) -> dict[str, int]:
        """`seq` of the first action mapped to each sub-goal."""
        found: dict[str, int] = {}
        for seq, sub_goal, _ in self.score.mapped:
            found[sub_goal] = min(seq, found.get(sub_goal, seq))
        return found

    def tools_beside(self, name: str) -> set[str]:
        """The tools of its calls that serve no sub-goal but this one."""
        served = {seq for seq, sub_goal, _ in self.score.mapped if sub_goal != name}
        return {call.tool for call in self.run.actions if call.seq not in served}

    @cached_property
    def final_state(self) -> dict[str, Any]:
        """The run's state at its end."""
        # What others wrote after the run is no state that the agent left.
        patches = [patch for patch in self.run.of(State) if patch.seq < self.run.own]
        fold = StateFold([*patches, *self.run.of(RunFinished)])
        fold.forward(self.run.own)
        return fold.state

    @cached_property
    def completions(self) -> dict[str, int]:
        """`seq` after which each sub-goal was completed, where a moment is known."""
        ended = zip(self.score.results, self.score.completed_at, strict=True)
        return {each.sub_goal: at for each, at in ended if each.completed and at is not None}


@dataclass(frozen=True, kw_only=True)
class PlanRuns:
    """A plan graph and its runs; copies of a run are one."""

    graph: PlanGraph
    runs: Sequence[PlannedRun]

    @cached_property
    def compiled(self) -> CompiledGraph:
        """The graph as scoring sees it."""
        return compiled_graph(self.graph)

    @cached_property
    def successes(self) -> list[PlannedRun]:
        """The runs that succeeded."""
        return [one for one in self.runs if one.success is True]

    def changes(self, tool: str) -> bool:
        """Whether the plan says that a tool changes something."""
        return any(matches_glob(glob, tool) for glob in self.graph.mutates)

    @cached_property
    def _bare(self) -> dict[str, PlannedRun]:  # a frozen object's cache
        return {}

    def bare(self, run: Run) -> PlannedRun:
        """The run without verdicts and its score, made once for all sub-goals."""
        if run.digest not in self._bare:
            bare = without_verdicts(run)
            self._bare[run.digest] = PlannedRun(run=bare, score=next(score_together([bare], self.graph)))
        return self._bare[run.digest]


def read_paths(expression: str) -> list[tuple[str, ...]]:
    """The places in the state that an expression reads, each once."""
    try:
        paths = read_source(expression).paths
    except UntakenError:  # the same fault makes the check itself unscored
        return []
    return list(dict.fromkeys(path.segments for path in paths if path.segments))


def by_plan(graphs: Iterable[PlanGraph], scored: Iterable[tuple[Run, RunScore]]) -> list[PlanRuns]:
    """The runs of each graph, in the order of the graphs; one without runs is there, too."""
    given = list(scored)
    copies = copies_of(run for run, _ in given)
    found: defaultdict[str, list[PlannedRun]] = defaultdict(list)
    for run, score in given:
        if run.digest not in copies:  # the first of some copies is none of them
            found[score.graph_id].append(PlannedRun(run=run, score=score))
    return [PlanRuns(graph=graph, runs=found[graph.id]) for graph in graphs]
