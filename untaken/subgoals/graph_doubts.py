"""Where runs contradict their plan graph: a typo in a graph must never read as an agent's failure (§4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from msgspec import Struct

from untaken.errors import Finding, Unscored
from untaken.ledger.run import Run
from untaken.plans.globs import matches_glob
from untaken.plans.plan_graph import PlanGraph, SubGoal
from untaken.present.numbers import counted
from untaken.subgoals.run_score import NodeResult, RunScore
from untaken.subgoals.tool_names import CLOSE, alike

DoubtCode = Literal["graph-tool-unknown", "graph-never-attempted", "graph-never-completed"]

DOUBTS: Final[tuple[str, ...]] = get_args(DoubtCode)
"""The codes of their findings."""
MIN_RUNS: Final = 5
"""Fewest runs from which silence says something: what half of the runs do is missing in five by 3%."""
NAMED: Final = 5
"""Tools that a hint names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDoubt:
    """A sub-goal of a plan graph that the runs speak against; its names are untrusted text.

    Attributes:
        runs: number of runs that this rests on.
        suggestions: tools that were called and are spelled alike, the most alike first.
    """

    code: DoubtCode
    graph_id: str
    sub_goal: str
    runs: int
    message: str
    hint: str
    suggestions: tuple[str, ...] = ()

    @property
    def finding(self) -> Finding:
        """The doubt as documents and the command line show it."""
        return Finding(code=self.code, message=self.message, hint=self.hint)


class RunEnd(Struct, frozen=True, kw_only=True, gc=False):
    """What doubts need of a run and its score: the attributes of the same names."""

    tools: frozenset[str]
    graph_id: str
    results: tuple[NodeResult, ...]
    success: bool | Unscored


@dataclass(slots=True)
class _Seen:
    """What the runs of one graph did.

    Attributes:
        runs: those that called a tool.
        patterns: `RunScore.results` by identity; `ended`: how often a run ended so, and with success.
        known, attempted: by sub-goal, runs whose attempts at it are known, and those that attempted it.
        successes, completed: by sub-goal, successful runs with evidence for it, and those that completed it.
    """

    tools: set[str] = field(default_factory=set)
    runs: int = 0
    patterns: dict[int, tuple[NodeResult, ...]] = field(default_factory=dict)
    ended: Counter[tuple[int, bool]] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    attempted: Counter[str] = field(default_factory=Counter)
    successes: Counter[str] = field(default_factory=Counter)
    completed: Counter[str] = field(default_factory=Counter)

    def add(self, run: Run | RunEnd, score: RunScore | RunEnd) -> None:
        self.tools |= run.tools
        self.runs += bool(run.tools)
        pattern = id(score.results)  # most runs share theirs with others
        self.patterns[pattern] = score.results
        self.ended[pattern, score.success is True] += 1

    def count(self) -> None:
        """Counts the results by sub-goal."""
        for (pattern, success), times in self.ended.items():
            for node in self.patterns[pattern]:
                name, required = node.sub_goal, node.status != "not_required"
                self.attempted[name] += times * (node.attempted is True)
                self.known[name] += times * (required and node.attempted is not None)
                if required and success and node.completed is not None:
                    self.successes[name] += times
                    self.completed[name] += times * node.completed


def graph_doubts(
    graphs: Iterable[PlanGraph], scored: Iterable[tuple[Run | RunEnd, RunScore | RunEnd]]
) -> tuple[GraphDoubt, ...]:
    """Sub-goals that the runs speak against, by graph, in the order of its sub-goals; at most one for each.

    ``graph-tool-unknown``: a rule or check names a tool that no run calls, and either a tool with nearly the
    same name is called, or at least `MIN_RUNS` runs called tools and none attempted the sub-goal.
    ``graph-never-attempted``: none of at least `MIN_RUNS` runs with known attempts attempted it.
    ``graph-never-completed``: none of at least `MIN_RUNS` successful runs with evidence completed it.
    """
    seen: defaultdict[str, _Seen] = defaultdict(_Seen)
    for run, score in scored:
        seen[score.graph_id].add(run, score)
    for one in seen.values():
        one.count()
    return tuple(
        doubt
        for graph in graphs
        if graph.id in seen
        for node in graph.sub_goals
        if (doubt := _doubt(graph.id, node, seen[graph.id])) is not None
    )


def _doubt(graph_id: str, node: SubGoal, seen: _Seen) -> GraphDoubt | None:
    name = node.id
    idle = not seen.attempted[name]
    found = _unknown_tool(node, seen, idle=idle)
    if found is None and idle and seen.known[name] >= MIN_RUNS:
        found = _Doubted(
            code="graph-never-attempted",
            runs=seen.known[name],
            message=f"none of {seen.known[name]} runs attempts {name!r}",
            hint="Check that its rules and check match what agents do.",
        )
    if found is None and seen.successes[name] >= MIN_RUNS and not seen.completed[name]:
        found = _Doubted(
            code="graph-never-completed",
            runs=seen.successes[name],
            message=f"none of {seen.successes[name]} successful runs completes {name!r}",
            hint="Its check may be too strict, or the sub-goal unnecessary.",
        )
    if found is None:
        return None
    return GraphDoubt(
        code=found.code,
        graph_id=graph_id,
        sub_goal=name,
        runs=found.runs,
        message=f"the plan graph {graph_id!r} may be wrong: {found.message}",
        hint=found.hint,
        suggestions=found.suggestions,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Doubted:
    """A `GraphDoubt` without its place."""

    code: DoubtCode
    runs: int
    message: str
    hint: str
    suggestions: tuple[str, ...] = ()


def _unknown_tool(node: SubGoal, seen: _Seen, *, idle: bool) -> _Doubted | None:
    named = dict(_tools_named(node))
    for tool, part in named.items():
        if any(tool == called or (part == "rule" and matches_glob(tool, called)) for called in seen.tools):
            continue
        near = [(how, other) for how, other in alike(tool, seen.tools) if other not in named]
        misspelled = bool(near) and near[0][0] >= CLOSE
        if misspelled or (idle and min(seen.runs, seen.known[node.id]) >= MIN_RUNS):
            suggestions = tuple(other for _, other in near[:3])
            offered = f"Did you mean {' or '.join(map(repr, suggestions))}?" if suggestions else ""
            return _Doubted(
                code="graph-tool-unknown",
                runs=seen.runs,
                message=f"a {part} of {node.id!r} names the tool {tool!r}, "
                f"which none of {counted(seen.runs, 'run')} calls",
                hint=offered or f"They call {_some(sorted(seen.tools))}.",
                suggestions=suggestions,
            )
    return None


def _tools_named(node: SubGoal) -> Iterator[tuple[str, str]]:
    """Each tool (in a rule, glob) that a sub-goal names, and whether a rule or the check names it."""
    for rule in node.rules:
        if rule.tool is not None:
            yield rule.tool, "rule"
    if node.check is not None and node.check.tool_call is not None:
        yield node.check.tool_call.name, "check"


def _some(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(map(repr, names[:NAMED])) + (f" and {more} more" if more > 0 else "")
