"""What an expected argument or answer fits that is no literal, and what cannot be meant."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from builders import a_graph, a_run
from hypothesis import example, given
from hypothesis import strategies as st

from untaken import limits
from untaken.errors import UntakenError
from untaken.plans import (
    PlanGraph,
    Rule,
    ToolCallSpec,
    call_matches,
    export_graph,
    json_equal,
    map_actions,
    parse_graph,
    rule_fits,
    validate,
)
from untaken.plans.patterns import as_literal, expectation, looks_like_pattern

FITS: list[tuple[str, Any, Any, bool]] = [
    ("a glob fits the whole text", {"glob": "pytest*"}, "pytest -q tests", True),
    ("a glob fits no part", {"glob": "pytest*"}, "cd x && pytest", False),
    ("a glob runs over lines", {"glob": "git *"}, "git commit -m 'a\nb'", True),
    ("a glob tells case", {"glob": "PYTEST*"}, "pytest", False),
    ("a part of a text", {"contains": "pytest"}, "cd x && pytest -q", True),
    ("no part of a text", {"contains": "pytest"}, "py.test", False),
    ("nothing in `contains` is special", {"contains": "*.py"}, "ls a.py", False),
    ("an expression is searched", {"regex": r"\d+ passed"}, "= 12 passed =", True),
    ("an expression that is anchored", {"regex": r"^pytest\b"}, "cd x; pytest", False),
    ("an expression without regard to case", {"regex": "(?i)ERROR"}, "an error", True),
    ("any value", {"any": True}, {"deep": [1]}, True),
    ("any value is null, too", {"any": True}, None, True),
    ("null has no text", {"glob": "*"}, None, False),
    ("a number is looked at as JSON", {"regex": "^1[0-9]$"}, 17, True),
    ("so is a truth", {"glob": "tru?"}, True, True),
    ("a list of texts is lines", {"contains": "-lc\npytest"}, ["bash", "-lc", "pytest -q"], True),
    ("so are the parts of a message", {"glob": "3 passed"}, [{"type": "text", "text": "3 passed"}], True),
    ("anything else is JSON", {"contains": '"city":"Oslo"'}, {"to": {"city": "Oslo"}}, True),
    ("inside a mapping", {"filter": {"city": {"glob": "Os*"}}}, {"filter": {"city": "Oslo", "n": 3}}, True),
    ("inside a mapping that is another", {"city": {"glob": "Os*"}}, {"city": "Bergen"}, False),
    ("inside a list", ["bash", "-lc", {"contains": "pytest"}], ["bash", "-lc", "pytest -q"], True),
    ("inside a longer list", ["bash", {"any": True}], ["bash", "-lc", "x"], False),
    ("a literal mapping that looks like a pattern", {"literal": {"glob": "*.py"}}, {"glob": "*.py"}, True),
    ("it is no pattern", {"literal": {"glob": "*.py"}}, "a.py", False),
    ("nor is anything in it", {"literal": [{"any": True}]}, [{"any": True}], True),
    ("a literal text", {"literal": "*.py"}, "*.py", True),
    ("a mapping with another key is a literal", {"glob": "*", "path": "."}, {"glob": "*", "path": "."}, True),
    ("a text with wildcards is a literal", "*.py", "a.py", False),
]


@pytest.mark.parametrize(("desc", "expected", "actual", "want"), FITS, ids=[case[0] for case in FITS])
def test_an_expected_argument(desc: str, expected: Any, actual: Any, want: bool) -> None:
    (call,) = a_run().call("tool", given=actual, other=1).run().actions
    assert call_matches(ToolCallSpec(name="tool", arguments={"given": expected}), call) is want, desc
    assert rule_fits(Rule(arguments={"given": expected}), call) is want, desc


HOSTILE = ["(a+)+$", "(a|a)*$", "(a|aa)+b", "(.*a){20}", "(?i)(\\w+\\s*){100}$", "a?" * 90 + "a" * 20]


@pytest.mark.parametrize("said", HOSTILE)
def test_no_expression_backtracks(said: str) -> None:
    """Any of these keeps a backtracking engine busy for longer than a machine lasts."""
    (call,) = a_run().call("tool", x="a" * 200_000 + "!").run().actions
    call_matches(ToolCallSpec(name="tool", arguments={"x": {"regex": said}}), call)


UNUSABLE = [
    ("an expression that does not close", {"regex": "("}, "missing )"),
    ("a look-ahead", {"regex": "(?=a)"}, "cannot be used"),
    ("a back-reference", {"regex": r"(a)\1"}, "cannot be used"),
    ("a huge expression", {"regex": r"\pL{900}"}, "too large"),
    ("a glob of a number", {"glob": 3}, "`glob` takes a text"),
    ("an empty part", {"contains": ""}, "`contains` takes a text of 1 to"),
    ("not any", {"any": False}, "`any` takes true"),
    ("two patterns at once", {"glob": "a", "contains": "b"}, "this one says `glob` and `contains`"),
]


@pytest.mark.parametrize(("desc", "said", "words"), UNUSABLE, ids=[case[0] for case in UNUSABLE])
@pytest.mark.parametrize("place", ["check", "rule"])
def test_a_pattern_that_cannot_be_used_is_an_error_of_its_sub_goal_and_key(desc, said, words, place) -> None:
    arguments = {"filter": {"city": [said]}}
    check = {"check": {"tool_call": {"name": "t", "arguments": arguments}}}
    rules = {"rules": [{"arguments": arguments}], "check": {"outcome": True}}
    (finding,) = validate(_graph(check if place == "check" else rules))
    assert (finding.code, finding.severity) == ("graph-pattern-invalid", "error"), desc
    assert f"{'the check' if place == 'check' else 'a rule'} of 'x'" in finding.message
    assert "argument 'filter.city[0]'" in finding.message
    assert words in finding.message


def test_an_answer_that_says_nothing_is_an_error() -> None:
    (finding,) = validate(_graph({"check": {"tool_call": {"name": "t", "answer": {}}}}))
    assert finding.code == "graph-answer-empty"


def test_the_line_of_an_unusable_pattern_is_named() -> None:
    call = "{name: t,\n      arguments: {a: {regex: '('}}}"
    text = f"id: g\nsub_goals:\n- id: x\n  check:\n    tool_call: {call}\n"
    with pytest.raises(UntakenError) as caught:
        parse_graph(text, name="g.plan.yaml")
    assert (caught.value.code, caught.value.where.line) == ("graph-pattern-invalid", 6)


LITERALS = [
    ("pytest*", True), ("*.py", True), ("src/**/test", True), ("*", True), ("file?.txt", True),
    ("^git", True), (r"\d+ passed", True), ("error.+", True), ("2 * 3", False), ("4*5", False),
    ("2 * ((350 - 122) + 3)", False), ("SELECT * FROM t", False), ("Why?", False),
    ("Is it ok? Yes.", False), ("https://x.org/a?b=c*", False), ("C++", False), (r"C:\data", False),
]  # fmt: skip


@pytest.mark.parametrize(("literal", "want"), LITERALS)
def test_a_literal_that_was_likely_meant_as_a_pattern_is_a_warning(literal: str, want: bool) -> None:
    arguments = {"command": literal}
    for node in (
        {"check": {"tool_call": {"name": "t", "arguments": arguments}}},
        {"rules": [{"arguments": arguments}], "check": {"outcome": True}},
    ):
        found = validate(_graph(node))
        said = [(finding.code, finding.severity) for finding in found]
        assert said == ([("graph-literal-wildcard", "warning")] if want else [])
        assert all("'command'" in finding.message for finding in found)


def test_a_check_on_a_tool_with_a_wildcard_is_a_warning() -> None:
    (finding,) = validate(_graph({"check": {"tool_call": {"name": "mcp__*"}}}))
    assert finding.code == "graph-literal-wildcard"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["*", "a*", "x", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["glob", "any", "literal", "regex", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_json)
@example({"glob": {"any": True}})
@example({"literal": {"literal": 1}})
def test_a_recorded_value_written_as_a_literal_expects_exactly_itself(value: Any) -> None:
    written = as_literal(value)
    expected = expectation(written)
    assert json_equal(expected, value)
    assert not [text for text in _texts(written) if looks_like_pattern(text)]


def _texts(written: Any) -> list[str]:
    if isinstance(written, dict):
        return [] if "literal" in written else [t for item in written.values() for t in _texts(item)]
    if isinstance(written, list):
        return [text for item in written for text in _texts(item)]
    return [written] if isinstance(written, str) else []


PATTERNED = {
    "rules": [{"tool": "Bash", "arguments": {"command": {"glob": "pytest*"}}, "answer": {"ok": False}}],
    "check": {
        "tool_call": {
            "name": "Bash",
            "arguments": {"command": {"regex": r"^pytest\b"}, "env": {"literal": {"any": True}}},
            "answered": "any",
            "answer": {"ok": True, "contains": " passed", "glob": "*", "regex": "[0-9]+"},
        }
    },
}


@pytest.mark.parametrize("format", ["yaml", "json", "node-link"])
def test_patterns_and_answers_come_back_from_a_file(format: Any) -> None:
    graph = _graph(PATTERNED)
    assert parse_graph(export_graph(graph, format), name="g", format=format) == graph


ANSWERS: list[tuple[str, dict[str, Any], Any, bool | None, bool]] = [
    ("what it says", {"contains": "passed"}, "3 passed", None, True),
    ("another thing", {"contains": "passed"}, "3 failed", None, False),
    ("its flag", {"ok": False}, "", False, True),
    ("another flag", {"ok": True}, "", False, False),
    ("a flag that is not recorded", {"ok": True}, "", None, False),
    ("all that is given", {"ok": True, "regex": "[0-9]", "glob": "*d"}, "3 passed", True, True),
    ("not all that is given", {"ok": True, "regex": "[0-9]", "glob": "*x"}, "3 passed", True, False),
    ("an answer without content", {"glob": "*"}, None, None, True),
]


@pytest.mark.parametrize(("desc", "answer", "content", "ok", "want"), ANSWERS, ids=[c[0] for c in ANSWERS])
def test_a_rule_looks_at_the_answer(desc, answer, content, ok, want) -> None:
    graph = a_graph({"id": "x", "rules": [{"tool": "Bash", "answer": answer}]})
    run = a_run().call("Bash").observe(content, ok=ok, call_id="c1").run()
    assert (map_actions(run, graph).mapped == ((1, "x", "rule"),)) is want, desc


def test_a_rule_that_asks_for_an_answer_claims_no_call_without() -> None:
    graph = a_graph({"id": "x", "rules": [{"answer": {"glob": "*"}}]})
    assert map_actions(a_run().call("Bash").run(), graph).extra == (1,)


def test_patterns_over_long_answers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAPPING_COMPARISONS", 50)
    graph = a_graph({"id": "x", "rules": [{"answer": {"contains": "a"}}]})
    run = a_run().call("t").observe("a" * 60_000, call_id="c1").call("t").observe("a", call_id="c2").run()
    mapping = map_actions(run, graph)
    assert [finding.code for finding in mapping.findings] == ["mapping-limit"]
    assert 2 in mapping.extra or 3 in mapping.extra


def _graph(node: dict[str, Any]) -> PlanGraph:
    return msgspec.convert({"id": "g", "sub_goals": [{"id": "x", **node}]}, PlanGraph)
