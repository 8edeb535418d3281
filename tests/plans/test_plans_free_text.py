"""Free text is no requirement: it need only be given, unless the plan says `equals`."""

from __future__ import annotations

from typing import Any

import pytest
from builders import a_graph, a_run

from untaken.plans.patterns import comparing_free_text, is_free_text
from untaken.plans.plan_graph import PlanGraph
from untaken.scoring import NodeScore, score_run

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
