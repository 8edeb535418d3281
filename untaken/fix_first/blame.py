"""Which sub-goal of a run failed first, and how much it holds up (§5).

A failed sub-goal drags down everything that depends on it, so the blame goes to the **frontier**: the failed
sub-goals that nothing failed before.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from untaken.plans import PlanGraph, topological
from untaken.plans.structure import waiting_for_a_cycle
from untaken.subgoals import NodeResult, RunScore
from untaken.subgoals.compiled import compiled_graph


class First(Struct, frozen=True, kw_only=True, gc=False):
    """A sub-goal that failed first in a run.

    `much` is the share of the run's critical sub-goals (of all required ones in a graph without critical
    ones) that are it or depend on it, transitively, and are known not to be completed.
    """

    node: NodeResult
    much: float


class Shape(Struct, frozen=True, kw_only=True):
    """A plan graph prepared for blame, by sub-goal id.

    Attributes:
        order: dependencies come before what depends on them.
        deps, options: what it directly depends on; what it is completed by, any one of them.
        reach: itself and everything that needs it, at any distance, as a bit set; `bit`: its own.
        critical: whether the graph has a critical sub-goal.
        frontiers: those found so far, by the identity of the results that they follow from (most runs share
            theirs with others), and the rule; with the results, so that no others take their place.
    """

    order: tuple[str, ...]
    deps: Mapping[str, tuple[str, ...]]
    options: Mapping[str, tuple[str, ...]]
    reach: Mapping[str, int]
    bit: Mapping[str, int]
    critical: bool
    frontiers: dict[tuple[int, str], tuple[tuple[NodeResult, ...], tuple[First, ...]]] = {}


def shape_of(graph: PlanGraph) -> Shape:
    """The shape of a valid graph. Where options and dependencies make a circle, the dependencies count."""
    criteria = compiled_graph(graph).criteria
    whole = _needing(graph, {name: (*one.deps, *one.options) for name, one in criteria.items()})
    circular = waiting_for_a_cycle(whole)
    options = {name: () if name in circular else one.options for name, one in criteria.items()}
    needs = {name: (*one.deps, *options[name]) for name, one in criteria.items()}
    order = topological(_needing(graph, needs))
    bit = {name: 1 << place for place, name in enumerate(order)}
    reach = dict(bit)
    for name in reversed(order):
        for needed in needs[name]:
            reach[needed] |= reach[name]
    return Shape(
        order=tuple(order),
        deps={name: one.deps for name, one in criteria.items()},
        options=options,
        reach=reach,
        bit=bit,
        critical=any(node.critical for node in graph.sub_goals),
    )


def frontier(score: RunScore, shape: Shape) -> tuple[First, ...]:
    """The sub-goals that failed first in a run, in graph order; those that hold up nothing have `much` 0.

    A failed sub-goal is held up where a dependency failed, or is unscored and held up itself; a group
    (any_of) where an option was tried and failed, or all of its options are held up. An option that is not
    required holds nobody else up. So every failed sub-goal is, or depends on, one of those returned.
    """
    key = id(score.results), score.missing
    if key not in shape.frontiers:
        shape.frontiers[key] = score.results, _frontier(score, shape)
    return shape.frontiers[key][1]


def _frontier(score: RunScore, shape: Shape) -> tuple[First, ...]:
    nodes = {node.sub_goal: node for node in score.results}
    failed = {name for name, node in nodes.items() if is_failed(node)}
    if not failed:
        return ()
    held: set[str] = set()
    for name in shape.order:
        unsettled = (dep in held and nodes[dep].status == "unscored" for dep in shape.deps[name])
        if not failed.isdisjoint(shape.deps[name]) or any(unsettled) or _no_option(name, shape, failed, held):
            held.add(name)
    lost = sum(
        shape.bit[node.sub_goal]
        for node in score.counted
        if is_failed(node) and (node.critical or not shape.critical)
    )
    whole = measured(score, shape)
    return tuple(
        First(node=node, much=(shape.reach[name] & lost).bit_count() / whole if whole else 0.0)
        for name, node in nodes.items()
        if name in failed and name not in held
    )


def measured(score: RunScore, shape: Shape) -> int:
    """How many sub-goals a run's gain is a share of; 0 where nothing is known of the run."""
    if all(node.completed is None for node in score.counted):
        return 0
    return score.critical if shape.critical else score.required


def is_failed(node: NodeResult) -> bool:
    """Required and known not to be completed: an unscored sub-goal has not failed."""
    return node.status in ("attempted", "skipped")


def _no_option(name: str, shape: Shape, failed: set[str], held: set[str]) -> bool:
    options = shape.options[name]
    return bool(options) and (not failed.isdisjoint(options) or held.issuperset(options))


def _needing(graph: PlanGraph, needs: Mapping[str, tuple[str, ...]]) -> PlanGraph:
    nodes = [msgspec.structs.replace(node, deps=list(needs[node.id]), any_of=[]) for node in graph.sub_goals]
    return msgspec.structs.replace(graph, sub_goals=nodes)
