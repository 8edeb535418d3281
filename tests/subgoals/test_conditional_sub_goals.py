"""Sub-goals that are required in some runs only, need no action, or expect a call more than once (§5)."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.errors import Unscored
from untaken.plans import PlanGraph
from untaken.scoring import RunScore, score_run

PAID = {"id": "paid", "check": {"expr": "state.paid"}, "rules": [{"tool": "pay"}]}


def score(run: RunBuilder, *sub_goals: dict[str, Any] | str) -> RunScore:
    return score_run(run.finish().run(), a_graph(*sub_goals))


CONDITIONS: list[tuple[str, dict[str, Any], RunBuilder, str]] = [
    ("it holds", {"when": "state.member"}, a_run().call("x").state(member=True), "skipped"),
    ("it does not hold", {"when": "state.member"}, a_run().call("x").state(member=False), "not_required"),
    ("a missing field", {"when": "state.member"}, a_run().call("x").state(other=True), "unscored"),
    ("no true or false", {"when": "state.member"}, a_run().call("x").state(member="yes"), "unscored"),
    ("it held for a while, but not at the end", {"when": "state.open"}, a_run().call("x").state(open=True).call("y").state(open=False), "not_required"),
    ("it held at some step", {"when": "state.open", "when_at": "step"}, a_run().call("x").state(open=True).call("y").state(open=False), "skipped"),
    ("it held between two calls, at no step's end", {"when": "state.open", "when_at": "step"}, a_run().call("x").state(open=True).state(open=False), "skipped"),
    (
        "it never held, and at first nobody could tell",
        {"when": "state.open", "when_at": "step"},
        a_run().call("x").state(other=1).state(open=False),
        "not_required"
    ),
    ("only the outcome tells", {"when": "state.done"}, a_run().call("x"), "unscored")
]  # fmt: skip


@pytest.mark.parametrize(("desc", "condition", "run", "want"), CONDITIONS, ids=[c[0] for c in CONDITIONS])
def test_a_condition_decides_whether_a_sub_goal_is_required(desc, condition, run, want) -> None:
    assert score(run, PAID | condition).node("paid").status == want


def test_what_is_not_required_is_in_no_rate_and_no_violation() -> None:
    check = {"id": "check", "critical": True, "check": {"verdict": True}, "rules": [{"tool": "check"}]}
    pay = PAID | {"deps": ["check"], "when": "state.owed"}
    ship = {"id": "ship", "check": {"tool_call": {"name": "ship"}}}
    got = score(
        a_run().call("pay").state(owed=False, paid=True).call("ship").verdict("check", False),
        check,
        pay,
        ship,
    )
    assert (got.required, got.completed, got.violations) == (2, 1, ())
    assert got.node("paid").reason == "not required: state.owed does not hold at the end"


def test_an_option_that_is_not_required_decides_nothing_about_its_group() -> None:
    options = [
        {"id": "card", "check": {"tool_call": {"name": "card"}}, "when": "state.card"},
        {"id": "cash", "check": {"tool_call": {"name": "cash"}}},
        {"id": "paid", "any_of": ["card", "cash"]},
    ]
    got = score(a_run().call("x").state(card=False), *options)
    assert {node.sub_goal: node.status for node in got.nodes} == {
        "card": "not_required",
        "cash": "not_required",
        "paid": "skipped",
    }


def test_attempts_at_an_option_that_is_not_required_need_not_be_known() -> None:
    options = [
        {"id": "card", "check": {"expr": "state.charged"}, "when": "state.card"},
        {"id": "cash", "check": {"tool_call": {"name": "cash"}}},
        {"id": "paid", "any_of": ["card", "cash"]},
    ]
    got = score(a_run().call("x").state(card=False), *options)
    assert got.node("paid").status == "skipped"
    assert got.node("paid").attempted is False


def test_a_group_without_a_required_option_is_not_required() -> None:
    options = [
        {"id": "card", "check": {"tool_call": {"name": "card"}}, "when": "state.card"},
        {"id": "paid", "any_of": ["card"]},
        {"id": "x", "check": {"tool_call": {"name": "x"}}, "deps": ["paid"]},
    ]
    got = score(a_run().call("x").state(card=False), *options)
    assert got.node("paid").status == "not_required"
    assert got.node("paid").reason == "not required: none of its options is"
    assert (got.required, got.completed_with_deps_all) == (1, 1)
    unknown = score(a_run().call("x"), *options)
    assert unknown.node("paid").status == "unscored"


def test_a_check_that_holds_without_an_action_is_never_the_agents_doing() -> None:
    got = score(
        a_run().call("x").state(paid=True),
        PAID | {"critical": True},
        {"id": "x", "deps": ["paid"], "check": {"tool_call": {"name": "x"}}},
    )
    node = got.node("paid")
    assert (node.status, node.missed, node.holds) == ("skipped", "plan", True)
    assert node.reason == "its check holds, but no mapped action was seen"
    assert got.diagnosis == "unscored"
    assert "never attempted" not in got.diagnosis_advice
    assert "Correct the plan" in got.diagnosis_advice


@pytest.mark.parametrize("rules", [[], [{"tool": "pay"}]], ids=["no rules", "rules"])
@pytest.mark.parametrize("on", ["final", "step"])
@pytest.mark.parametrize(("paid", "completed"), [(True, True), (False, False)])
def test_without_need_of_an_action_the_check_decides_alone(rules, on, paid, completed) -> None:
    sub_goal = {"id": "a", "rules": rules, "needs_action": False, "check": {"expr": "state.paid", "on": on}}
    got = score(a_run().call("x").state(paid=paid), sub_goal)
    assert (got.node("a").completed, got.completion) == (completed, float(completed))
    assert score(a_run().state(paid=paid), sub_goal).node("a").completed is completed


def search(times: int | None = None, name: str = "search", **fields: Any) -> dict[str, Any]:
    node = {"id": name, "check": {"tool_call": {"name": "search"}}, **fields}
    return node if times is None else node | {"times": times}


def calls(*ok: bool | None) -> RunBuilder:
    run = a_run()
    for answer in ok:
        run.call("search", ok=answer)
    return run


TIMES: list[tuple[str, list[dict[str, Any]], RunBuilder, list[str]]] = [
    ("two of two", [search(2)], calls(True, True), ["completed"]),
    ("one of two", [search(2)], calls(True), ["attempted"]),
    ("one of two failed", [search(2)], calls(True, False), ["attempted"]),
    ("two, one of them again", [search(2)], calls(True, False, True), ["completed"]),
    ("none of two", [search(2)], a_run().call("x"), ["skipped"]),
    ("unanswered calls count", [search(2)], calls(None, None), ["completed"]),
    ("one call serves several", [search(), search(name="again")], calls(True), ["completed", "completed"]),
    ("but not where both say how often", [search(1), search(1, "again")], calls(True), ["completed", "skipped"]),
    ("nor where one comes after the other", [search(), search(name="again", deps=["search"])], calls(True), ["completed", "skipped"]),
    (
        "the later one takes the second call, wherever it is in the plan",
        [search(1, "again", deps=["search"]), search(1)],
        calls(True),
        ["skipped", "completed"]
    ),
    ("unanswered or not", [search(), search(name="again", deps=["search"])], calls(None), ["completed", "skipped"]),
    (
        "unless the first one is not required",
        [search(when="state.twice"), search(name="again", deps=["search"])],
        calls(True).state(twice=False),
        ["not_required", "completed"]
    ),
    ("two calls serve two in a row", [search(), search(name="again", deps=["search"])], calls(True, True), ["completed", "completed"]),
    (
        "the failed call between them is the second one's attempt",
        [search(), search(name="again", deps=["search"])],
        calls(True, False),
        ["completed", "attempted"]
    )
]  # fmt: skip


@pytest.mark.parametrize(("desc", "nodes", "run", "want"), TIMES, ids=[case[0] for case in TIMES])
def test_a_call_expected_again_is_another_call(desc, nodes, run, want) -> None:
    assert [node.status for node in score(run, *nodes).nodes] == want


def test_too_few_calls_are_counted_in_the_reason() -> None:
    first = score(calls(True), search(3)).node("search")
    assert first.reason == "search was called as expected once; it must be called 3 times"
    graph: PlanGraph = a_graph(search(), search(name="again", deps=["search"]))
    again = score_run(calls(True).finish().run(), graph).node("again")
    assert "it must be called once after once for other sub-goals" in again.reason
    assert score(calls(True, True), search(2)).node("search").evidence == (1, 3)


def test_where_nothing_is_required_nothing_is_said_to_be_unscored() -> None:
    found = score(a_run().call("x").state(member=False), {"id": "paid", "when": "state.member"})
    assert found.completion == Unscored("no sub-goal is required")
    assert found.diagnosis_reason == "no sub-goal is required"
