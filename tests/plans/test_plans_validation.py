"""What is refused in a plan graph or its document, what is only remarked, and where the message points."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from builders import a_graph

from untaken import limits
from untaken.errors import UntakenError
from untaken.plans import PlanGraph, parse_graph, topological, validate
from untaken.plans.strict_document import read_yaml


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


BILLION = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nid: g\nsub_goals: []\n"

REFUSED = [
    ("duplicate key", "id: g\nid: h\nsub_goals: []", "'id' is given twice", 2),
    ("duplicate nested key", "id: g\nsub_goals:\n - {id: a, id: b}", "twice", 3),
    ("anchor", "id: &x g\nsub_goals: []", "anchors", 1),
    ("alias", "id: g\nsub_goals: *x", "not", 2),
    ("billion laughs", BILLION, "anchors", 1),
    ("merge key", "<<: {id: g}\nsub_goals: []", "merge", 1),
    ("Python tag", "id: !!python/name:os.system g\nsub_goals: []", "tags", 1),
    ("own tag", "id: !x g\nsub_goals: []", "tags", 1),
    ("standard tag", "id: !!str g\nsub_goals: []", "tags", 1),
    ("second document", "id: g\nsub_goals: []\n---\nid: h", "second document", 3),
    ("list as key", "? [a]\n: b\nid: g", "key must be plain text", 1),
    ("number that does not fit", "id: g\nversion: 99999999999999999999", "fit", 2),
    ("infinite number", "id: g\nmetadata: {a: 1e999}", "fit", 2),
    ("broken indentation", "id: g\n  sub_goals: []", "not valid YAML", 2),
    ("tab indentation", "id: g\nsub_goals:\n\t- id: a", "not valid YAML", 3),
    ("control character", "id: g\x00\nsub_goals: []", "not valid YAML", None),
    ("not closed", "id: [g", "not valid YAML", 2),
]


@pytest.mark.parametrize(("desc", "yaml", "says", "line"), REFUSED)
def test_yaml_is_refused_with_its_line(desc: str, yaml: Any, says: str, line: Any) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(yaml, name="g.plan.yaml")
    assert caught.value.code == "plan-yaml"
    assert says in caught.value.message
    assert caught.value.where.file == "g.plan.yaml"
    if line:
        assert caught.value.where.line == line


def test_yaml_is_refused_at_its_column() -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph("id: g\nsub_goals: &x []", name="g.plan.yaml")
    assert (caught.value.where.line, caught.value.where.column) == (2, 12)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_yaml_is_refused_quickly(opening: str) -> None:
    with pytest.raises(UntakenError, match="plan-yaml"):
        parse_graph(opening * 100_000, name="g.yaml")


WORDS = ["2024-01-02", "12:30:45", "yes", "off", "0x1f", "0o17", "010", "1_000"]
WORDS += [".inf", ".nan", "tRUE", "e3", "."]
NUMBERS = {"0": 0, "+7": 7, "9223372036854775807": (1 << 63) - 1, "-.5": -0.5, "1.": 1.0, "1.5E-2": 0.015}
NUMBERS |= {"7": 7, "-7": -7, "1.5": 1.5, "1e3": 1000.0}
MEANS = [
    *zip(WORDS, WORDS, strict=True),
    *((word, True) for word in ("true", "True", "TRUE")),
    *((word, False) for word in ("false", "False", "FALSE")),
    *((word, None) for word in ("null", "Null", "NULL", "~", "")),
    *NUMBERS.items(),
    *(("'7'", "7"), ('"null"', "null")),
]


@pytest.mark.parametrize(("text", "want"), MEANS)
def test_plain_scalars_mean_what_they_mean_in_json(text: str, want: Any) -> None:
    value = read_yaml(f"a: {text}\n", "g.yaml").value["a"]
    assert value == want
    assert type(value) is type(want)


JSON_REFUSED = [
    ("duplicate key", '{"id": "g", "id": "h", "sub_goals": []}', '"id" occurs twice'),
    ("NaN", '{"id": "g", "metadata": {"x": NaN}, "sub_goals": []}', "NaN"),
    ("infinity", '{"id": "g", "metadata": {"x": -Infinity}}', "Infinity"),
    ("overflowing number", '{"id": "g", "metadata": {"x": 1e999}}', "fit"),
    ("huge whole number", '{"id": "g", "version": ' + "9" * 5000 + "}", "fit"),
    ("no column holds it", f'{{"id": "g", "version": {1 << 63}}}', "fit"),
    ("lone surrogate", '{"id": "\\ud800", "sub_goals": []}', "surrogate"),
    ("trailing comma", '{"id": "g",}', "not JSON"),
    ("deep", '{"id":' + "[" * 100_000, "deeper"),
    ("somewhat deep", '{"id":' + "[" * 40 + "]" * 40 + "}", "deeper"),
]


@pytest.mark.parametrize(("desc", "json", "says"), JSON_REFUSED)
def test_json_is_refused(desc: str, json: Any, says: str) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(json, name="g.plan.json")
    assert caught.value.code == "plan-json"
    assert says in caught.value.message
    assert (caught.value.where.line, caught.value.where.column) > (0, 0)


SCHEMA = [
    ("unknown field", "id: g\nsub_goals:\n  - id: a\n    crtical: true", 3),
    ("wrong type", "id: g\nsub_goals:\n  - id: a\n  - id: b\n    critical: 'yes'", 5),
    ("unknown match", "id: g\nsub_goals:\n- {id: a, check: {tool_call: {name: x, match: z}}}", 3),
    ("missing id", "title: t\nsub_goals: []", 1),
    ("another schema", "schema: untaken.plan/2\nid: g\nsub_goals: []", 1),
    ("empty id", "id: g\nsub_goals:\n  - id: ''", 3),
    ("a list at the top", "- id: g", 1),
    ("nothing at all", "", None),
]


@pytest.mark.parametrize(("desc", "yaml", "line"), SCHEMA)
def test_schema_faults_point_at_their_line(desc: str, yaml: Any, line: Any) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(yaml, name="g.yaml")
    assert caught.value.code == "plan-schema"
    assert caught.value.where.line == line


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(UntakenError, match="plan-not-utf8"):
        parse_graph("id: é".encode("latin-1"), name="g.yaml")


def test_a_byte_order_mark_is_no_content() -> None:
    text = "id: g\nsub_goals: [{id: a}]"
    assert parse_graph(b"\xef\xbb\xbf" + text.encode(), name="g.yaml") == parse_graph(text, name="g.yaml")
