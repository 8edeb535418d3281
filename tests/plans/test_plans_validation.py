"""What is refused in a plan graph, what is only remarked, and where the message points."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from builders import a_graph

from untaken import limits
from untaken.errors import UntakenError
from untaken.plans import PlanGraph, SubGoal, parse_graph, topological, validate


def graph(*sub_goals: dict[str, Any], **fields: Any) -> PlanGraph:
    nodes = [{"check": {"outcome": True}, **node} for node in sub_goals]
    return msgspec.convert({"id": "g", "sub_goals": nodes, **fields}, PlanGraph)


ERRORS = [
    {"desc": "no sub-goals", "nodes": [], "code": "graph-empty", "says": "no sub-goals"},
    {
        "desc": "an id given twice",
        "nodes": [{"id": "a"}, {"id": "a"}],
        "code": "graph-duplicate-id",
        "says": "2 sub-goals have the id 'a'",
    },
    {
        "desc": "needs itself",
        "nodes": [{"id": "a", "deps": ["a"]}],
        "code": "graph-self-dependency",
        "says": "'a' needs itself",
    },
    {
        "desc": "unknown dependency",
        "nodes": [{"id": "a", "deps": ["ghost"]}],
        "code": "graph-unknown-dependency",
        "says": "needs 'ghost', which is not in the graph",
    },
    {
        "desc": "a circle of three",
        "nodes": [{"id": "a", "deps": ["c"]}, {"id": "b", "deps": ["a"]}, {"id": "c", "deps": ["b"]}],
        "code": "graph-cycle",
        "says": "a → c → b → a",
    },
    {
        "desc": "its own option",
        "nodes": [{"id": "a", "any_of": ["a"]}],
        "code": "graph-any-of-cycle",
        "says": "a → a",
    },
    {
        "desc": "options in a circle",
        "nodes": [{"id": "a", "any_of": ["b"]}, {"id": "b", "any_of": ["a"]}],
        "code": "graph-any-of-cycle",
        "says": "a → b → a",
    },
    {
        "desc": "two kinds of check",
        "nodes": [{"id": "a", "check": {"expr": "true", "outcome": True}}],
        "code": "graph-check-kind",
        "says": "it has 2 (expr, outcome)",
    },
    {
        "desc": "no kind of check",
        "nodes": [{"id": "a", "check": {}}],
        "code": "graph-check-kind",
        "says": "it has none",
    },
    {
        "desc": "a check that is switched off",
        "nodes": [{"id": "a", "check": {"outcome": False}}],
        "code": "graph-check-kind",
        "says": "it has none",
    },
    {
        "desc": "an expression that cannot be read",
        "nodes": [{"id": "a", "check": {"expr": "state.x =="}}],
        "code": "expression-unreadable",
        "says": "the check of 'a'",
    },
    {
        "desc": "a condition that cannot be read",
        "nodes": [{"id": "a", "when": "state.x =="}],
        "code": "expression-unreadable",
        "says": "`when` of 'a'",
    },
    {
        "desc": "a rule that matches everything",
        "nodes": [{"id": "a", "rules": [{}]}],
        "code": "graph-rule-empty",
        "says": "none of tool, arguments, text",
    },
    {
        "desc": "a rule that matches nothing",
        "nodes": [{"id": "a", "rules": [{"tool": "x", "text": "y"}]}],
        "code": "graph-rule-impossible",
        "says": "both a message",
    },
]


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case["desc"])
def test_error_is_named_in_words(case: dict[str, Any]) -> None:
    first = validate(graph(*case["nodes"]))[0]
    assert (first.code, first.severity) == (case["code"], "error")
    assert case["says"] in first.message


WARNINGS = [
    {
        "desc": "not connected to the rest",
        "nodes": [{"id": "a"}, {"id": "b", "deps": ["a"]}, {"id": "c"}],
        "code": "graph-isolated",
        "says": "'c'",
    },
    {
        "desc": "no check",
        "nodes": [{"id": "a", "check": None}],
        "code": "graph-no-check",
        "says": "'a' has no success check",
    },
    {
        "desc": "an option that is not there",
        "nodes": [{"id": "a", "check": None, "any_of": ["ghost"]}],
        "code": "graph-any-of-unknown",
        "says": "'ghost'",
    },
    {
        "desc": "options and a check",
        "nodes": [{"id": "a", "any_of": ["b"]}, {"id": "b"}],
        "code": "graph-any-of-check",
        "says": "only any_of decides",
    },
    {
        "desc": "a dependency named twice",
        "nodes": [{"id": "a"}, {"id": "b", "deps": ["a", "a"]}],
        "code": "graph-duplicate-dependency",
        "says": "twice",
    },
    {
        "desc": "a step check on the outcome",
        "nodes": [{"id": "a", "check": {"outcome": True, "on": "step"}}],
        "code": "graph-check-on",
        "says": "`on: step`",
    },
    {
        "desc": "compare_args without call_keys",
        "nodes": [{"id": "a", "check": {"tool_call": {"name": "x", "compare_args": ["y"]}}}],
        "code": "graph-compare-args-unused",
        "says": "call_keys",
    },
    {
        "desc": "when_at without a condition",
        "nodes": [{"id": "a", "when_at": "step"}],
        "code": "graph-setting-unused",
        "says": "`when_at` of 'a' has no effect: it has no `when`",
    },
    {
        "desc": "a number of calls where none is asked for",
        "nodes": [{"id": "a", "times": 2}],
        "code": "graph-setting-unused",
        "says": "`times` of 'a' has no effect",
    },
    {
        "desc": "a call that needs no action",
        "nodes": [{"id": "a", "check": {"tool_call": {"name": "x"}}, "needs_action": False}],
        "code": "graph-setting-unused",
        "says": "`needs_action` of 'a' has no effect",
    },
]


@pytest.mark.parametrize("case", WARNINGS, ids=lambda case: case["desc"])
def test_warning_is_named_and_does_not_stop(case: dict[str, Any]) -> None:
    (finding,) = validate(graph(*case["nodes"]))
    assert (finding.code, finding.severity) == (case["code"], "warning")
    assert case["says"] in finding.message


def test_what_depends_on_a_cycle_is_unreachable() -> None:
    nodes = [{"id": "a", "deps": ["b"]}, {"id": "b", "deps": ["a"]}, {"id": "c", "deps": ["b"]}]
    codes = {finding.code: finding.message for finding in validate(graph(*nodes))}
    assert "'c' can never be reached" in codes["graph-unreachable"]


def test_two_separate_cycles_are_both_named() -> None:
    nodes = [
        {"id": "a", "deps": ["b"]},
        {"id": "b", "deps": ["a"]},
        {"id": "c", "deps": ["d"]},
        {"id": "d", "deps": ["c"]},
    ]
    messages = [f.message for f in validate(graph(*nodes)) if f.code == "graph-cycle"]
    assert len(messages) == 2
    assert "a → b → a" in messages[0]
    assert "c → d → c" in messages[1]


def test_a_sound_graph_has_no_findings() -> None:
    assert validate(graph({"id": "a"}, {"id": "b", "deps": ["a"]})) == []


def test_an_empty_graph_is_valid_where_it_says_that_nothing_is_expected() -> None:
    assert validate(graph(metadata={"nothing_expected": True})) == []
    assert validate(graph(metadata={"nothing_expected": "yes"}))[0].code == "graph-empty"


def test_a_graph_without_any_link_has_no_isolated_sub_goals() -> None:
    assert validate(graph({"id": "a"}, {"id": "b"})) == []


def test_errors_stand_before_warnings() -> None:
    found = validate(PlanGraph(id="g", sub_goals=[SubGoal(id="a"), SubGoal(id="a")]))
    assert [finding.severity for finding in found] == ["error", "warning"]


def test_an_error_points_at_its_line() -> None:
    text = "id: g\nsub_goals:\n  - id: a\n  - id: b\n    deps:\n      - a\n      - ghost\n"
    with pytest.raises(UntakenError) as caught:
        parse_graph(text, name="desk.plan.yaml")
    assert caught.value.code == "graph-unknown-dependency"
    assert (caught.value.where.file, caught.value.where.line) == ("desk.plan.yaml", 7)


def test_several_errors_are_counted() -> None:
    with pytest.raises(UntakenError, match=r"'x', which is not in the graph \(and 2 more\)"):
        parse_graph("id: g\nsub_goals: [{id: a, deps: [x, y, z]}]", name="g.yaml")


def test_topological_order_keeps_graph_order_among_equals() -> None:
    nodes = [{"id": "d", "deps": ["b", "c"]}, {"id": "c", "deps": ["a"]}, "a", {"id": "b", "deps": ["a"]}]
    assert topological(a_graph(*nodes)) == ["a", "c", "b", "d"]


def test_topological_order_of_a_cycle_is_refused_with_its_path() -> None:
    with pytest.raises(UntakenError, match="a → b → a") as caught:
        topological(graph({"id": "a", "deps": ["b"]}, {"id": "b", "deps": ["a"]}))
    assert caught.value.code == "graph-cycle"


def test_a_flood_of_links_is_one_error() -> None:
    names = [f"ghost{i}" for i in range(limits.EDGES)]
    (finding,) = validate(graph({"id": "a", "deps": names, "any_of": names}))
    assert finding.code == "graph-too-many-edges"
