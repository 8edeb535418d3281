"""One schema in YAML and JSON, written the same way every time; formats recognised; the digest of a graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_graph
from msgspec.structs import replace

from untaken.errors import UntakenError
from untaken.plans import PlanGraph, SubGoal, export_graph, graph_digest, parse_graph, save_graph

REFUND = """\
schema: untaken.plan/1
id: refund
version: 3
title: Refund desk
tasks: ["refund-*"]
sub_goals:
  - {id: intent, title: Identify customer intent, check: {verdict: true}}
  - id: order
    title: Look up order
    deps: [intent]
    check: {tool_call: {name: search_orders, arguments: {limit: 1.0, "on": null}}}
    rules:
      - {tool: "search_*"}
      - {text: "*order number*"}
  - id: eligibility
    title: "Determine: refund eligibility?"
    deps: [intent, order]
    critical: true
    check: {expr: "state.decision == state.expected_decision", "on": step}
    when: "state.decision != null"
    when_at: step
    needs_action: false
    evidence: message
  - id: twice
    deps: [eligibility]
    check: {tool_call: {name: notify, arguments: {text: {equals: Your refund is done}}}}
    times: 2
metadata: {source: "2024-01-02", weight: 1}
"""
WRITTEN = REFUND.replace(
    "  - {id: intent, title: Identify customer intent, check: {verdict: true}}",
    "  - id: intent\n    title: Identify customer intent\n    check: {verdict: true}",
)


def test_yaml_is_written_in_one_readable_layout() -> None:
    assert export_graph(parse_graph(REFUND, name="r.yaml"), "yaml") == WRITTEN


SHORT = [
    ("check: outcome", "check: {outcome: true}"),
    ("check: verdict", "check: {verdict: true}"),
    ("check: {outcome: {}}", "check: {outcome: true}"),
    ('check: {verdict: "human:*"}', 'check: {verdict: {by: ["human:*"]}}'),
    ('check: {verdict: ["human:*", test]}', 'check: {verdict: {by: ["human:*", test]}}'),
    ("times: 2, check: {tool_call: {name: x}}", "check: {tool_call: {name: x}}, times: 2"),
    ("check: {times: 2, tool_call: {name: x}}", "check: {tool_call: {name: x}}, times: 2"),
    ("check: {tool_call: {name: x, times: 2}}", "check: {tool_call: {name: x}}, times: 2"),
    ("deps: [1], any_of: [1]", 'deps: ["1"], any_of: ["1"]'),
]


@pytest.mark.parametrize(("short", "whole"), SHORT, ids=[case[0] for case in SHORT])
def test_what_is_written_in_fewer_words_is_the_same_graph(short: str, whole: str) -> None:
    graph = "id: {0}\nsub_goals:\n  - {{id: {0}}}\n  - {{id: b, {1}}}\n"
    meant = parse_graph(graph.format('"1"', whole), name="g.plan.yaml")
    assert parse_graph(graph.format("1", short), name="g.plan.yaml") == meant


@pytest.mark.parametrize("check", ["success", "[outcome]", "{outcome: success}", "{verdict: 1}", "true"])
def test_words_that_mean_nothing_are_refused_with_their_line(check: str) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(f"id: g\nsub_goals:\n  - {{id: a, check: {check}}}\n", name="g.plan.yaml")
    assert (caught.value.code, caught.value.where.line) == ("plan-schema", 3)


def test_a_graph_that_its_file_could_not_give_back_is_not_written(tmp_path: Path) -> None:
    graph = PlanGraph(id="g", sub_goals=[SubGoal(id="a", metadata={"when": float("inf")})])
    with pytest.raises(UntakenError):
        save_graph(graph, tmp_path / "g.plan.yaml")
    assert not (tmp_path / "g.plan.yaml").exists()


TOLD = [
    ("g", "flowchart LR\nA-->B", "mermaid"),
    ("g.txt", "%% note\ngraph TD\nA-->B", "mermaid"),
    ("g.md", "# Plan\n```mermaid\nflowchart TD\n  A --> B\n```\ntext", "mermaid"),
    ("g", '{"id": "g", "sub_goals": [{"id": "A"}, {"id": "B", "deps": ["A"]}]}', "json"),
    ("g", "id: g\nsub_goals: [{id: A}, {id: B, deps: [A]}]", "yaml"),
    (
        "g.json",
        '{"nodes": [{"id": "A"}, {"id": "B"}], "links": [{"source": "A", "target": "B"}]}',
        "node-link",
    ),
    ("g.csv", "source,target\nA,B\n", "csv"),
]


@pytest.mark.parametrize(("name", "text", "format"), TOLD)
def test_format_is_recognised_by_name_and_content(name: str, text: str, format: str) -> None:
    graph = parse_graph(text, name=name)
    assert (graph.id, [(node.id, node.deps) for node in graph.sub_goals]) == ("g", [("A", []), ("B", ["A"])])
    assert parse_graph(text, name=name, format=format) == graph  # type: ignore[arg-type]


def test_unknown_formats_are_named() -> None:
    with pytest.raises(UntakenError, match="no graph format 'dot'"):
        export_graph(a_graph("a"), "dot")  # type: ignore[arg-type]
    with pytest.raises(UntakenError, match="no graph format 'dot'"):
        parse_graph("digraph {}", name="g.dot", format="dot")  # type: ignore[arg-type]


@pytest.mark.parametrize(("chars", "one_line"), [(100, True), (101, False)])
def test_a_short_sub_goal_is_written_on_one_line(chars: int, one_line: bool) -> None:
    line = "  - {id: a, title: " + "x" * (chars - 20) + "}"
    graph = parse_graph(f"id: g\nsub_goals:\n{line}\n", name="g.yaml")
    assert (line in export_graph(graph, "yaml").splitlines()) is one_line


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("id: g\nsubgoals: [{id: a}]\n", "Did you mean `sub_goals`?"),
        ("id: g\nsub_goals: [{id: a, chekc: outcome}]\n", "Did you mean `check`?"),
        ("id: g\nsub_goals: [{id: a, check: {tool_cal: {name: x}}}]\n", "Did you mean `tool_call`?"),
        ("id: g\nsub_goals: [{id: a, rules: [{tol: x}]}]\n", "Did you mean `tool`?"),
        ("id: g\nsub_goals: [{id: a, requires: [b]}]\n", "Did you mean `deps`?"),
        (
            "id: g\nsub_goals: [{id: a, check: {tool_call: {name: x, args: {}}}}]\n",
            "Did you mean `arguments`?",
        ),
        ("id: g\nsub_goals: [{id: a, zzz: 1}]\n", "Keys here: id, title"),
    ],
)
def test_an_unknown_key_comes_with_the_one_that_was_meant(text: str, hint: str) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(text, name="g.plan.yaml")
    assert caught.value.code == "plan-schema"
    assert hint in caught.value.hint
    assert "untaken schema graph" in caught.value.hint


DIAMOND = [
    "intent",
    {"id": "order", "deps": ["intent"]},
    {"id": "policy", "deps": ["intent"]},
    {"id": "refund", "deps": ["order", "policy", "intent"]},
]


def test_digest_changes_with_any_content_and_with_nothing_else() -> None:
    graph = a_graph(*DIAMOND)
    assert graph_digest(graph) == graph_digest(a_graph(*DIAMOND))
    assert graph_digest(graph) != graph_digest(replace(graph, title="other"))
    assert graph_digest(graph) != graph_digest(replace(graph, metadata={"a": 1}))
    assert graph_digest(replace(graph, metadata={"a": 1, "b": 2})) == graph_digest(
        replace(graph, metadata={"b": 2, "a": 1})
    )


def test_a_graph_that_an_earlier_version_could_write_keeps_its_digest() -> None:
    """Judges' replies are kept under it."""
    call = {"tool_call": {"name": "search"}}
    graph = a_graph({"id": "a", "check": call, "rules": [{"tool": "x"}]})
    assert graph_digest(graph).startswith("c133500e7e54eea5")
