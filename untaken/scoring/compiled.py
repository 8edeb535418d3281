"""A plan graph prepared for scoring: worked out once a graph, used for each of its runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from untaken.errors import Unscored, UntakenError
from untaken.plans import Check, PlanGraph, SubGoal, ToolCallSpec, ancestors, read_source, topological

CheckKind = Literal["expr", "tool_call", "verdict", "outcome", "any_of", "none"]


Conditions = Mapping[str, bool | Unscored]
"""By sub-goal, whether it is required in a run; those without a condition are left out."""


class CompiledSubGoal(Struct, frozen=True, kw_only=True):
    """One sub-goal as scoring sees it.

    Attributes:
        deps: direct dependencies that are in the graph, without itself.
        options: the sub-goals of `any_of` that are in the graph.
        groups: sub-goals that list this one as an option; `siblings`: the options of each of them.
        reads_messages: whether one of its rules looks at messages.
        maps: whether a rule or check maps calls to it.
        call: what its check looks for among the calls.
        expression: what its check tries on the state; empty where it tries nothing. `stepwise`: after each
            step.
        fields: top-level fields of the state that its expression reads; none where it reads the whole state.
        when: the condition under which it is required; empty where it always is. `when_fields`: the fields
            of the state that the condition reads.
        times: different calls that its check asks for; `earlier`: sub-goals that need calls like that for
            themselves first, each with how many.
    """

    node: SubGoal
    kind: CheckKind
    deps: tuple[str, ...]
    options: tuple[str, ...]
    groups: tuple[str, ...]
    siblings: tuple[tuple[str, ...], ...]
    reads_messages: bool
    maps: bool
    call: ToolCallSpec | None
    expression: str
    stepwise: bool
    fields: tuple[str, ...]
    when: str
    when_fields: tuple[str, ...]
    times: int
    earlier: tuple[tuple[str, int], ...]

    @property
    def needs_action(self) -> bool:
        """Whether a check that passes is no completion without a mapped action."""
        return self.node.needs_action or self.kind not in ("expr", "outcome")

    def after(self, required: Conditions) -> int:
        """How many calls like its own are needed first, by earlier sub-goals that a run requires."""
        return sum(times for name, times in self.earlier if required.get(name, True) is not False)

    def could_differ(self, moved: set[str]) -> bool:
        """Whether its expression could give another result now that these fields of the state changed."""
        return bool(moved) and (not self.fields or not moved.isdisjoint(self.fields))


class CompiledGraph(Struct, frozen=True, kw_only=True):
    """A graph's criteria.

    Attributes:
        criteria: by sub-goal id, in graph order.
        options_first: ids so that every option comes before the groups that list it.
        dependencies_first: ids so that every dependency comes before what needs it.
        edges: (sub-goal, direct dependency), in graph order.
        calls: by sub-goal, the call its check asks for.
        reads_messages: whether any rule looks at messages.
        reads_state: whether any expression needs the state; `fields`: the top-level fields of it that they
            read, ``None`` where one looks at the state as a whole. `stepwise`: the criteria that try theirs
            after each step. `conditional`: those that are required in some runs only.
    """

    graph: PlanGraph
    criteria: Mapping[str, CompiledSubGoal]
    options_first: tuple[str, ...]
    dependencies_first: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    calls: Mapping[str, ToolCallSpec]
    reads_messages: bool
    reads_state: bool
    fields: frozenset[str] | None
    stepwise: tuple[CompiledSubGoal, ...]
    conditional: tuple[CompiledSubGoal, ...]


def compiled_graph(graph: PlanGraph) -> CompiledGraph:
    """The compiled form of a graph, kept with the graph object itself.

    Raises:
        UntakenError: ``graph-cycle``.
    """
    # Gone with the graph, unlike a cache of graphs.
    held: CompiledGraph | None = graph.__dict__.get("compiled")
    if held is None:
        held = graph.__dict__["compiled"] = _prepare(graph)
    return held


def check_kind(node: SubGoal) -> CheckKind:
    """What decides a sub-goal, verdicts aside."""
    if node.any_of:
        return "any_of"
    check = node.check or Check()
    if check.expr is not None:
        return "expr"
    if check.tool_call is not None:
        return "tool_call"
    if check.outcome:
        return "outcome"
    return "verdict" if check.verdict else "none"


def _prepare(graph: PlanGraph) -> CompiledGraph:
    known = {node.id: node for node in graph.sub_goals}
    groups: dict[str, list[str]] = defaultdict(list)
    options: dict[str, tuple[str, ...]] = {}
    for node in graph.sub_goals:
        options[node.id] = tuple(option for option in dict.fromkeys(node.any_of) if option in known)
        for option in options[node.id]:
            groups[option].append(node.id)
    order = topological(graph)
    earlier = _calls_before(graph, (known[name] for name in order))
    criteria = {
        node.id: _criterion(node, known, options, groups[node.id], earlier.get(node.id, ()))
        for node in graph.sub_goals
    }
    reads = [set(one.fields) for one in criteria.values() if one.kind == "expr"]
    reads += [set(one.when_fields) for one in criteria.values() if one.when]
    return CompiledGraph(
        graph=graph,
        criteria=criteria,
        options_first=_options_first(criteria),
        dependencies_first=tuple(order),
        edges=tuple((name, dep) for name, one in criteria.items() for dep in one.deps),
        calls={name: one.call for name, one in criteria.items() if one.call is not None},
        reads_messages=any(one.reads_messages for one in criteria.values()),
        reads_state=bool(reads),
        # An empty set among them is that of an expression that looks at the state as a whole.
        fields=frozenset().union(*reads) if all(reads) else None,
        stepwise=tuple(criterion for criterion in criteria.values() if criterion.stepwise),
        conditional=tuple(criterion for criterion in criteria.values() if criterion.when),
    )


def _calls_before(graph: PlanGraph, order: Iterable[SubGoal]) -> Mapping[str, tuple[tuple[str, int], ...]]:
    """By sub-goal, the calls that earlier ones which expect the same call need for themselves.

    `order`: its sub-goals, dependencies first.
    """
    alike: dict[bytes, list[SubGoal]] = defaultdict(list)
    for node in order:
        if node.check is not None and node.check.tool_call is not None:
            alike[msgspec.json.encode(node.check.tool_call, order="sorted")].append(node)
    repeated = [nodes for nodes in alike.values() if len(nodes) > 1]
    behind = ancestors(graph) if repeated else {}
    return {
        node.id: tuple(
            (other.id, other.times or 1)
            for place, other in enumerate(nodes)
            # Earlier: a dependency; or before it in that order, where both say how many calls they ask for.
            if other.id in behind[node.id] or (place < at and None not in (node.times, other.times))
        )
        for nodes in repeated
        for at, node in enumerate(nodes)
    }


def _criterion(
    node: SubGoal,
    known: Collection[str],
    options: Mapping[str, tuple[str, ...]],
    groups: Sequence[str],
    earlier: tuple[tuple[str, int], ...],
) -> CompiledSubGoal:
    kind, check = check_kind(node), node.check or Check()
    return CompiledSubGoal(
        node=node,
        kind=kind,
        deps=tuple(dict.fromkeys(dep for dep in node.deps if dep in known and dep != node.id)),
        options=options[node.id],
        groups=tuple(groups),
        siblings=tuple(options[group] for group in groups),
        reads_messages=any(rule.text is not None for rule in node.rules),
        maps=bool(node.rules) or check.tool_call is not None,
        call=check.tool_call,
        expression=check.expr or "",
        stepwise=kind == "expr" and check.on == "step",
        fields=_fields(check.expr),
        when=node.when or "",
        when_fields=_fields(node.when),
        times=node.times or 1,
        earlier=earlier,
    )


def _fields(expression: str | None) -> tuple[str, ...]:
    """Top-level fields that an expression reads; empty where it looks at the state as a whole."""
    if expression is None:
        return ()
    try:
        paths = read_source(expression).paths
    except UntakenError:  # the same fault makes the check itself unscored, with its reason
        return ()
    whole = any(not path.segments for path in paths)
    return () if whole else tuple(sorted({path.segments[0] for path in paths}))


def _options_first(criteria: Mapping[str, CompiledSubGoal]) -> tuple[str, ...]:
    """Depth-first, without recursion; a circle of options is simply cut."""
    order: dict[str, None] = {}
    seen: set[str] = set()
    for root in criteria:
        stack: list[tuple[str, bool]] = [(root, False)]
        while stack:
            name, done = stack.pop()
            if done:
                order[name] = None
            elif name not in seen:
                seen.add(name)
                stack.append((name, True))
                stack += [(option, False) for option in reversed(criteria[name].options)]
    return tuple(order)
