"""Where runs contradict their plan graph: a typo in a graph must never read as an agent's failure (§4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Literal, get_args

import msgspec
from msgspec import Struct

from untaken.errors import Finding, Severity, Unscored, first_few
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import PlanGraph, SubGoal, matches_glob
from untaken.scoring.run_score import NodeResult, RunScore
from untaken.scoring.tool_names import alike

DoubtCode = Literal[
    "graph-tool-unknown",
    "graph-check-without-action",
    "graph-never-attempted",
    "graph-never-completed",
    "graph-too-few-runs",
]

DOUBTS: Final[tuple[str, ...]] = get_args(DoubtCode)
"""The codes of their findings."""
MIN_RUNS: Final = 5
"""Fewest runs from which a tool that none of them calls is doubted: what half of the runs do is missing in
five by 3%."""
MIN_SUCCESSES: Final = 3
"""Fewest successful runs that must do without a sub-goal before it is doubted."""
NAMED: Final = 5
"""Tools that a hint names."""


class GraphDoubt(Struct, frozen=True, kw_only=True):
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
    severity: Severity = "warning"

    @property
    def finding(self) -> Finding:
        """The doubt as documents and the command line show it."""
        return Finding(code=self.code, message=self.message, hint=self.hint, severity=self.severity)


class RunEnd(Struct, frozen=True, kw_only=True, gc=False):
    """What doubts need of a run and its score: the attributes of the same names."""

    tools: frozenset[str]
    graph_id: str
    results: tuple[NodeResult, ...]
    success: bool | Unscored


class _Seen(Struct):
    """What the runs of one graph did.

    Attributes:
        runs: those that called a tool; `total`: all; `succeeded`: of them, the successful ones.
        patterns: `RunScore.results` by identity; `ended`: how often a run ended so, and with success.
        known, attempted: by sub-goal, runs whose attempts at it are known, and those that attempted or
            completed it;
            `known_successes`: of the known ones, the successful.
        holds: by sub-goal, runs in which its check holds, but no mapped action was seen.
        successes, completed: by sub-goal, successful runs with evidence for it, and those that completed it.
    """

    tools: set[str] = msgspec.field(default_factory=set)
    runs: int = 0
    total: int = 0
    succeeded: int = 0
    patterns: dict[int, tuple[NodeResult, ...]] = msgspec.field(default_factory=dict)
    ended: Counter[tuple[int, bool]] = msgspec.field(default_factory=Counter)
    known: Counter[str] = msgspec.field(default_factory=Counter)
    known_successes: Counter[str] = msgspec.field(default_factory=Counter)
    attempted: Counter[str] = msgspec.field(default_factory=Counter)
    holds: Counter[str] = msgspec.field(default_factory=Counter)
    successes: Counter[str] = msgspec.field(default_factory=Counter)
    completed: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, run: Run | RunEnd, score: RunScore | RunEnd) -> None:
        self.tools |= run.tools
        self.runs += bool(run.tools)  # without a call, a run says nothing of tools
        self.total += 1
        self.succeeded += score.success is True
        pattern = id(score.results)  # most runs share theirs with others
        self.patterns[pattern] = score.results  # kept, or another could get the same `id`
        self.ended[pattern, score.success is True] += 1

    def count(self) -> None:
        """Counts the results by sub-goal."""
        for (pattern, success), times in self.ended.items():
            for node in self.patterns[pattern]:
                name, required = node.sub_goal, node.status != "not_required"
                self.attempted[name] += times * (node.attempted is True or node.completed is True)
                self.holds[name] += times * (required and node.holds)
                known = required and node.attempted is not None
                self.known[name] += times * known
                self.known_successes[name] += times * (known and success)
                if required and success and node.completed is not None:
                    self.successes[name] += times
                    self.completed[name] += times * node.completed

    def silent(self, name: str) -> bool:
        """Whether no run attempts a sub-goal, or no successful one completes it."""
        idle = self.known[name] > 0 and not self.attempted[name]
        return idle or (self.successes[name] > 0 and not self.completed[name])


def graph_doubts(
    graphs: Iterable[PlanGraph],
    scored: Iterable[tuple[Run | RunEnd, RunScore | RunEnd]],
    *,
    tools: Collection[str] = (),
) -> tuple[GraphDoubt, ...]:
    """Sub-goals that the runs speak against, by graph, in the order of its sub-goals; at most one for each.

    ``graph-tool-unknown``: a rule or check names a tool that no run calls, of any graph or in `tools`, and
    none of at least `MIN_RUNS` runs, one of them a success, attempts the sub-goal.
    ``graph-check-without-action``: its check holds in runs in which no mapped action was seen.
    ``graph-never-attempted``: no run with known attempts attempts it, at least `MIN_SUCCESSES` successes
    among them. ``graph-never-completed``: none of at least `MIN_SUCCESSES` successful runs with evidence
    completes it. ``graph-too-few-runs``, once and last: such sub-goals of fewer runs, which say nothing yet.

    `tools` are called by runs that were read with these and have no score.
    """
    seen: defaultdict[str, _Seen] = defaultdict(_Seen)
    for run, score in scored:
        seen[score.graph_id].add(run, score)
    # What runs of another plan call exists, and is no typo either.
    everywhere = frozenset(tools).union(*(one.tools for one in seen.values()))
    for one in seen.values():
        one.count()
    doubts: list[GraphDoubt] = []
    silent: list[tuple[str, SubGoal, _Seen]] = []
    for graph in graphs:
        if graph.id not in seen:
            continue
        runs = seen[graph.id]
        for node in graph.sub_goals:
            if doubt := _doubt(graph.id, node, runs, everywhere):
                doubts.append(doubt)
            elif runs.silent(node.id):
                silent.append((graph.id, node, runs))
    return (*doubts, _too_few(silent)) if silent else tuple(doubts)


def _too_few(silent: Sequence[tuple[str, SubGoal, _Seen]]) -> GraphDoubt:
    """Sub-goals that no run did, of plans with too few runs to say anything about them."""
    graph_id, node, runs = silent[0]
    more = f", and {counted(len(silent) - 1, 'more sub-goal')}" if silent[1:] else ""
    return GraphDoubt(
        code="graph-too-few-runs",
        graph_id=graph_id,
        sub_goal=node.id,
        runs=runs.runs,
        message=f"too few runs to doubt the plan: {node.id!r} of {graph_id!r} is not completed in "
        f"{counted(runs.total, 'run')}, {runs.succeeded:,} of them successful{more}",
        hint=f"It takes {MIN_SUCCESSES} successful runs to question a plan.",
        severity="note",
    )


def _doubt(graph_id: str, node: SubGoal, seen: _Seen, tools: frozenset[str]) -> GraphDoubt | None:
    name = node.id
    idle = not seen.attempted[name]

    def doubt(
        code: DoubtCode, runs: int, message: str, hint: str, suggestions: tuple[str, ...] = ()
    ) -> GraphDoubt:
        return GraphDoubt(
            code=code,
            graph_id=graph_id,
            sub_goal=name,
            runs=runs,
            message=f"the plan graph {graph_id!r} may be wrong: {message}",
            hint=hint,
            suggestions=suggestions,
        )

    if idle and (unknown := _unknown_tool(node, seen, tools)) is not None:
        return doubt("graph-tool-unknown", seen.runs, *unknown)
    if seen.holds[name]:
        return doubt(
            "graph-check-without-action",
            seen.holds[name],
            f"the check of {name!r} holds in {counted(seen.holds[name], 'run')} in which no mapped "
            "action was seen",
            "Map an action to it, or write `needs_action: false`.",
        )
    if idle and seen.known_successes[name] >= MIN_SUCCESSES:
        return doubt(
            "graph-never-attempted",
            seen.known[name],
            f"none of {counted(seen.known[name], 'run')} attempts {name!r}, "
            f"{seen.known_successes[name]} successful ones among them",
            "Check that its rules and check match what agents do.",
        )
    if seen.successes[name] >= MIN_SUCCESSES and not seen.completed[name]:
        return doubt(
            "graph-never-completed",
            seen.successes[name],
            f"none of {counted(seen.successes[name], 'successful run')} completes {name!r}",
            "Its check may be too strict, or the sub-goal unnecessary.",
        )
    return None


def _unknown_tool(
    node: SubGoal, seen: _Seen, tools: frozenset[str]
) -> tuple[str, str, tuple[str, ...]] | None:
    """A tool that no ledger knows, in words, with a hint and what is spelled alike."""
    if min(seen.runs, seen.known[node.id]) < MIN_RUNS or not seen.succeeded:
        return None  # in fewer runs, or in failed ones alone, it is the agent's miss
    named = dict(_tools_named(node))
    for tool, part in named.items():
        if any(tool == called or (part == "rule" and matches_glob(tool, called)) for called in tools):
            continue
        # Those named, too, are no typo.
        near = [other for _, other in alike(tool, tools) if other not in named]
        suggestions = tuple(near[:3])
        offered = f"Did you mean {' or '.join(map(repr, suggestions))}?" if suggestions else ""
        message = (
            f"a {part} of {node.id!r} names the tool {tool!r}, "
            f"which none of {counted(seen.runs, 'run')} calls"
        )
        return message, offered or f"They call {_some(sorted(seen.tools))}.", suggestions
    return None


def _tools_named(node: SubGoal) -> Iterator[tuple[str, str]]:
    """Each tool (in a rule, glob) that a sub-goal names, and whether a rule or the check names it."""
    for rule in node.rules:
        if rule.tool is not None:
            yield rule.tool, "rule"
    if node.check is not None and node.check.tool_call is not None:
        yield node.check.tool_call.name, "check"


def _some(names: Sequence[str]) -> str:
    return first_few([*map(repr, names)], NAMED)
