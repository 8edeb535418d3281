"""When a recorded call fulfils an expected one: arguments, globs, and free text, which need only be given."""

from __future__ import annotations

import time
from typing import Any

import pytest
from builders import a_graph, a_run

from untaken.plans import ToolCallSpec, call_matches, escape_glob, matches_glob
from untaken.plans.globs import unescaped
from untaken.plans.patterns import comparing_free_text, is_free_text
from untaken.plans.plan_graph import PlanGraph
from untaken.scoring import NodeScore, score_run

NESTED = {"filter": {"city": "Oslo", "max": 3}, "tags": [{"k": 1}]}

CASES: list[tuple[str, str, Any, Any, bool]] = [
    ("nothing at all is equal", "exact", {}, {}, True),
    ("equal", "exact", {"a": 1}, {"a": 1}, True),
    ("the call says more", "exact", {"a": 1}, {"a": 1, "b": 2}, False),
    ("the call says less", "exact", {"a": 1, "b": 2}, {"a": 1}, False),
    ("order of keys", "exact", {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ("1 is 1.0", "exact", {"a": 1}, {"a": 1.0}, True),
    ("1 is not true", "exact", {"a": 1}, {"a": True}, False),
    ("0.0 is not false", "exact", {"a": False}, {"a": 0.0}, False),
    ("1 is not '1'", "exact", {"a": 1}, {"a": "1"}, False),
    ("null is not absent", "exact", {"a": None}, {}, False),
    ("true is not 1 deep inside", "exact", {"a": [{"b": 1}]}, {"a": [{"b": True}]}, False),
    ("large whole numbers differ by one", "exact", {"a": 2**53}, {"a": 2**53 + 1}, False),
    ("order of items", "exact", {"a": [1, 2]}, {"a": [2, 1]}, False),
    ("nothing expected", "subset", {}, {"a": 1}, True),
    ("the call says more", "subset", {"a": 1}, {"a": 1, "b": 2}, True),
    ("the call says less", "subset", {"a": 1}, {}, False),
    ("null must be said", "subset", {"a": None}, {}, False),
    ("a nested mapping says more", "subset", {"filter": {"city": "Oslo"}}, NESTED, True),
    ("a nested mapping says another", "subset", {"filter": {"city": "Bergen"}}, NESTED, False),
    ("a mapping in a list says more", "subset", {"tags": [{}]}, NESTED, True),
    ("a list is longer", "subset", {"tags": []}, NESTED, False),
    ("a mapping is no text", "subset", {"a": {}}, {"a": "x"}, False),
    ("no arguments at all", "call_keys", {"a": 1}, {}, True),
    ("one is left out", "call_keys", {"a": 1, "b": 2}, {"a": 1}, True),
    ("one differs", "call_keys", {"a": 1}, {"a": 2}, False),
    ("one was not expected", "call_keys", {"a": 1}, {"a": 1, "b": 2}, False),
    ("a nested mapping says more", "call_keys", {"f": {"a": 1}}, {"f": {"a": 1, "b": 2}}, False),
]


@pytest.mark.parametrize(
    ("desc", "match", "expected", "actual", "want"), CASES, ids=[f"{case[1]}: {case[0]}" for case in CASES]
)
def test_call_matches(desc: str, match: Any, expected: Any, actual: Any, want: bool) -> None:
    (call,) = a_run().call("tool", **actual).run().actions
    assert call_matches(ToolCallSpec(name="tool", arguments=expected, match=match), call) is want, desc


COMPARE_ARGS = [
    ("others are ignored", ["a"], {"a": 1, "b": 2}, {"a": 1, "b": 9}, True),
    ("one differs", ["a"], {"a": 1}, {"a": 2}, False),
    ("the call leaves one out", ["a"], {"a": 1}, {}, False),
    ("neither says it", ["c"], {"a": 1}, {"a": 2}, True),
    ("nothing is compared", [], {"a": 1}, {"a": 2}, True),
]


@pytest.mark.parametrize(("desc", "keys", "expected", "actual", "want"), COMPARE_ARGS)
def test_compare_args_name_what_is_compared(desc, keys, expected, actual, want) -> None:
    spec = ToolCallSpec(name="tool", arguments=expected, match="call_keys", compare_args=keys)
    (call,) = a_run().call("tool", **actual).run().actions
    assert call_matches(spec, call) is want, desc


@pytest.mark.parametrize("text", ["plain", "[mobile_data]x[PERSONA:None]", "a*b?c", "[[", "]", "[!a]"])
def test_an_escaped_text_fits_itself_alone(text: str) -> None:
    assert matches_glob(escape_glob(text), text)
    assert unescaped(escape_glob(text)) == text
    assert not matches_glob(escape_glob(text), text + "x")


@pytest.mark.parametrize("pattern", ["a*", "?", "[ab]c", "[*]*"])
def test_a_pattern_with_wildcards_has_no_single_text(pattern: str) -> None:
    assert unescaped(pattern) is None


HOSTILE = [
    "*a" * 200 + "*b",
    "*" * 400 + "b",
    "*a?a?" * 100 + "b",
    "*[ab]" * 100 + "c",
    "*" + "a?" * 200 + "b*",
]


@pytest.mark.parametrize("pattern", HOSTILE)
def test_hostile_patterns_do_not_backtrack(pattern: str) -> None:
    started = time.process_time()
    assert not matches_glob(pattern, "a" * 100_000)
    assert time.process_time() - started < 30  # a hang, not a speed: backtracking would take years


FREE = [
    # text, tool, argument
    ("I want my money back", "refund", "summary"),
    ("User requests a human agent; order #W1 is late.", "transfer", "summary"),
    ("please, don't close my account", "note", "text"),
    ("WHERE IS MY REFUND NOW", "note", "text"),
    ("我想要退款因为坏了", "note", "text"),
    ("(350.0 + 25) * 2", "calculate", "expression"),
    ("350-25", "calculate", "expression"),
    ("54.04 + 41.64", "spend", "amount"),
    ("100 - 20", "spend", "amount"),
]
COMPARED = [
    ("no longer needed", "cancel", "reason"),
    ("2024-05-20", "book", "date"),
    ("12/05/2024", "book", "date"),
    ("555-123-4567", "call", "number"),
    ("10 20 30", "x", "values"),
    ("#W2575533", "get_order_details", "order_id"),
    ("443 Maple Drive, Apt 4", "move", "address"),
    ("1234 Elm Drive North West", "move", "address"),
    ("New York City Hall", "go", "place"),
    ("git commit all the files now", "Bash", "command"),
    ("pytest -x tests/unit", "run", "what"),
    ("SELECT name FROM users now", "query", "text"),
    ("", "note", "text"),
]


@pytest.mark.parametrize(("text", "tool", "argument"), FREE)
def test_a_sentence_or_a_calculation_is_free_text(text: str, tool: str, argument: str) -> None:
    assert is_free_text(text, tool=tool, argument=argument)


@pytest.mark.parametrize(("text", "tool", "argument"), COMPARED)
def test_names_ids_dates_and_commands_are_compared(text: str, tool: str, argument: str) -> None:
    assert not is_free_text(text, tool=tool, argument=argument)


SENTENCE = "The customer wants a refund"


def graph(value: Any, match: str = "subset") -> PlanGraph:
    call = {"name": "note", "arguments": {"text": value, "id": 7}, "match": match}
    return a_graph({"id": "a", "check": {"tool_call": call}})


def node(expected: PlanGraph, **arguments: Any) -> NodeScore:
    return score_run(a_run().call("note", **arguments).finish().run(), expected).node("a")


CALLS: list[tuple[str, Any, dict[str, Any], bool]] = [
    ("other words", SENTENCE, {"text": "They ask for money"}, True),
    ("no words", SENTENCE, {}, False),
    ("blanks", SENTENCE, {"text": " "}, False),
    ("nothing", SENTENCE, {"text": None}, False),
    ("a sentence inside a list", [SENTENCE], {"text": ["other"]}, True),
    ("a sentence inside a mapping", {"body": SENTENCE}, {"text": {"body": "x"}}, True),
    ("a sentence with a question mark", {"literal": SENTENCE + "?"}, {"text": "They ask"}, True),
    ("equals, other words", {"equals": SENTENCE}, {"text": "They ask for money"}, False),
    ("equals, the same words", {"equals": SENTENCE}, {"text": SENTENCE}, True),
    ("equals a list", {"equals": [SENTENCE]}, {"text": ["other"]}, False),
    ("equals a number", {"equals": 1}, {"text": 1.0}, True),
    ("a pattern is a pattern", {"contains": "wants a refund now"}, {"text": "other"}, False),
]


@pytest.mark.parametrize("match", ["subset", "exact"])
@pytest.mark.parametrize(("desc", "expected", "given", "met"), CALLS, ids=[case[0] for case in CALLS])
def test_free_text_is_met_by_being_there(desc, expected, given, met, match) -> None:
    assert node(graph(expected, match), id=7, **given).completed is met


def test_what_is_beside_free_text_is_compared() -> None:
    found = node(graph(SENTENCE), text="They ask", id=8)
    assert found.completed is False
    assert [(one.field, one.met) for one in found.differences] == [("text", True), ("id", False)]
    assert "text" not in found.reason


def test_a_rule_looks_for_what_it_says() -> None:
    rules = [{"tool": "note", "arguments": {"text": SENTENCE}}]
    rule = a_graph({"id": "a", "rules": rules, "check": {"verdict": True}})
    assert node(rule, text="They ask for money", id=7).attempted is False


def test_the_rule_of_a_benchmark_compares_it() -> None:
    for expected in (SENTENCE, {"literal": SENTENCE}):
        strict = comparing_free_text(graph(expected))
        assert node(strict, text="They ask for money", id=7).completed is False
        assert node(strict, text=SENTENCE, id=7).completed is True
