"""What is refused in a plan graph, what is only remarked, and where the message points."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from builders import a_graph

from untaken import limits
from untaken.errors import UntakenError
from untaken.plans import PlanGraph, parse_graph, topological, validate


def graph(*sub_goals: dict[str, Any], **fields: Any) -> PlanGraph:
    nodes = [{"check": {"outcome": True}, **node} for node in sub_goals]
    return msgspec.convert({"id": "g", "sub_goals": nodes, **fields}, PlanGraph)


ERRORS = [
    ("no sub-goals", [], "graph-empty", "no sub-goals"),
    ("an id given twice", [{"id": "a"}, {"id": "a"}], "graph-duplicate-id", "2 sub-goals have the id 'a'"),
    ("needs itself", [{"id": "a", "deps": ["a"]}], "graph-self-dependency", "'a' needs itself"),
    ("unknown dependency", [{"id": "a", "deps": ["ghost"]}], "graph-unknown-dependency", "needs 'ghost', which is not in the graph"),
    ("a circle of three", [{"id": "a", "deps": ["c"]}, {"id": "b", "deps": ["a"]}, {"id": "c", "deps": ["b"]}], "graph-cycle", "a → c → b → a"),
    ("its own option", [{"id": "a", "any_of": ["a"]}], "graph-any-of-cycle", "a → a"),
    ("options in a circle", [{"id": "a", "any_of": ["b"]}, {"id": "b", "any_of": ["a"]}], "graph-any-of-cycle", "a → b → a"),
    ("two kinds of check", [{"id": "a", "check": {"expr": "true", "outcome": True}}], "graph-check-kind", "it has 2 (expr, outcome)"),
    ("no kind of check", [{"id": "a", "check": {}}], "graph-check-kind", "it has none"),
    ("a check that is switched off", [{"id": "a", "check": {"outcome": False}}], "graph-check-kind", "it has none"),
    ("an expression that cannot be read", [{"id": "a", "check": {"expr": "state.x =="}}], "expression-unreadable", "the check of 'a'"),
    ("a condition that cannot be read", [{"id": "a", "when": "state.x =="}], "expression-unreadable", "`when` of 'a'"),
    ("a rule that matches everything", [{"id": "a", "rules": [{}]}], "graph-rule-empty", "none of tool, arguments, text"),
    ("a rule that matches nothing", [{"id": "a", "rules": [{"tool": "x", "text": "y"}]}], "graph-rule-impossible", "both a message")
]  # fmt: skip


@pytest.mark.parametrize(("desc", "nodes", "code", "says"), ERRORS)
def test_error_is_named_in_words(desc: str, nodes: Any, code: str, says: str) -> None:
    first = validate(graph(*nodes))[0]
    assert (first.code, first.severity) == (code, "error")
    assert says in first.message


WARNINGS = [
    ("not connected to the rest", [{"id": "a"}, {"id": "b", "deps": ["a"]}, {"id": "c"}], "graph-isolated", "'c'"),
    ("no check", [{"id": "a", "check": None}], "graph-no-check", "'a' has no success check"),
    ("no check at two", [{"id": "a", "check": None}, {"id": "b", "deps": ["a"], "check": None}], "graph-no-check", "each of 'a', 'b' has no success check"),
    ("an option that is not there", [{"id": "a", "check": None, "any_of": ["ghost"]}], "graph-any-of-unknown", "'ghost'"),
    ("options and a check", [{"id": "a", "any_of": ["b"]}, {"id": "b"}], "graph-any-of-check", "only any_of decides"),
    ("a dependency named twice", [{"id": "a"}, {"id": "b", "deps": ["a", "a"]}], "graph-duplicate-dependency", "twice"),
    ("a step check on the outcome", [{"id": "a", "check": {"outcome": True, "on": "step"}}], "graph-check-on", "`on: step`"),
    ("compare_args without call_keys", [{"id": "a", "check": {"tool_call": {"name": "x", "compare_args": ["y"]}}}], "graph-compare-args-unused", "call_keys"),
    ("when_at without a condition", [{"id": "a", "when_at": "step"}], "graph-setting-unused", "`when_at` of 'a' has no effect: it has no `when`"),
    ("a number of calls where none is asked for", [{"id": "a", "times": 2}], "graph-setting-unused", "`times` of 'a' has no effect"),
    (
        "a call that needs no action",
        [{"id": "a", "check": {"tool_call": {"name": "x"}}, "needs_action": False}],
        "graph-setting-unused",
        "`needs_action` of 'a' has no effect"
    )
]  # fmt: skip


@pytest.mark.parametrize(("desc", "nodes", "code", "says"), WARNINGS)
def test_warning_is_named_and_does_not_stop(desc: str, nodes: Any, code: str, says: str) -> None:
    (finding,) = validate(graph(*nodes))
    assert (finding.code, finding.severity) == (code, "warning")
    assert says in finding.message


def test_what_depends_on_a_cycle_is_unreachable() -> None:
    nodes = [{"id": "a", "deps": ["b"]}, {"id": "b", "deps": ["a"]}, {"id": "c", "deps": ["b"]}]
    codes = {finding.code: finding.message for finding in validate(graph(*nodes))}
    assert "'c' can never be reached" in codes["graph-unreachable"]


def test_an_empty_graph_is_valid_where_it_says_that_nothing_is_expected() -> None:
    assert validate(graph(metadata={"nothing_expected": True})) == []
    assert validate(graph(metadata={"nothing_expected": "yes"}))[0].code == "graph-empty"


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


def test_a_flood_of_links_is_one_error() -> None:
    names = [f"ghost{i}" for i in range(limits.EDGES)]
    (finding,) = validate(graph({"id": "a", "deps": names, "any_of": names}))
    assert finding.code == "graph-too-many-edges"
