"""What is as large as a limit allows is read and handled like any other; one more is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from builders import a_graph, a_run
from msgspec.structs import replace

from untaken import limits
from untaken.errors import UntakenError
from untaken.plans import PlanGraph, Rule, SubGoal, check_expression, map_actions, parse_graph, validate
from untaken.plans.editing import Add, apply
from untaken.plans.plan_graph import Check

MOST = 60


def yaml(text: str) -> PlanGraph:
    return parse_graph(f"id: g\nsub_goals: [{{id: a}}]\n{text}", name="g.plan.yaml")


def mermaid(*lines: str) -> PlanGraph:
    return parse_graph("\n".join(["flowchart TD", *lines]), name="g.mmd")


def plan(*sub_goals: dict[str, Any]) -> PlanGraph:
    return parse_graph(json.dumps({"id": "g", "sub_goals": sub_goals}), name="g.plan.json")


def arguments(*patterns: dict[str, str]) -> PlanGraph:
    calls = [{"tool_call": {"name": "t", "arguments": {"x": pattern}}} for pattern in patterns]
    return plan(*({"id": f"s{n}", "check": call} for n, call in enumerate(calls)))


LIMITS: list[tuple[str, Callable[[int], object]]] = [
    ("EXPRESSION_CHARS", lambda n: check_expression(f"'{'x' * (n - 8)}' == ''")),
    ("EXPRESSION_NODES", lambda n: check_expression("!" * (n - 1) + "true")),
    ("EXPRESSION_DEPTH", lambda n: check_expression("[" * (n - 1) + "]" * (n - 1) + " == []")),
    ("GRAPH_FILE_BYTES", lambda n: yaml("#" * (n - len("id: g\nsub_goals: [{id: a}]\n")))),
    ("YAML_DEPTH", lambda n: yaml(f"metadata: {{a: {'[' * (n - 2)}1{']' * (n - 2)}}}")),
    ("YAML_VALUES", lambda n: yaml(f"metadata: {{a: [{'1,' * (n - 7)}]}}")),
    ("MERMAID_LINES", lambda n: mermaid("a", *["%%"] * (n - 2))),
    ("MERMAID_LINE_CHARS", lambda n: mermaid("a" * n)),
    ("MERMAID_NODES_WRITTEN", lambda n: mermaid("a;" * n)),
    ("EDGES", lambda n: mermaid(*(f"a{i} --> a{i + 1}" for i in range(n)))),
    (
        "EDGES",
        lambda n: plan(
            {"id": "z", "deps": [f"a{i}" for i in range(n)]}, *({"id": f"a{i}"} for i in range(n))
        ),
    ),
    ("SUB_GOALS", lambda n: mermaid(*(f"a{i}" for i in range(n)))),
    ("SUB_GOALS", lambda n: apply(a_graph(*(f"a{i}" for i in range(n - 1))), Add(sub_goal=SubGoal(id="b")))),
    ("REGEXES", lambda n: arguments(*({"regex": f"a{i}"} for i in range(n)))),
    ("REGEX_CHARS", lambda n: arguments({"regex": "a" * n})),
    ("PATTERN_CHARS", lambda n: arguments({"contains": "a" * n})),
    ("PATTERN_CHARS", lambda n: arguments({"glob": "a" * n})),
]


@pytest.mark.parametrize(("name", "read"), LIMITS)
def test_a_limit_is_the_most_that_is_read(name, read, monkeypatch) -> None:
    monkeypatch.setattr(limits, name, MOST)
    read(MOST)
    with pytest.raises(UntakenError):
        read(MOST + 1)


def chain(n: int) -> PlanGraph:
    """A chain with shortcuts, an expression on each sub-goal."""
    nodes = [
        SubGoal(
            id=f"s{i}",
            deps=[f"s{j}" for j in (i - 1, i - 2, i - 50) if j >= 0],
            check=Check(expr=f"state.done{i} == true"),
            rules=[Rule(tool=f"tool_{i}_*")],
        )
        for i in range(n)
    ]
    return PlanGraph(id="large", sub_goals=nodes)


LARGE = chain(limits.SUB_GOALS)


def test_a_circle_through_the_largest_graph_is_found() -> None:
    circle = replace(LARGE, sub_goals=[replace(LARGE.sub_goals[0], deps=["s4999"]), *LARGE.sub_goals[1:]])
    (finding,) = [f for f in validate(circle) if f.code == "graph-cycle"]
    assert "more …" in finding.message


def test_a_graph_of_catch_all_rules_cannot_hold_up_a_review() -> None:
    greedy = PlanGraph(
        id="greedy", sub_goals=[SubGoal(id=f"s{i}", rules=[Rule(tool="*x*")]) for i in range(5000)]
    )
    builder = a_run()
    for i in range(300):
        builder.call(f"x{i}")
    mapping = map_actions(builder.run(), greedy)
    assert [f.code for f in mapping.findings if f.code == "mapping-limit"] == ["mapping-limit"]
    assert len(mapping.mapped) == limits.MAPPING_COMPARISONS // 5000
    assert len(mapping.mapped) + len(mapping.extra) == 300
