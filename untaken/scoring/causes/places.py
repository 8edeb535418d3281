"""The sub-goals that a run left uncompleted, in the order of its log (§5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import Literal

from msgspec import Struct

from untaken.ledger import Run
from untaken.plans import PlanGraph
from untaken.scoring.causes.features import RunFeatures
from untaken.scoring.compiled import compiled_graph
from untaken.scoring.run_score import NodeResult, RunScore

Way = Literal[
    "never attempted", "attempted", "stopped", "attempts unknown", "check holds", "everything completed"
]
"""How a run failed at a sub-goal; the last where it left none uncompleted."""


class Undone(Struct, frozen=True, kw_only=True, gc=False):
    """A required sub-goal that is known not to be completed.

    Attributes:
        way: how it failed; ``stopped`` where it was never attempted and nothing that needs it was either;
            ``check holds`` where its check passes without a mapped action, so that the plan is at fault.
        place: an attempted one's last `seq`; just before the first attempt of what needs one that was never
            attempted; infinite where the log cannot tell or the run never went past it.
        events: `seq` of each attempt.
    """

    node: NodeResult
    way: Way
    place: float
    events: tuple[int, ...] = ()


class _Order(Struct, frozen=True, kw_only=True):
    """What placing needs of a graph, found once a graph.

    Attributes:
        turn: place of each sub-goal in an order with dependencies first.
        needing: by sub-goal, those that need it, at any distance.
        options: by group, its options at any depth.
        on_state: sub-goals that an expression over the state decides, whenever they are required.
    """

    turn: Mapping[str, int]
    needing: Mapping[str, frozenset[str]]
    options: Mapping[str, frozenset[str]]
    on_state: frozenset[str]


def undone_in_order(score: RunScore, graph: PlanGraph, run: Run) -> tuple[Undone, ...]:
    """The required sub-goals that a run did not complete, what failed first at the beginning.

    First goes by the log (`Undone.place`); where it cannot tell, dependencies come before what needs them,
    then critical sub-goals before others; of what nothing went past, the first in the plan.
    """
    order = _order(graph)
    failed = [node for node in score.counted if is_failed(node)]
    unset = never_set(score, graph)
    if not failed and not unset:
        return ()
    events = attempts_of(score, graph)
    refused = [node for node in unset if _refused(run, events.get(node.sub_goal, ()))]
    # An expression over a field that was never set has no evidence. It failed if its last call was refused,
    # or if nothing else is left that could have.
    failed += refused or ([] if failed else unset)
    # The longest chain of failures before each: they come first, also where one of them is harmless.
    names = sorted((node.sub_goal for node in failed if not node.holds), key=order.turn.__getitem__)
    depth = {node.sub_goal: 0 for node in failed}
    for name in names:
        for later in order.needing[name] & depth.keys():
            depth[later] = max(depth[later], depth[name] + 1)
    found = [_placed(node, events, order) for node in failed]
    return tuple(
        sorted(
            found,
            key=lambda one: (
                one.way == "check holds",
                one.place,
                depth[one.node.sub_goal],
                # A run that ended would have come to the next one of the plan, critical or not.
                one.way == "stopped" or not one.node.critical,
                order.turn[one.node.sub_goal],
            ),
        )
    )


def never_set(score: RunScore, graph: PlanGraph) -> list[NodeResult]:
    """Attempted sub-goals that go by a field of the state that was never set: answers tell if they failed."""
    on_state = _order(graph).on_state
    return [n for n in score.counted if n.completed is None and n.attempted and n.sub_goal in on_state]


def _refused(run: Run, events: Sequence[int]) -> bool:
    return bool(events) and events[-1] in RunFeatures.of(run).refused  # what it tried last counts


def attempts_of(score: RunScore, graph: PlanGraph) -> Mapping[str, tuple[int, ...]]:
    """`seq` of each action that served a sub-goal, in order; an option's serve its groups, too."""
    events: dict[str, list[int]] = {}
    for seq, name, _ in score.mapped:
        events.setdefault(name, []).append(seq)
    for group, options in _order(graph).options.items():
        if through := [seq for option in options for seq in events.get(option, ())]:
            events[group] = sorted({*events.get(group, ()), *through})
    return {name: tuple(seqs) for name, seqs in events.items()}


def attempts_at(score: RunScore, graph: PlanGraph, names: Collection[str]) -> tuple[int, ...]:
    """`seq` of each action that served one of some sub-goals, in order; those of a group's options, too."""
    options = _order(graph).options
    wanted = {*names, *(option for name in names for option in options.get(name, ()))}
    return tuple(sorted({seq for seq, name, _ in score.mapped if name in wanted}))


def is_failed(node: NodeResult) -> bool:
    """Required and known not to be completed: an unscored sub-goal has not failed."""
    return node.status in ("attempted", "skipped")


def _placed(node: NodeResult, events: Mapping[str, tuple[int, ...]], order: _Order) -> Undone:
    own = events.get(node.sub_goal, ())
    if node.holds:
        return Undone(node=node, way="check holds", place=inf)
    if node.attempted is None:
        return Undone(node=node, way="attempts unknown", place=inf)
    if node.attempted:
        return Undone(node=node, way="attempted", place=own[-1] if own else inf, events=own)
    past = min((events[name][0] for name in order.needing[node.sub_goal] if name in events), default=None)
    if past is None:
        return Undone(node=node, way="stopped", place=inf)
    # Between that event and the one before it.
    return Undone(node=node, way="never attempted", place=past - 0.5)


def _order(graph: PlanGraph) -> _Order:
    held: _Order | None = graph.__dict__.get("order_of_failing")
    if held is None:
        held = graph.__dict__["order_of_failing"] = _prepared(graph)
    return held


def _prepared(graph: PlanGraph) -> _Order:
    compiled = compiled_graph(graph)
    turn = {name: at for at, name in enumerate(compiled.dependencies_first)}
    needing: dict[str, set[str]] = {name: set() for name in turn}
    options: dict[str, set[str]] = {}
    for name in compiled.options_first:
        one = compiled.criteria[name]
        if one.options:
            options[name] = {*one.options, *(deeper for o in one.options for deeper in options.get(o, ()))}
    for name in reversed(compiled.dependencies_first):
        for dep in compiled.criteria[name].deps:
            needing[dep] |= {name, *needing[name]}
    return _Order(
        turn=turn,
        needing={name: frozenset(some - {name}) for name, some in needing.items()},
        options={name: frozenset(some) for name, some in options.items()},
        on_state=frozenset(
            node.id for node in graph.sub_goals if node.when is None and node.check and node.check.expr
        ),
    )
