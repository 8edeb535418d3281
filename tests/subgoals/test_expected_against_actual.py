# One case a line, however long, reads best.
# ruff: noqa: E501
"""What a failed check expected and what the run holds instead; which is likelier wrong, agent or mapping."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_graph, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.ledger.events import ToolCall
from untaken.plans import call_matches
from untaken.plans.plan_graph import ToolCallSpec
from untaken.scoring import NodeScore, score_run
from untaken.scoring.differences import (
    ABSENT,
    VALUE_CHARS,
    argument_differences,
    fields_in_words,
    nearest_call,
    state_differences,
)


def node(sub_goal: dict, run: RunBuilder, *others: dict) -> NodeScore:
    return score_run(run.run(), a_graph({"id": "x"} | sub_goal, *others)).node("x")


def unmet(found) -> list[tuple[str, str, str]]:
    return [(one.field, one.expected, one.actual) for one in found if not one.met]


STATES = [
    # desc, expression, state, unmet (field, expected, actual)
    ("equal to a literal", 'state.decision == "deny"', {"decision": "refund"}, [("state.decision", '"deny"', '"refund"')]),
    ("the literal first", '"deny" == state.decision', {"decision": "refund"}, [("state.decision", '"deny"', '"refund"')]),
    ("the literal first, an order", "3 < state.n", {"n": 2}, [("state.n", "> 3", "2")]),
    ("equal to another field", "state.decision == state.expected", {"decision": "a", "expected": "b"}, [("state.decision", '"b" (state.expected)', '"a"')]),
    ("a nested field", "state.order.total <= 5", {"order": {"total": 9}}, [("state.order.total", "<= 5", "9")]),
    ("one part of several", "state.a == 1 && state.b == 2", {"a": 1, "b": 3}, [("state.b", "2", "3")]),
    ("a field that may be absent", "state.a == 1 && state.b == 2", {"a": 0}, [("state.a", "1", "0"), ("state.b", "2", ABSENT)]),
    ("a truth", "state.done", {"done": False}, [("state.done", "true", "false")]),
    ("a negated truth", "!state.failed", {"failed": True}, [("state.failed", "false", "true")]),
    ("a negated truth beside another", "state.ok && !state.failed", {"ok": True, "failed": True}, [("state.failed", "false", "true")]),
    ("a membership", 'state.status in ["a", "b"]', {"status": "c"}, [("state.status", 'in ["a", "b"]', '"c"')]),
    ("a loop", "state.items.all(i, i.ok && i.n > 0)", {"items": [{"ok": False, "n": 1}]}, [("state.items", "state.items.all(i, i.ok && i.n > 0)", '[(n = 1, ok = false)]')]),
    ("a choice stays whole", "state.a == 1 || state.b == 2", {"a": 0, "b": 0}, [("state.a, state.b", "state.a == 1 || state.b == 2", "state.a 0, state.b 0")]),
    ("a method", 'state.answer.contains("yes")', {"answer": "no"}, [("state.answer", 'state.answer.contains("yes")', '"no"')]),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "expression", "state", "want"), STATES, ids=[case[0] for case in STATES])
def test_a_false_expression_names_the_fields_that_make_it_false(desc, expression, state, want) -> None:
    assert unmet(state_differences(expression, state)) == want


@pytest.mark.parametrize(("limit", "said"), [(2, "2"), ("b (c", '"b (c"')])
def test_words_name_an_expected_value_and_not_where_it_is_from(limit, said) -> None:
    found = state_differences("state.n == state.limit", {"n": 3, "limit": limit})
    assert fields_in_words(found) == f"n: 3, expected {said}"


CALLS = [
    # desc, spec, arguments of the call, unmet
    ("another value", {"arguments": {"id": 8}}, {"id": 7}, [("id", "8", "7")]),
    ("a missing argument", {"arguments": {"id": 8}}, {}, [("id", "8", ABSENT)]),
    ("more than a subset is fine", {"arguments": {"id": 8}}, {"id": 7, "why": "x"}, [("id", "8", "7")]),
    ("more than exact is not", {"arguments": {"id": 8}, "match": "exact"}, {"id": 8, "why": "x"}, [("why", ABSENT, '"x"')]),
    ("inside a mapping", {"arguments": {"to": {"city": "Bonn", "zip": 1}}}, {"to": {"city": "Köln", "zip": 1}}, [("to.city", '"Bonn"', '"Köln"')]),
    ("inside a list", {"arguments": {"ids": [1, 2]}}, {"ids": [1, 3]}, [("ids.1", "2", "3")]),
    ("a list of another length", {"arguments": {"ids": [1, 2]}}, {"ids": [1]}, [("ids", "[1, 2]", "[1]")]),
    ("a number as text", {"arguments": {"id": 8}}, {"id": "8"}, [("id", "8", '"8"')]),
    ("a pattern", {"arguments": {"command": {"glob": "pytest*"}}}, {"command": "make"}, [("command", 'glob "pytest*"', '"make"')]),
    ("only the call's own keys", {"arguments": {"a": 1, "b": 2}, "match": "call_keys"}, {"a": 3}, [("a", "1", "3")]),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "spec", "arguments", "want"), CALLS, ids=[case[0] for case in CALLS])
def test_a_call_with_other_arguments_names_each(desc, spec, arguments, want) -> None:
    run = a_run().call("act", **arguments).finish()
    got = node({"check": {"tool_call": {"name": "act"} | spec}}, run)
    assert (got.status, unmet(got.differences), got.nearest) == ("attempted", want, 1)
    assert all(f"{field} is {actual}" in got.reason for field, _, actual in want)


def test_the_nearest_call_is_the_one_with_the_fewest_wrong_arguments_and_of_equals_the_last() -> None:
    run = a_run().call("act", a=1, b=0, c=0).call("act", a=1, b=2, c=0).call("act", a=1, b=2, c=9).call("act")
    got = node({"check": {"tool_call": {"name": "act", "arguments": {"a": 1, "b": 2, "c": 3}}}}, run.finish())
    assert got.nearest == 3
    assert [(one.field, one.met) for one in got.differences] == [("a", True), ("b", True), ("c", False)]
    assert "nearest: event 3" in got.reason


def test_a_call_that_sets_another_value_is_nearer_than_one_that_sets_none() -> None:
    got = node(
        {"check": {"tool_call": {"name": "act", "arguments": {"a": 1}}}},
        a_run().call("act", a=2).call("act").finish(),
    )
    assert got.nearest == 1


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)
ARGUMENTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)


@given(
    expected=ARGUMENTS,
    calls=st.lists(ARGUMENTS, min_size=1, max_size=4),
    match=st.sampled_from(("exact", "subset", "call_keys")),
)
def test_a_call_fits_exactly_where_nothing_differs_and_a_fitting_call_is_the_nearest(
    expected, calls, match
) -> None:
    spec = ToolCallSpec(name="act", arguments={k: {"literal": v} for k, v in expected.items()}, match=match)
    builder = a_run()
    for arguments in calls:
        builder.add(ToolCall, call_id="c", tool="act", arguments=arguments)
    made = builder.run().actions
    fits = [call_matches(spec, call) for call in made]
    assert [all(one.met for one in argument_differences(spec, call)) for call in made] == fits
    nearest = nearest_call(spec, made)
    assert call_matches(spec, nearest[0]) == any(fits)


OTHERS = [
    # desc, sub-goal, run, unmet
    ("answer that says it failed", {"check": {"tool_call": {"name": "act"}}}, a_run().call("act", ok=False).finish(), [("result.ok", "true", "false")]),
    ("answer that says something else", {"check": {"tool_call": {"name": "act", "answer": {"contains": " passed"}}}}, a_run().call("act").observe("1 failed", ok=True).finish(), [("result", 'contains " passed"', '"1 failed"')]),
    ("outcome", {"check": {"outcome": True}}, a_run().finish(False, error="boom"), [("outcome", "success", 'failure: "boom"')]),
    ("verdict", {"check": {"verdict": True}}, a_run().finish().verdict("x", False), [("verdict of human:ann", "met", "not met")]),
    ("state", {"check": {"expr": "state.n == 1", "on": "step"}, "rules": [{"tool": "act"}]}, a_run().call("act").state(n=3).call("b").state(n=4).finish(), [("state.n", "1", "4")]),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "sub_goal", "run", "want"), OTHERS, ids=[case[0] for case in OTHERS])
def test_every_kind_of_check_says_what_it_expected(desc, sub_goal, run, want) -> None:
    assert unmet(node(sub_goal, run).differences) == want


def test_a_long_value_is_cut_and_nothing_of_it_is_lost_to_the_ledger() -> None:
    run = a_run().call("act", q="y" * 10_000).finish()
    got = node({"check": {"tool_call": {"name": "act", "arguments": {"q": "x" * 10_000}}}}, run)
    assert all(len(text) <= VALUE_CHARS for one in got.differences for text in (one.expected, one.actual))
    assert len(got.reason) < 300


def test_of_many_arguments_the_first_two_dozen_are_compared() -> None:
    expected = {f"a{n:02}": n for n in range(30)}
    got = node({"check": {"tool_call": {"name": "act", "arguments": expected}}}, a_run().call("act").finish())
    assert [one.field for one in got.differences] == list(expected)[:24]


LOOK = {"id": "look", "rules": [{"tool": "search"}]}
MISSED = [
    # desc, sub-goal, run, likelier cause, words in the reason
    ("never called, all else is mapped", {"check": {"tool_call": {"name": "refund"}}}, a_run().call("search").finish(), "agent", "no call of refund; its only call serves another sub-goal"),
    ("never called, others serve nothing", {"check": {"tool_call": {"name": "refund"}}}, a_run().call("ping").call("search").finish(), "agent", "; 1 of its 2 calls serves no sub-goal"),
    ("never called, others are mapped", {"check": {"tool_call": {"name": "refund"}}}, a_run().call("search").call("search").finish(), "agent", "; all its calls serve other sub-goals"),
    ("never called, two others serve nothing", {"check": {"tool_call": {"name": "refund"}}}, a_run().call("ping").call("ping").finish(), "agent", "; 2 of its 2 calls serve no sub-goal"),
    ("a name that is nearly the graph's", {"rules": [{"tool": "read_policy"}]}, a_run().call("readPolicy").finish(), "mapping", "readPolicy (event 1) serves no sub-goal"),
    ("a near name that another sub-goal claims", {"rules": [{"tool": "search2"}]}, a_run().call("search").finish(), "agent", "no call of search2"),
    ("a call that says what the pattern spells out", {"rules": [{"tool": "Bash", "arguments": {"command": {"glob": "pytest*"}}}]}, a_run().call("Bash", command="python -m pytest -q").finish(), "mapping", 'event 1 says "pytest" in command'),
    ("a call of its tool that another sub-goal's rule claims", {"check": {"tool_call": {"name": "search", "arguments": {"q": 1}}}}, a_run().call("search", q=2).finish(), "agent", "search was called once, never with the expected arguments: q is 2, expected 1"),
    ("a shell that did other things", {"rules": [{"tool": "Bash", "arguments": {"command": {"glob": "pytest*"}}}]}, a_run().call("Bash", command="ls").finish(), "agent", "no call of Bash with"),
    ("a call that another rule claims first", {"rules": [{"tool": "sear*"}]}, a_run().call("search").finish(), "mapping", "is mapped to 'look' first"),
    ("no message like it", {"rules": [{"text": "*sorry*"}]}, a_run().say("hello").finish(), "agent", 'no message like "*sorry*"'),
    ("the user's call is not the agent's", {"rules": [{"tool": "read_policy"}]}, a_run().call("search").call("readPolicy", by="user").finish(), "agent", "no call of read_policy"),
    ("its own tool with another argument", {"rules": [{"tool": "read_policy", "arguments": {"id": 1}}]}, a_run().call("read_policy", id=2).call("ping").finish(), "agent", "no call of read_policy"),
    ("at most three actions are named", {"rules": [{"tool": tool} for tool in ("one", "two", "three", "four")]}, a_run().call("ping").finish(), "agent", "no call of one or call of two or call of three; its only call serves no sub-goal"),
    ("four letters of a pattern are enough", {"rules": [{"tool": "Bash", "arguments": {"command": {"glob": "make*"}}}]}, a_run().call("Bash", command="sudo make").finish(), "mapping", 'says "make" in command'),
    ("three are not", {"rules": [{"tool": "Bash", "arguments": {"command": {"glob": "mak*"}}}]}, a_run().call("Bash", command="sudo make").finish(), "agent", "no call of Bash with"),
    ("the last letters that are read", {"rules": [{"tool": "Bash", "arguments": {"command": {"glob": "make*"}}}]}, a_run().call("Bash", command=f"{'x' * 19_996}make").finish(), "mapping", 'says "make" in command'),
    ("a letter further", {"rules": [{"tool": "Bash", "arguments": {"command": {"glob": "make*"}}}]}, a_run().call("Bash", command=f"{'x' * 19_997}make").finish(), "agent", "no call of Bash with"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "sub_goal", "run", "cause", "words"), MISSED, ids=[case[0] for case in MISSED]
)
def test_a_sub_goal_without_action_says_whether_agent_or_mapping_is_likelier_at_fault(
    desc, sub_goal, run, cause, words
) -> None:
    got = score_run(run.run(), a_graph(LOOK, {"id": "x"} | sub_goal)).node("x")
    assert (got.status, got.missed) == ("skipped", cause)
    likely = {"agent": "the agent's mistake", "mapping": "a gap in the mapping"}[cause]
    assert got.reason.startswith(f"never attempted, likely {likely}: ")
    assert words in got.reason
