"""The shape of a plan graph: order, edges, ancestors, digest.

Every walk is iterative and tolerates ids that do not exist, because validation runs on graphs that are not
valid yet.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from untaken.errors import UntakenError
from untaken.plans.plan_graph import PlanGraph

_LATER: Mapping[str, Any] = {
    "answered": "ok",
    "answer": None,
    "weight": 1.0,
    "when": None,
    "when_at": "final",
    "needs_action": True,
    "times": None,
    "evidence": None,
    "mutates": [],
    "hand_over": [],
}
"""Fields that came to the format later, with their defaults, at which the digest leaves them out."""
_EAGER_SUB_GOALS = 500
"""Above this, all ancestor sets at once may need a gigabyte: they are then unfolded one at a time."""


def edges(graph: PlanGraph) -> list[tuple[str, str]]:
    """(dependency, sub-goal) pairs, in graph order, each once; self-dependencies left out."""
    return list(
        dict.fromkeys((dep, node.id) for node in graph.sub_goals for dep in node.deps if dep != node.id)
    )


def topological(graph: PlanGraph) -> list[str]:
    """Ids so that each dependency comes before what needs it; ties in graph order.

    Raises:
        UntakenError: ``graph-cycle``, naming the cycle.
    """
    order, left = _sorted_and_left(graph)
    if left:
        cycle = next(iter(_cycles(graph, left)))
        raise UntakenError("graph-cycle", cycle_in_words(cycle), hint="Remove one of these dependencies.")
    return order


def cycles(graph: PlanGraph) -> list[list[str]]:
    """Disjoint cycles, each as the path along "needs" back to its first id; empty for a valid graph."""
    _, left = _sorted_and_left(graph)
    return list(_cycles(graph, left))


def waiting_for_a_cycle(graph: PlanGraph) -> set[str]:
    """Ids on a cycle or behind one: nothing can ever reach them."""
    return _sorted_and_left(graph)[1]


def cycle_in_words(cycle: list[str]) -> str:
    """One sentence that walks the circle."""
    return f"the sub-goals depend on each other in a cycle: {path_in_words(cycle)} (→ means “needs”)"


def path_in_words(path: list[str]) -> str:
    """The ids joined by arrows; a very long path is shown by its two ends."""
    shown = path if len(path) <= 12 else [*path[:6], f"… {len(path) - 10} more …", *path[-4:]]
    return " → ".join(shown)


def ancestors(graph: PlanGraph) -> Mapping[str, frozenset[str]]:
    """Transitive dependencies of each sub-goal (self-edges and unknown ids ignored).

    A plain dict; for a huge graph a read-only mapping that behaves like one.

    Raises:
        UntakenError: ``graph-cycle``.
    """
    masks = _Ancestors([node.id for node in graph.sub_goals], _ancestor_masks(graph))
    return dict(masks) if len(masks) <= _EAGER_SUB_GOALS else masks


def transitive_reduction(graph: PlanGraph) -> PlanGraph:
    """The same graph without dependencies that another dependency already implies.

    Raises:
        UntakenError: ``graph-cycle``.
    """
    masks = _ancestor_masks(graph)
    position = {node.id: i for i, node in enumerate(graph.sub_goals)}
    reduced = []
    for node in graph.sub_goals:
        implied = 0
        for dep in node.deps:
            implied |= masks.get(dep, 0)
        kept = [dep for dep in dict.fromkeys(node.deps) if not implied >> position.get(dep, 0) & 1]
        reduced.append(node if kept == node.deps else msgspec.structs.replace(node, deps=kept))
    return msgspec.structs.replace(graph, sub_goals=reduced)


def graph_digest(graph: PlanGraph) -> str:
    """SHA-256 of the graph's whole content, whatever file format it came from."""
    return hashlib.sha256(msgspec.json.encode(_content(graph), order="sorted")).hexdigest()


def _content(value: Any) -> Any:
    """All fields, defaults included: writing out a default does not make another graph."""
    if isinstance(value, msgspec.Struct):
        values = {field: getattr(value, field) for field in value.__struct_fields__}
        # Judges' replies are kept by the digest: new fields must not change that of graphs written before.
        return {
            field: _content(part)
            for field, part in values.items()
            if field not in _LATER or part != _LATER[field]
        }
    return [_content(item) for item in value] if isinstance(value, list) else value


def _sorted_and_left(graph: PlanGraph) -> tuple[list[str], set[str]]:
    """Kahn's algorithm: ids that could be ordered, and those that could not."""
    position: dict[str, int] = {}
    for node in graph.sub_goals:
        position.setdefault(node.id, len(position))  # an invalid graph may have an id twice
    needs = dict.fromkeys(position, 0)
    needed_by: dict[str, list[str]] = {}
    for before, after in edges(graph):
        if before in position:  # an unknown one is a fault of its own, and holds nothing up
            needs[after] += 1
            needed_by.setdefault(before, []).append(after)
    ready = [i for name, i in position.items() if not needs[name]]
    names = list(position)
    order = []
    while ready:
        name = names[heapq.heappop(ready)]  # the first of the graph that waits for nothing
        order.append(name)
        for after in needed_by.get(name, ()):
            needs[after] -= 1
            if not needs[after]:
                heapq.heappush(ready, position[after])
    return order, set(position).difference(order)


def _cycles(graph: PlanGraph, left: set[str]) -> Iterator[list[str]]:
    """Follow "needs" inside `left`: each step stays there, so every walk meets a cycle or an earlier walk."""
    step: dict[str, str] = {}
    for node in graph.sub_goals:
        dep = next((d for d in node.deps if d in left and d != node.id), None)
        if node.id in left and dep is not None:
            step.setdefault(node.id, dep)
    seen: set[str] = set()
    for start in (node.id for node in graph.sub_goals if node.id in left):
        walk: dict[str, int] = {}
        name = start
        while name in step and name not in seen:
            seen.add(name)
            walk[name] = len(walk)
            name = step[name]
        if name in walk:
            yield [*list(walk)[walk[name] :], name]


def _ancestor_masks(graph: PlanGraph) -> dict[str, int]:
    """Ancestors as bit sets: three megabytes where sets of 5,000 ids would take a gigabyte."""
    position = {node.id: i for i, node in enumerate(graph.sub_goals)}
    deps = {node.id: node.deps for node in graph.sub_goals}
    masks: dict[str, int] = {}
    for name in topological(graph):
        mask = 0
        for dep in deps[name]:
            if dep in masks:  # neither itself nor unknown
                mask |= masks[dep] | 1 << position[dep]
        masks[name] = mask
    return masks


class _Ancestors(Mapping[str, frozenset[str]]):
    """Ancestor sets unfolded from bit sets on demand."""

    def __init__(self, names: list[str], masks: dict[str, int]) -> None:
        self._names = names
        self._masks = masks

    def __getitem__(self, name: str) -> frozenset[str]:
        bits = bin(self._masks[name])[:1:-1]  # lowest bit first, without `0b`
        # The bits end with the last ancestor, the names go on.
        return frozenset(other for other, bit in zip(self._names, bits, strict=False) if bit == "1")

    def __iter__(self) -> Iterator[str]:
        return iter(self._masks)

    def __len__(self) -> int:
        return len(self._masks)
