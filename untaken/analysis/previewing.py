"""What an edited plan graph would change: which runs, on which sub-goals, from what to what (§4)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from msgspec import Struct
from msgspec.structs import replace as struct_replace

from untaken.errors import Unscored, number
from untaken.ledger import Run
from untaken.plans import GraphSet, PlanGraph, graph_digest
from untaken.scoring import (
    AgentScore,
    GraphDoubt,
    MissingRule,
    RunScore,
    Status,
    graph_doubts,
    score_agents,
    score_run,
)

Progress = Callable[[int, int, str], None]
SECONDS: Final = 5.0
"""Seconds after which a preview stops, and says how many runs it did not look at."""


class StatusChange(Struct, frozen=True, kw_only=True):
    """A sub-goal whose status in one run would be another.

    Attributes:
        digest: of the run.
        before, after: ``None`` where the sub-goal, or the run's score, is not there.
    """

    digest: str
    run_id: str
    agent: str
    sub_goal: str
    before: Status | None
    after: Status | None


class AgentEffect(Struct, frozen=True, kw_only=True):
    """The runs of one agent pooled, under the graph in force and under the edited one."""

    agent: str
    before: AgentScore | None
    after: AgentScore | None

    @property
    def moved(self) -> bool:
        """Whether the agent completes another share of its sub-goals."""
        before, after = (None if one is None else number(one.completion) for one in (self.before, self.after))
        return before != after

    @property
    def runs(self) -> int:
        """The runs it rests on, of the graph that covers more of them."""
        return max(one.runs for one in (self.before, self.after) if one is not None)


class Preview(Struct, frozen=True, kw_only=True):
    """What would change if the edited graph were in force.

    Attributes:
        runs: the checked runs that either graph covers.
        left: that were not looked at, for time.
        changes: in the order of runs, then of sub-goals.
        moved: digests of runs in which anything that is counted would change: a status, a violation, what an
            action served.
        joining, leaving: digests of runs that only the edited graph covers, or only the old one.
        agents: by name; of the runs that were looked at.
        scores: of these runs under the edited graph, by digest.
        doubts: where these runs speak against the edited graph.
        unmapped_before, unmapped_after: actions that serve no sub-goal.
        missing: the rule for missing verdicts.
    """

    runs: int
    left: int
    changes: tuple[StatusChange, ...]
    moved: tuple[str, ...]
    joining: tuple[str, ...]
    leaving: tuple[str, ...]
    agents: tuple[AgentEffect, ...]
    scores: Mapping[str, RunScore]
    doubts: tuple[GraphDoubt, ...]
    unmapped_before: int
    unmapped_after: int
    missing: MissingRule

    @property
    def flows(self) -> Mapping[tuple[str, Status | None, Status | None], int]:
        """Number of runs by (sub-goal, status before, status after), the most frequent first."""
        return dict(Counter((c.sub_goal, c.before, c.after) for c in self.changes).most_common())


def preview(
    runs: Iterable[Run],
    graphs: GraphSet,
    edited: PlanGraph,
    *,
    known: Mapping[str, RunScore | Unscored] | None = None,
    missing: MissingRule = "fail",
    verdicts: Sequence[str] = (),
    seconds: float | None = SECONDS,
    progress: Progress | None = None,
) -> Preview:
    """Score the runs of a graph again as if its edited version were in force, and compare.

    Runs of other graphs are not looked at; what cannot change a score (a description, metadata) scores
    nothing again.

    Args:
        runs: of the workspace.
        graphs: the current ones; `edited` is compared with the one of the same id.
        edited: a valid plan graph.
        known: scores under `graphs` and the same rules, by run digest; what is missing is scored.
        missing: how sub-goals without a verdict count.
        verdicts: globs over VERDICT.by; empty counts everybody's.
        seconds: to spend; ``None`` for as long as it takes.
        progress: called with (done, total, what); may raise to give up.
    """
    now, then = graphs.get(edited.id), with_graph(graphs, edited)
    pairs = [
        (run, _serves(graphs, run, now), _serves(then, run, edited))
        for run in runs
        if not run.integrity.broken
    ]
    concerned = [pair for pair in pairs if pair[1] is not None or pair[2] is not None]
    until = None if seconds is None else time.monotonic() + seconds  # the clock of the day can be set back
    seen: list[_Compared] = []
    same = now is not None and counts_the_same(now, edited)

    def scored(run: Run, graph: PlanGraph | None) -> RunScore | None:
        return score_run(run, graph, missing=missing, verdicts=tuple(verdicts)) if graph else None

    for run, old, new in concerned:
        if until is not None and time.monotonic() > until:
            break
        held = known.get(run.digest) if known and old else None
        before = held if isinstance(held, RunScore) else scored(run, old)
        after = before if same and old and new else scored(run, new)  # of what differs, no score tells
        seen.append((run, before, after))
        if progress and (len(seen) % 50 == 0 or len(seen) == len(concerned)):
            progress(len(seen), len(concerned), "scoring runs again")
    # Of all runs, including those that there was no time for.
    tools = frozenset[str]().union(*(run.tools for run, _, _ in pairs))
    return _summary(seen, len(concerned) - len(seen), edited, missing, tools)


def with_graph(graphs: GraphSet, graph: PlanGraph) -> GraphSet:
    """The graphs as they would be with this one in force: it takes the place of the one with its id."""
    found = [graph if other.id == graph.id else other for other in graphs.graphs]
    if graphs.get(graph.id) is None:
        found.append(graph)
    # It settles which one of its id is meant.
    return replace(graphs, graphs=tuple(found), ambiguous=graphs.ambiguous - {graph.id})


def runs_of(runs: Iterable[Run], graphs: GraphSet, graph_id: str) -> list[Run]:
    """The unbroken runs that a graph covers."""
    graph = graphs.get(graph_id)
    return [run for run in runs if not run.integrity.broken and _serves(graphs, run, graph) is not None]


def counts_the_same(one: PlanGraph, other: PlanGraph) -> bool:
    """Whether two graphs can only give the same scores: they differ at most in what no score looks at."""
    return graph_digest(_counted(one)) == graph_digest(_counted(other))


def _counted(graph: PlanGraph) -> PlanGraph:
    nodes = [struct_replace(node, description="", metadata={}) for node in graph.sub_goals]
    # Which tasks a graph covers decides which runs it scores, not how; `_serves` looks at that.
    return struct_replace(graph, version=0, title="", tasks=[], metadata={}, sub_goals=nodes)


def _serves(graphs: GraphSet, run: Run, graph: PlanGraph | None) -> PlanGraph | None:
    """The graph, where it is the one of this run."""
    if graph is None:
        return None
    found, _ = graphs.for_task(run.task_id, run.started.graph)
    return graph if isinstance(found, PlanGraph) and found.id == graph.id else None


_Compared = tuple[Run, RunScore | None, RunScore | None]
"""A run with its score under the graph in force, and under the edited one."""


def _summary(
    seen: Sequence[_Compared], left: int, edited: PlanGraph, missing: MissingRule, tools: frozenset[str]
) -> Preview:
    olds = [before for _, before, _ in seen if before]
    news = [after for *_, after in seen if after]
    then, now = ({one.agent: one for one in score_agents(scores)} for scores in (olds, news))
    return Preview(
        runs=len(seen),
        left=left,
        changes=tuple(change for one in seen for change in _changes(*one)),
        moved=tuple(run.digest for run, before, after in seen if _counts(before) != _counts(after)),
        joining=tuple(run.digest for run, before, _ in seen if before is None),
        leaving=tuple(run.digest for run, _, after in seen if after is None),
        agents=tuple(
            AgentEffect(agent=a, before=then.get(a), after=now.get(a)) for a in sorted({*then, *now})
        ),
        scores={score.digest: score for score in news},
        doubts=graph_doubts([edited], ((run, after) for run, _, after in seen if after), tools=tools),
        unmapped_before=sum(len(score.extra) for score in olds),
        unmapped_after=sum(len(score.extra) for score in news),
        missing=missing,
    )


def _changes(run: Run, old: RunScore | None, new: RunScore | None) -> Iterator[StatusChange]:
    before, after = (
        {node.sub_goal: node.status for node in score.results} if score else {} for score in (old, new)
    )
    for name in dict.fromkeys([*after, *before]):  # in the edited graph's order, then what it no longer has
        if before.get(name) != after.get(name):
            yield StatusChange(
                digest=run.digest,
                run_id=run.run_id,
                agent=run.agent,
                sub_goal=name,
                before=before.get(name),
                after=after.get(name),
            )


def _counts(score: RunScore | None) -> object:
    """What is counted of a run; words and evidence are not."""
    if score is None:
        return None
    nodes = [(node.sub_goal, node.status, node.attempted, node.critical) for node in score.results]
    return nodes, score.violations, score.mapped, score.extra
