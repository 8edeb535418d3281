"""What holds for every plan graph, every expression and every hostile text."""

from __future__ import annotations

import fnmatch
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx
import pytest
from builders import a_run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from untaken import limits
from untaken.errors import Unscored, UntakenError
from untaken.ledger.events import ToolCall
from untaken.plans import (
    GraphFormat,
    PlanGraph,
    Rule,
    SubGoal,
    ToolCallSpec,
    ancestors,
    call_matches,
    edges,
    evaluate_expression,
    export_graph,
    graph_digest,
    json_equal,
    load_graph,
    map_actions,
    matches_glob,
    parse_graph,
    save_graph,
    topological,
    transitive_reduction,
    validate,
)
from untaken.plans.patterns import as_literal
from untaken.plans.plan_graph import Check
from untaken.plans.strict_document import read_json, read_yaml
from untaken.plans.yaml_text import flow

anything = st.text(st.characters(codec="utf-8"), max_size=12)
names = st.one_of(
    anything.filter(bool), st.sampled_from(["a", "end", "n1", "on", "null", "=1", "'x", "1", "1e3", " "])
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    anything,
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(anything, json_values, max_size=3)
expected = arguments.map(lambda given: {name: as_literal(value) for name, value in given.items()})
checks = st.one_of(
    st.builds(Check, outcome=st.just(True)),
    st.builds(Check, verdict=st.just(True), on=st.sampled_from(["final", "step"])),
    st.builds(Check, expr=st.sampled_from(["state.a == 'x: y'", 'state.b["#"] == true'])),
    st.builds(Check, tool_call=st.builds(ToolCallSpec, name=names, arguments=expected)),
)
rules = st.builds(Rule, tool=names, arguments=st.none() | expected)


@st.composite
def graphs(draw: st.DrawFn) -> PlanGraph:
    ids = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    nodes = [
        SubGoal(
            id=name,
            title=draw(anything),
            description=draw(anything),
            deps=draw(st.lists(st.sampled_from(ids[:i]), unique=True) if i else st.just([])),
            critical=draw(st.booleans()),
            check=draw(st.none() | checks),
            rules=draw(st.lists(rules, max_size=2)),
            metadata=draw(arguments),
        )
        for i, name in enumerate(ids)
    ]
    return PlanGraph(
        id=draw(names),
        version=draw(st.integers(-5, 10**9)),
        title=draw(anything),
        tasks=draw(st.lists(names, max_size=2)),
        sub_goals=draw(st.permutations(nodes)),
        metadata=draw(arguments),
    )


def structure(graph: PlanGraph) -> Any:
    return [(n.id, n.title or n.id, n.critical, sorted(n.deps)) for n in graph.sub_goals]


@pytest.mark.parametrize("format", ["yaml", "json", "node-link"])
@given(graph=graphs())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_full_formats_give_back_the_very_same_graph(format: GraphFormat, graph: PlanGraph) -> None:
    written = export_graph(graph, format)
    back = parse_graph(written, name="other.x", format=format)
    assert graph_digest(back) == graph_digest(graph)
    assert export_graph(back, format) == written


@pytest.mark.parametrize("format", ["mermaid", "csv"])
@given(graph=graphs())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_drawing_formats_give_back_the_structure(format: GraphFormat, graph: PlanGraph) -> None:
    back = parse_graph(export_graph(graph, format), name="other.x", format=format)
    assert structure(back) == structure(graph)
    if format == "mermaid":
        assert (back.id, back.version, back.title) == (graph.id, graph.version, graph.title)


@given(graph=graphs())
def test_saved_files_load_as_the_same_graph(graph: PlanGraph) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("g.plan.yaml", "g.plan.json"):
            save_graph(graph, Path(folder, name))
            assert graph_digest(load_graph(Path(folder, name))) == graph_digest(graph)


@given(graph=graphs())
def test_order_ancestors_and_reduction_agree_with_networkx(graph: PlanGraph) -> None:
    assert not [finding for finding in validate(graph) if finding.severity == "error"]
    reference = networkx.DiGraph(edges(graph))
    reference.add_nodes_from(node.id for node in graph.sub_goals)
    order = topological(graph)
    assert sorted(order) == sorted(reference.nodes)
    assert all(order.index(before) < order.index(after) for before, after in edges(graph))
    assert ancestors(graph) == {node: frozenset(networkx.ancestors(reference, node)) for node in reference}
    reduced = transitive_reduction(graph)
    assert set(edges(reduced)) == set(networkx.transitive_reduction(reference).edges)


@given(pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14))
def test_a_cycle_is_found_exactly_where_networkx_finds_one(pairs: list[tuple[int, int]]) -> None:
    nodes = [SubGoal(id=str(i), deps=[str(a) for a, b in pairs if b == i and a != b]) for i in range(7)]
    graph = PlanGraph(id="g", sub_goals=nodes)
    cyclic = not networkx.is_directed_acyclic_graph(networkx.DiGraph(edges(graph)))
    found = [finding for finding in validate(graph) if finding.code == "graph-cycle"]
    assert bool(found) is cyclic
    for finding in found:
        path = finding.message.split(": ", 1)[1].split(" (")[0].split(" → ")
        assert path[0] == path[-1]
        assert all((after, before) in edges(graph) for before, after in pairwise(path))


@given(value=json_values)
def test_a_value_is_the_same_in_yaml_and_json(value: Any) -> None:
    assert read_yaml(f"a: {flow(value)}\n", "x").value["a"] == value
    assert read_json(json.dumps(value), "x").value == value


hostile = st.one_of(
    st.text(max_size=60),
    st.text("[](){}<>&|-=.~:;\"'`%#@ \nABx/\\", max_size=60),
    st.text("{}[]:,-?&*!|>'\"%@` \n\tab0", max_size=60),
)


def fault_of(data: str | bytes, format: GraphFormat | None) -> UntakenError | None:
    try:
        graph = parse_graph(data, name="g", format=format)
    except UntakenError as error:
        return error
    return None if isinstance(graph, PlanGraph) else UntakenError("no-graph", "")


@given(text=hostile, format=st.sampled_from(["yaml", "json", "mermaid", "node-link", "csv", None]))
def test_any_text_is_a_graph_or_a_named_error(text: str, format: GraphFormat | None) -> None:
    for data in (text, f"flowchart TD\n{text}", f"id: g\nsub_goals:\n{text}", f"source,target\n{text}"):
        fault = fault_of(data, format)
        assert fault is None or fault.code.startswith(("plan-", "graph-", "expression-"))
        assert fault is None or fault.where.file == "g"


@given(data=st.binary(max_size=60))
def test_any_bytes_are_a_graph_or_a_named_error(data: bytes) -> None:
    fault = fault_of(data, None)
    assert fault is None or fault.code.startswith("plan-")


PIECES = """state . a b x ( ) [ ] { } , : ? ! && || == != < + - * / % in 1 2.5 'y' "z" null true
size all exists map filter matches r'\\w+' state.a state.b.c .all(x, .map(x, timestamp( \\ ' " // @ ; é"""
pieces = st.sampled_from([*PIECES.split(), "\n"])


@given(
    expression=st.one_of(st.lists(pieces, max_size=25).map(" ".join), st.text(max_size=40)), state=arguments
)
def test_any_expression_passes_fails_or_is_unscored(expression: str, state: dict[str, Any]) -> None:
    result = evaluate_expression(expression, {"a": state, "b": {"c": [1, "x"]}})
    assert result is True or result is False or (isinstance(result, Unscored) and result.reason)


def is_there(path: list[str], value: Any) -> bool:
    for part in path:
        if not isinstance(value, dict) or part not in value:
            return False
        value = value[part]
    return True


@given(path=st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4), state=json_values)
def test_a_path_is_decided_exactly_where_it_exists(path: list[str], state: Any) -> None:
    dotted = ".".join(["state", *path])
    result = evaluate_expression(f"{dotted} == {dotted}", {"a": state})
    assert isinstance(result, bool) is is_there(path, {"a": state})


@given(pattern=st.text("ab*?[]!-", max_size=10), text=st.text("ab*?[]!-", max_size=10))
def test_globs_are_those_of_the_shell(pattern: str, text: str) -> None:
    assert matches_glob(pattern, text) is (fnmatch.fnmatchcase(text, pattern) or text == pattern)


def a_call(given_arguments: dict[str, Any]) -> ToolCall:
    (call,) = a_run().add(ToolCall, call_id="c", tool="tool", arguments=given_arguments).run().actions
    return call


@given(expected=arguments, actual=arguments)
def test_matching_rules_imply_each_other(expected: dict[str, Any], actual: dict[str, Any]) -> None:
    def matches(match: Any, wanted: dict[str, Any]) -> bool:
        return call_matches(ToolCallSpec(name="tool", arguments=wanted, match=match), a_call(actual))

    assert matches("exact", actual)
    assert matches("subset", {key: actual[key] for key in list(actual)[:1]})
    assert matches("call_keys", {**expected, **actual})
    if matches("exact", expected):
        assert matches("subset", expected)
        assert matches("call_keys", expected)


@given(value=json_values, other=json_values)
def test_json_equality_agrees_with_the_text_up_to_numbers(value: Any, other: Any) -> None:
    assert json_equal(value, json.loads(json.dumps(value)))
    if json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True):
        assert json_equal(value, other)
    if json_equal(value, other):
        assert value == other


tools = st.sampled_from(["get", "get_order", "set", "x"])


@given(
    graph=graphs(),
    calls=st.lists(st.tuples(tools, st.none() | names), max_size=8),
    patterns=st.lists(st.sampled_from(["get*", "*", "set", "?"]), max_size=6),
)
def test_each_call_is_mapped_or_extra(graph, calls, patterns) -> None:
    nodes = [
        SubGoal(id=node.id, rules=[Rule(tool=pattern)])
        for node, pattern in zip(graph.sub_goals, patterns, strict=False)
    ]
    graph = PlanGraph(id="g", sub_goals=nodes or [SubGoal(id="a")])
    builder = a_run()
    for tool, tag in calls:
        builder.call(tool, sub_goal=tag)
    mapping = map_actions(builder.run(), graph)
    mapped = {seq for seq, _, _ in mapping.mapped}
    assert mapped.isdisjoint(mapping.extra)
    assert mapped.union(mapping.extra) == set(range(1, len(calls) + 1))
    assert {name for _, name, _ in mapping.mapped} <= {node.id for node in graph.sub_goals}
    assert len(patterns) <= limits.RULES_PER_SUB_GOAL
