# One case a line, however long, reads best.
# ruff: noqa: E501
"""What a run had done before a moment, as features that runs can share: the bounds of each."""

from __future__ import annotations

from typing import Any

import pytest
from builders import RunBuilder, a_run

from untaken.ledger import ToolCall, events
from untaken.scoring.causes.error_text import stripped_error
from untaken.scoring.causes.features import Feature, RunFeatures, argument_values, with_absent

ARGUMENTS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "inner fields and members of lists": ({"a": {"b": 1}, "c": [2, {"d": 3}]}, [("a.b", "1"), ("c", "2"), ("c.d", "3")]),
    "four levels of fields": ({"a": {"b": {"c": {"d": 1, "e": {"f": 2}}}}}, [("a.b.c.d", "1")]),
    "four levels of lists": ({"a": [[[1, [2]]]]}, [("a", "1")]),
    "truth and nothing": ({"a": True, "b": False, "c": None}, [("a", "true"), ("b", "false"), ("c", "null")]),
    "numbers as people write them": ({"a": 0.1 + 0.2, "b": 2.0, "c": 0}, [("a", "0.3"), ("b", "2"), ("c", "0")]),
    "texts without their margins": ({"a": " x ", "b": " ", "c": ""}, [("a", "x")]),
    "no prose": ({"a": "x" * 80, "b": "x" * 81}, [("a", "x" * 80)]),
    "at most forty": ({"a": list(range(42))}, [("a", str(i)) for i in range(40)])
}  # fmt: skip


@pytest.mark.parametrize("desc", ARGUMENTS)
def test_arguments_of_a_call_are_its_short_scalars(desc: str) -> None:
    arguments, want = ARGUMENTS[desc]
    (call,) = a_run().call("pay", **arguments).run().of(ToolCall)
    assert list(argument_values(call)) == want


CONTEXTS: dict[str, tuple[Any, dict[str, str]]] = {
    "one part is the whole": ({"town": "Bern"}, {"town": "Bern"}),
    "several parts, and the whole": ({"town": "Bern", "rain": None, "at": 7}, {"town": "Bern", "rain": "null", "at": "7", "context": "town Bern, rain null, at 7"}),
    "as a text of JSON": ('{"wet": true, "cold": 0.5}', {"wet": "true", "cold": "0.5", "context": "wet true, cold 0.5"}),
    "parts with parts of their own, or too long, are left out": ({"a": {"b": 1}, "c": [1], "d": "x" * 81, "e": 1}, {"e": "1"}),
    "forty parts": ({f"k{i}": i for i in range(41)}, {f"k{i}": str(i) for i in range(40)}),
    "a text that is no JSON": ("rainy", {"context": "hash"}),
    "a number": (7, {"context": "hash"}),
    "nothing": (None, {"context": "hash"})
}  # fmt: skip


@pytest.mark.parametrize("desc", CONTEXTS)
def test_a_choice_is_shared_by_the_parts_of_its_context(desc: str) -> None:
    context, want = CONTEXTS[desc]
    run = a_run().add(
        events.SkillSelection, selected="walk", alternatives=["ride"], context_hash="hash", context=context
    )
    found = {f.argument: f.value for f in RunFeatures.of(run.run()).before(9)[0] if f.kind == "skill"}
    assert found.pop("") == ""  # the skill itself, in whatever context
    if len(want) == 40:
        found.pop("context")
    assert found == want


def test_features_are_those_strictly_before_the_moment_each_at_its_first_event() -> None:
    run = (
        a_run(agent="bot")
        .select("walk")
        .call("find", ok=True, town="Bern")
        .call("find", ok=False, town="Bern")
    )
    seen = RunFeatures.of(run.call("pay", town="Bern").run())
    bot = Feature("agent", "", "agent", "bot")
    walk = {Feature("skill", "walk", "", ""), Feature("skill", "walk", "context", "ctx")}
    find, pay = Feature("argument", "find", "town", "Bern"), Feature("argument", "pay", "town", "Bern")
    assert seen.before(0) == ({bot}, {""})
    assert seen.before(1) == ({bot}, {""})
    assert seen.before(2) == ({bot, *walk}, {"", "skills"})
    assert seen.before(6) == ({bot, *walk, find}, {"", "skills", "tool find"})
    assert seen.before(7) == ({bot, *walk, find, pay}, {"", "skills", "tool find", "tool pay"})
    assert [seen.at(one) for one in (bot, *walk, find, pay, Feature("agent", "", "agent", "else"))] == [
        -1,
        1,
        1,
        2,
        6,
        -1,
    ]


def closed(run: RunBuilder) -> RunBuilder:
    return run.call("pay").observe("Error: bank closed", ok=False)


def test_an_error_counts_until_the_tool_next_works() -> None:
    error = Feature("error", "pay", "", "bank closed")
    seen = RunFeatures.of(closed(a_run()).call("find", ok=True).call("pay", ok=True).run())
    assert [error in seen.before(moment)[0] for moment in (1, 2, 4, 5, 6)] == [False, True, True, True, False]
    assert seen.at(error) == 1
    never = RunFeatures.of(closed(a_run()).run())
    assert error in never.before(1_000)[0]


def test_a_run_is_read_for_its_first_two_thousand_calls() -> None:
    run = a_run()
    for number in range(2_001):
        run.call("count", number=number)
    assert {f.value for f in RunFeatures.of(run.run()).before(9_999)[0] if f.tool} == set(
        map(str, range(2_000))
    )


def test_a_tool_is_absent_where_more_than_half_of_the_usual_runs_called_it() -> None:
    usual = [
        (set[Feature](), {"", "skills", *tools})
        for tools in (["tool a", "tool b"], ["tool a"], ["tool b"], ["tool a"])
    ]
    runs = {"without": (set[Feature](), {"", "tool c"}), "with": (set[Feature](), {"tool a"})}
    assert with_absent(runs, usual) == {
        "without": ({Feature("absent", "a", "", "")}, {"", "tool c"}),
        "with": (set(), {"tool a"}),
    }


ERRORS: dict[str, tuple[Any, str]] = {
    "leading words": ("Error: ERROR - bank closed", "bank closed"),
    "numbers, addresses and quotes": (
        'code 12 of a@b.ch at http://x: "y" is closed',
        "code … of … at … is closed",
    ),
    "the message inside": ({"status": 4, "error": {"detail": "", "message": "bank closed"}}, "bank closed"),
    "as a text of JSON": (' {"msg": "bank closed"}', "bank closed"),
    "JSON inside JSON, to the third": ('{"error": "{\\"error\\": {\\"error\\": \\"{}\\"}}"}', "{}"),
    "cut JSON is text": ('{"error": "bank', '{ … : "bank'),
    "two hundred letters": ("x " * 150, ("x " * 100).strip()),
    "fields without a message": ({"status": 4}, "{ … }"),
    "nothing": (None, ""),
}


@pytest.mark.parametrize("desc", ERRORS)
def test_the_words_of_an_error_are_those_its_calls_share(desc: str) -> None:
    content, want = ERRORS[desc]
    assert stripped_error(content) == want
