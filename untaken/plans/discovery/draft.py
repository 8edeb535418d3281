"""Drafts a plan graph from successful runs (§4, discovery)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import asdict, replace

from untaken.errors import Finding, UntakenError, first_few
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans.discovery.calls import FamilyFit, TaskFit, family_fit, orders_by_calls, shared_calls
from untaken.plans.discovery.first_attempts import (
    FirstAttempts,
    orders_by_graph,
    orders_by_names,
    orders_by_plans,
    unusable,
)
from untaken.plans.discovery.precedence import (
    Pair,
    Precedence,
    alternatives,
    before,
    measured,
    precedence,
    without_circles,
)
from untaken.plans.discovery.proposed_graph import (
    MIN_RUNS,
    MIN_SHARE,
    THETA,
    Alternatives,
    FoundSubGoal,
    ProposedGraph,
    SharedCall,
    Source,
    Support,
)
from untaken.plans.plan_graph import PlanGraph, SubGoal
from untaken.plans.structure import ancestors, topological, transitive_reduction
from untaken.stats import wilson

LARGEST: Final = 1_000
"""Sub-goals of a draft: nobody could go through more."""
MOST_NAMED: Final = 3
"""Tasks that a plan does not fit, and tools of one, that are named."""


class DraftThresholds(msgspec.Struct, frozen=True, kw_only=True):
    """What a sub-goal and an edge need to be in a draft."""

    theta: float = THETA
    min_share: float = MIN_SHARE
    min_runs: int = MIN_RUNS


def discover(
    runs: Iterable[Run],
    graph: PlanGraph | None = None,
    *,
    theta: float = THETA,
    min_share: float = MIN_SHARE,
    min_runs: int = MIN_RUNS,
    graph_id: str = "draft",
    source: Source = "actions",
    mutates: Collection[str] = (),
    reads: Collection[str] = (),
) -> ProposedGraph:
    """Propose a plan graph: sub-goals that runs attempted, and edges where one came before the other.

    An edge says what came first in runs that succeeded, not what is needed: where everybody keeps one order,
    habit and need look the same. Runs are used that succeeded and whose ledger is not broken; for their
    plans also those whose success is not recorded, for a plan says what was meant, however it went.

    Args:
        runs: to learn from.
        graph: says by its tags, rules and checks which action serves which sub-goal, and is what the draft is
            a next version of; without one, tags and tools are the sub-goals.
        theta: of the runs that attempted both, the share in which the one came first; above ½, at most 1.
        min_share: of the runs, the share that attempted a sub-goal of the draft.
        min_runs: that attempted both sub-goals of an edge.
        graph_id: of the draft, where there is no `graph`.
        source: of the sub-goals where there is no `graph`: the ``actions`` of runs, or the steps of the
            ``plans`` that they wrote down (to-do lists of coding agents), or the ``calls``, tool and
            arguments, that all successes of one task make; for their order two runs are enough.
        mutates: of a draft of calls, globs of the tools that change something: their calls are in the draft.
        reads: of a draft of calls, the offered sub-goals that are in it, too.

    Raises:
        UntakenError: ``draft-threshold-invalid``; ``draft-without-runs`` where nothing is left to learn from;
            ``draft-too-large``; of a draft of calls, as `shared_calls`.
    """
    limits = _valid(DraftThresholds(theta=theta, min_share=min_share, min_runs=min_runs))
    used, left_out = _usable(runs, "actions" if graph is not None else source)
    if not used:
        why = ", ".join(f"{count} {words}" for words, count in left_out.items()) or "there are no runs"
        raise UntakenError("draft-without-runs", f"no successful run to learn from: {why}")
    offered: tuple[SharedCall, ...] = ()
    if graph is None and source == "calls":
        offered = shared_calls(used, mutates)
        orders, nodes = orders_by_calls(used, [c for c in offered if c.changes or c.sub_goal in reads])
        base = PlanGraph(id=graph_id, version=0, mutates=sorted(mutates), sub_goals=nodes)
        # A task is seldom run as often as elsewhere.
        limits = replace(limits, min_runs=min(limits.min_runs, max(2, len(used))))
    elif graph is None:
        orders, nodes = orders_by_plans(used) if source == "plans" else orders_by_names(used)
        base = PlanGraph(id=graph_id, version=0, sub_goals=nodes)
    else:
        orders, base = orders_by_graph(used, graph), graph
    draft = replace(_Drafting(orders, base, limits).draft(graph, left_out), offered=offered)
    fit = family_fit(used) if graph is None and source == "actions" else None
    return draft if fit is None else replace(draft, findings=(*draft.findings, _fit_finding(fit)))


def _fit_finding(fit: FamilyFit) -> Finding:
    """Whether the steps are one plan of all tasks: each task compared with the others."""
    rates = (
        f"over {fit.tasks} tasks, a plan of the others holds {fit.found:.0%} of the steps that a task's "
        f"successes share, and {fit.extra:.0%} of its steps are not that task's"
    )
    rates = first_few([rates, *map(_misfit, fit.misfits)], 1 + MOST_NAMED, "; ")
    if fit.one_plan:
        return Finding(code="draft-one-plan", message=f"one plan fits these tasks ({rates})", severity="note")
    return Finding(
        code="draft-not-one-plan",
        message=f"no one plan fits these tasks, so read the draft as a list of steps ({rates})",
        hint="Draft one task at a time: --from calls --task ID.",
    )


def _misfit(one: TaskFit) -> str:
    """What a plan of the other tasks lacks for this one, and what it would ask for in vain."""
    parts = [("lacks", one.missing), ("asks in vain for", one.extra)]
    lacking = [f"{words} {', '.join(tools[:MOST_NAMED])}" for words, tools in parts if tools]
    return f"for {one.task_id!r} it {' and '.join(lacking)}"


def _valid(limits: DraftThresholds) -> DraftThresholds:
    if 0.5 < limits.theta <= 1 and 0 <= limits.min_share <= 1 and limits.min_runs >= 1:
        return limits
    raise UntakenError(
        "draft-threshold-invalid",
        "theta must be above 0.5 and at most 1, the least share between 0 and 1, the fewest runs at least 1",
        hint="For example --theta 0.95 --min-share 0.2 --min-runs 5.",
    )


def _usable(runs: Iterable[Run], source: Source) -> tuple[list[Run], dict[str, int]]:
    used: list[Run] = []
    left: Counter[str] = Counter()
    for run in runs:
        why = unusable(run, source)
        if why is None:
            used.append(run)
        else:
            left[why] += 1
    return used, dict(sorted(left.items()))


class _Drafting:
    """One draft in the making."""

    def __init__(self, orders: Sequence[FirstAttempts], base: PlanGraph, limits: DraftThresholds) -> None:
        self.orders = orders
        self.base = base
        self.limits = limits
        self.held = Counter(name for order in orders for name in order.first)
        self.groups = {node.id: node.any_of for node in base.sub_goals if node.any_of}

    def draft(self, current: PlanGraph | None, left_out: Mapping[str, int]) -> ProposedGraph:
        known = [node.id for node in self.base.sub_goals if self.held[node.id]]
        kept = [name for name in known if self.held[name] >= self.limits.min_share * len(self.orders)]
        if len(kept) > LARGEST:
            raise UntakenError(
                "draft-too-large",
                f"{len(kept):,} sub-goals; a draft holds at most {LARGEST:,}",
                hint="Raise the minimum share of runs (--min-share).",
            )
        counts = precedence(self.orders, kept, {})
        proposed = self.proposed(counts)
        if proposed:
            # Counted again: groups have an order of their own.
            counts = precedence(self.orders, kept, {group.sub_goal: group.options for group in proposed})
        ordered, dropped = without_circles(self.relation(counts, proposed), len(counts.names))
        graph = self.graph(counts, ordered, proposed)
        edges = _edges(graph, counts)
        return ProposedGraph(
            graph=msgspec.structs.replace(graph, metadata=self.metadata(graph, edges, proposed)),
            current=current,
            runs=len(self.orders),
            agents=dict(sorted(Counter(order.agent for order in self.orders).items())),
            left_out=left_out,
            unmapped=sum(order.unmapped for order in self.orders),
            # No run holds a proposed group yet.
            sub_goals=tuple(self.found(node.id) for node in graph.sub_goals if node.id in self.held),
            rare=tuple(self.found(name) for name in known if name not in kept),
            edges=edges,
            dropped=tuple(map(counts.support, dropped)),
            implied=(implied := tuple(self.implied(graph, counts))),
            alternatives=proposed,
            theta=self.limits.theta,
            min_share=self.limits.min_share,
            min_runs=self.limits.min_runs,
            findings=tuple(self.findings(counts, dropped, implied)),
        )

    def proposed(self, counts: Precedence) -> tuple[Alternatives, ...]:
        """Groups that the base does not have yet."""
        known = {*self.groups, *(option for options in self.groups.values() for option in options)}
        limits = self.limits
        ways = before(counts, theta=limits.theta, min_runs=limits.min_runs)
        among = set(counts.names) - known
        return alternatives(counts, ways, among, theta=limits.theta, min_runs=limits.min_runs)

    def relation(self, counts: Precedence, proposed: Sequence[Alternatives]) -> list[Pair]:
        """What comes before what."""
        place = {name: n for n, name in enumerate(counts.names)}
        groups = self.groups | {group.sub_goal: list(group.options) for group in proposed}
        ways = before(counts, theta=self.limits.theta, min_runs=self.limits.min_runs)
        there, unwanted = set(ways), set[Pair]()
        for group, options in groups.items():
            for option in options:
                if group in place and option in place:
                    one, other = place[group], place[option]
                    unwanted |= {(one, other), (other, one)}
                    # Nothing needs an option where it can need the group: the other would do.
                    unwanted |= {(other, n) for n in range(len(place)) if (one, n) in there}
        return [way for way in ways if way not in unwanted]

    def graph(self, counts: Precedence, kept: Sequence[Pair], proposed: Sequence[Alternatives]) -> PlanGraph:
        """The draft without what it rests on: reduced, each sub-goal after what it needs."""
        deps: dict[str, list[str]] = {name: [] for name in counts.names}
        for a, b in kept:
            deps[counts.names[b]].append(counts.names[a])
        known = {node.id: node for node in self.base.sub_goals}
        offered = {group.sub_goal: group for group in proposed}
        nodes = [
            _group(offered[name], deps[name])
            if name in offered
            else msgspec.structs.replace(
                known[name],
                deps=sorted(deps[name], key=counts.names.index),
                # Options that hardly any run took are dropped.
                any_of=[option for option in known[name].any_of if option in deps],
            )
            for name in counts.names
        ]
        # A version of its own: once accepted, it counts in place of the graph that it was made from.
        whole = msgspec.structs.replace(self.base, version=self.base.version + 1, sub_goals=nodes)
        reduced = transitive_reduction(whole)
        by_id = {node.id: node for node in reduced.sub_goals}
        return msgspec.structs.replace(reduced, sub_goals=[by_id[name] for name in topological(reduced)])

    def implied(self, graph: PlanGraph, counts: Precedence) -> Iterator[Support]:
        """Orders that follow from the draft, and that enough runs contradict."""
        place = {name: n for n, name in enumerate(counts.names)}
        for name, above in ancestors(graph).items():
            for dependency in sorted(above):
                pair = place[dependency], place[name]
                if counts.both[pair] >= self.limits.min_runs and counts.share(pair) < self.limits.theta:
                    yield counts.support(pair)

    def found(self, name: str) -> FoundSubGoal:
        runs, of = self.held[name], len(self.orders)
        low, high = wilson(runs, of)
        return FoundSubGoal(sub_goal=name, runs=runs, share=runs / of, low=low, high=high)

    def metadata(
        self, graph: PlanGraph, edges: Sequence[Support], proposed: Sequence[Alternatives]
    ) -> dict[str, Any]:
        """The mark that keeps a draft from scoring runs, and what each part of it rests on."""
        support = {
            **asdict(self.limits),
            "runs": len(self.orders),
            "agents": sorted({order.agent for order in self.orders}),
            "sub_goals": {node.id: self.held[node.id] for node in graph.sub_goals if node.id in self.held},
            "edges": [_rounded(edge) for edge in edges],
            "alternatives": [
                msgspec.to_builtins(group) | {"options": [*group.options]} for group in proposed
            ],
        }
        return {**self.base.metadata, "draft": True, "support": support}

    def findings(
        self, counts: Precedence, dropped: Sequence[Pair], implied: Sequence[Support]
    ) -> Iterator[Finding]:
        pairs = measured(counts, self.limits.min_runs)
        if pairs and all(counts.first[p] == 0 or counts.first[p[::-1]] == 0 for p in pairs):
            yield Finding(
                code="draft-one-order",
                message=f"no two sub-goals changed order in {len(self.orders)} runs: requirement and "
                "habit cannot be separated",
                hint="Add runs of agents that use another order, or remove edges by hand.",
            )
        for pair in dropped[:10]:
            edge = counts.support(pair)
            yield Finding(
                code="draft-circle",
                message=f"{edge.dependency!r} before {edge.sub_goal!r} "
                f"({edge.first} of {counted(edge.both, 'run')}) would close a cycle of stronger "
                "edges; left out",
            )
        if implied:
            yield Finding(
                code="draft-implied",
                message=f"{len(implied)} orders follow from the edges, and are not those of the runs that "
                f"hold both; the first: {implied[0].dependency!r} before {implied[0].sub_goal!r} "
                f"({implied[0].first} of {counted(implied[0].both, 'run')})",
            )
        rare = len(measured(counts, 1)) - len(pairs)
        if rare:
            yield Finding(
                code="draft-seldom-together",
                message=f"{counted(rare, 'pair')} of sub-goals occur{'s' * (rare == 1)} together in fewer "
                f"than {self.limits.min_runs} runs: no edge was tested between them",
                severity="note",
            )


def _group(group: Alternatives, deps: list[str]) -> SubGoal:
    title = " or ".join(group.options)
    metadata = {"proposed": True}
    return SubGoal(
        id=group.sub_goal, title=title, deps=sorted(deps), any_of=list(group.options), metadata=metadata
    )


def _edges(graph: PlanGraph, counts: Precedence) -> tuple[Support, ...]:
    place = {name: n for n, name in enumerate(counts.names)}
    return tuple(
        counts.support((place[dep], place[node.id])) for node in graph.sub_goals for dep in node.deps
    )


def _rounded(edge: Support) -> dict[str, Any]:
    return {
        "dependency": edge.dependency,
        "sub_goal": edge.sub_goal,
        "first": edge.first,
        "both": edge.both,
        "low": round(edge.low, 4),
        "high": round(edge.high, 4),
        "agents": edge.agents,
    }
