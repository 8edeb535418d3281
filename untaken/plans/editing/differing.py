"""Edit commands that turn one plan graph into another, as an edited table asks for (§4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from untaken.plans.editing.applying import apply, apply_all
from untaken.plans.editing.edits import (
    FIELDS,
    GRAPH_FIELDS,
    Add,
    Connect,
    Delete,
    Disconnect,
    Edit,
    Move,
    Rename,
    Set,
    SetGraph,
)
from untaken.plans.patterns import json_equal
from untaken.plans.plan_graph import PlanGraph


def edits_between(old: PlanGraph, new: PlanGraph, *, renamed: Mapping[str, str] | None = None) -> list[Edit]:
    """The commands that make `new` of `old`, so ordered that every step between is a valid graph.

    Identity and version of the graph itself stay what they are in `old`; the order in which dependencies are
    listed, which means nothing, too.

    Raises:
        UntakenError: where a rename is not possible.
    """
    made: list[Edit] = [Rename(sub_goal=a, id=b) for a, b in (renamed or {}).items() if a != b]
    graph = apply_all(old, made)
    # Added before deleted: a graph without a sub-goal would be refused on the way.
    for part in (_loosened, _added, _deleted, _changed, _ordered, _of_graph):
        for edit in part(graph, new):
            made.append(edit)
            graph = apply(graph, edit)
    return made


def _loosened(graph: PlanGraph, new: PlanGraph) -> Iterator[Edit]:
    """What goes, first: fewer dependencies and options never close a circle."""
    wanted = {node.id: node for node in new.sub_goals}
    for node in graph.sub_goals:
        if (after := wanted.get(node.id)) is not None:
            for dep in dict.fromkeys(node.deps):
                if dep not in after.deps and dep in wanted:  # who goes takes its dependencies along
                    yield Disconnect(dependency=dep, sub_goal=node.id)
            if set(node.any_of) - set(after.any_of):
                kept = [option for option in node.any_of if option in after.any_of]
                yield Set(sub_goal=node.id, field="any_of", value=kept)


def _added(graph: PlanGraph, new: PlanGraph) -> Iterator[Edit]:
    known = {node.id for node in graph.sub_goals}
    for node in new.sub_goals:
        if node.id not in known:
            yield Add(sub_goal=replace(node, deps=[], any_of=[]))


def _deleted(graph: PlanGraph, new: PlanGraph) -> Iterator[Edit]:
    wanted = {node.id for node in new.sub_goals}
    return (Delete(sub_goal=node.id) for node in graph.sub_goals if node.id not in wanted)


def _changed(graph: PlanGraph, new: PlanGraph) -> Iterator[Edit]:
    known = {node.id: node for node in graph.sub_goals}
    for node in new.sub_goals:
        before = known[node.id]
        for dep in node.deps:
            if dep not in before.deps:
                yield Connect(dependency=dep, sub_goal=node.id)
        for field in FIELDS:
            old, value = (msgspec.to_builtins(getattr(one, field)) for one in (before, node))
            if field != "deps" and not json_equal(old, value):
                yield Set(sub_goal=node.id, field=field, value=value)


def _ordered(graph: PlanGraph, new: PlanGraph) -> Iterator[Edit]:
    """Selection sort: each sub-goal that is not at its place is put there, from the first one on."""
    now = [node.id for node in graph.sub_goals]
    for at, node in enumerate(new.sub_goals):
        if now[at] != node.id:
            now.remove(node.id)
            now.insert(at, node.id)
            yield Move(sub_goal=node.id, at=at)


def _of_graph(graph: PlanGraph, new: PlanGraph) -> Iterator[Edit]:
    for field in GRAPH_FIELDS:
        if not json_equal(getattr(graph, field), getattr(new, field)):
            yield SetGraph(field=field, value=getattr(new, field))
