"""Branches of a plan graph: what is near a sub-goal, what can be drawn as one box, which lines say enough."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import networkx as nx

from untaken.plans import SubGoal

Pair = tuple[int, int]
"""Positions of two boxes."""


def around(goals: Sequence[SubGoal], centre: str | None) -> list[SubGoal]:
    """A sub-goal, what it needs and what needs it; all of them without one."""
    if centre is None or all(goal.id != centre for goal in goals):
        return list(goals)
    flow = _flow(goals)
    near = {centre} | nx.ancestors(flow, centre) | nx.descendants(flow, centre)
    return [goal for goal in goals if goal.id in near]


def _flow(goals: Iterable[SubGoal]) -> nx.DiGraph:
    """What leads to what among these sub-goals; options of an `any_of` count as needed."""
    flow = nx.DiGraph()
    flow.add_nodes_from(goal.id for goal in goals)
    flow.add_edges_from((n, goal.id) for goal in goals for n in (*goal.deps, *goal.any_of) if n in flow)
    return flow


def groups_of(
    goals: list[SubGoal], status: Mapping[str, str], noted: Collection[str], expanded: Collection[str]
) -> list[list[SubGoal]]:
    """Contract what is finished, and branches that were never reached; sub-goals in `noted` stand alone.

    Finished sub-goals belong together where they are connected and have the same unfinished ones before them;
    unreached ones where nothing after them was reached. No path leaves such a group and comes back, so
    contracting them makes no cycle.
    """
    flow = _flow(goals)
    done = {g.id for g in goals if status[g.id] in ("completed", "not_required")} - set(noted)
    idle = {g.id for g in goals if status[g.id] in ("skipped", "not_required")} - done
    reached = flow.copy()  # all that is not idle leads to a node that is no sub-goal: a number
    reached.add_node(0)
    reached.add_edges_from((goal, 0) for goal in flow if goal not in idle)
    branches = [*_by_what_came_before(done, flow), idle - nx.ancestors(reached, 0)]
    group_of: dict[str, int] = {}
    for branch in branches:
        for part in nx.weakly_connected_components(flow.subgraph(branch)):
            if len(part) > 1 and not part & set(expanded):
                # Numbers, which no sub-goal has as its id.
                group_of |= dict.fromkeys(part, len(group_of) + len(goals))
    groups: dict[object, list[SubGoal]] = {}
    for goal in goals:
        groups.setdefault(group_of.get(goal.id, goal.id), []).append(goal)
    return list(groups.values())


def _by_what_came_before(done: set[str], flow: nx.DiGraph) -> list[set[str]]:
    """The finished sub-goals, grouped by which unfinished ones are before them (as bits)."""
    if not nx.is_directed_acyclic_graph(flow):
        return []
    bit = {goal: 1 << number for number, goal in enumerate(goal for goal in flow if goal not in done)}
    before: dict[str, int] = {}
    parts: dict[int, set[str]] = {}
    for goal in nx.topological_sort(flow):
        before[goal] = 0
        for dep in flow.predecessors(goal):
            before[goal] |= before[dep] | bit.get(dep, 0)
        if goal in done:
            parts.setdefault(before[goal], set()).add(goal)
    return list(parts.values())


def reduced(lines: Sequence[Pair]) -> Collection[Pair]:
    """The lines that no longer way implies: such a line would run behind the boxes on that way."""
    drawn = nx.DiGraph(lines)
    kept: Collection[Pair] = (
        nx.transitive_reduction(drawn).edges if nx.is_directed_acyclic_graph(drawn) else drawn.edges
    )
    return kept
