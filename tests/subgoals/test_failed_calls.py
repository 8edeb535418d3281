"""A sub-goal that was not completed is explained by the tool's own words first, then by the wrong fields."""

from __future__ import annotations

from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.scoring import NodeScore, score_run

PAID = {"id": "pay", "check": {"expr": "state.paid"}, "rules": [{"tool": "pay_refund"}]}


def paid(run: RunBuilder, **sub_goal: Any) -> NodeScore:
    return score_run(run.finish(False).run(), a_graph(PAID | sub_goal)).node("pay")


def refused(run: RunBuilder, text: str = "settlement window closed", **arguments: Any) -> RunBuilder:
    run.call("pay_refund", **arguments)
    return run.observe(text, ok=False, call_id=run.events[-1].call_id)  # type: ignore[union-attr]


def test_the_reason_quotes_the_last_failed_call_before_the_fields_that_were_wrong() -> None:
    node = paid(refused(a_run(), currency="CHF").state(paid=False))
    assert node.reason == (
        'pay_refund failed: “settlement window closed” (event 1, currency "CHF"); '
        "the final state does not meet its check: paid: false, expected true"
    )
    assert {1, 2} <= set(node.evidence)


def test_only_the_arguments_that_no_successful_call_had_are_named() -> None:
    run = a_run().call("pay_refund", currency="EUR", to="card", ok=True).state(paid=False)
    node = paid(refused(run, currency="CHF", to="card"))
    assert '(event 4, currency "CHF");' in node.reason


def test_a_recovered_error_is_not_quoted() -> None:
    run = refused(a_run(), currency="CHF").call("pay_refund", currency="EUR", ok=True).state(paid=False)
    assert "failed" not in paid(run).reason


def test_the_last_of_several_errors_is_quoted() -> None:
    run = refused(refused(a_run(), "too early"), "too late").state(paid=False)
    assert paid(run).reason.startswith("pay_refund failed: “too late” (event 3)")


def test_an_error_is_cut_and_on_one_line() -> None:
    reason = paid(refused(a_run(), "a\nb" + "x" * 900).state(paid=False)).reason
    quoted = reason[reason.index("“") + 1 : reason.index("”")]
    assert len(quoted) == 200
    assert "\n" not in reason


def test_of_an_expected_call_the_arguments_that_differ_are_named() -> None:
    check = {"tool_call": {"name": "pay_refund", "arguments": {"amount": 67, "to": "card"}}}
    node = paid(refused(a_run(), amount=78, to="card"), check=check, rules=[])
    assert node.reason.startswith("pay_refund failed: “settlement window closed” (event 1, amount 78); ")
    node = paid(refused(a_run(), amount=67, to="card"), check=check, rules=[])
    assert "(event 1); pay_refund was called as expected, but its result is `ok: false`" in node.reason


def test_a_failed_call_of_another_sub_goal_is_not_quoted() -> None:
    node = paid(a_run().call("ping", ok=False).call("pay_refund", ok=True).state(paid=False))
    assert "ping" not in node.reason


def test_a_verdict_stands_after_the_tools_words() -> None:
    run = refused(a_run()).verdict("pay", False)
    assert paid(run, check={"verdict": True}).reason == (
        "pay_refund failed: “settlement window closed” (event 1); human:ann judged it not met"
    )


FIELDS: list[tuple[str, str, dict[str, Any], str]] = [
    ("a truth that is not set", "state.x || state.paid", {"other": 1}, ""),
    ("a truth", "state.paid", {"paid": False}, "paid: false, expected true"),
    ("a value", "state.amount == 67", {"amount": 78}, "amount: 78, expected 67"),
    ("an order", "state.order.total <= 5", {"order": {"total": 9}}, "order.total: 9, expected <= 5"),
    ("another field", "state.a == state.b", {"a": 1, "b": 2}, "a: 1, expected 2"),
    ("one of several", 'state.a == 1 && state.b == "x"', {"a": 1, "b": "y"}, 'b: "y", expected "x"'),
    ("a loop", "state.items.all(i, i.ok)", {"items": [{"ok": False}]}, "items: [(ok = false)]"),
    ("a choice", "state.a == 1 || state.b == 2", {"a": 0, "b": 0}, "a 0, b 0"),
    ("a method", 'state.answer.contains("yes")', {"answer": "no"}, 'answer: "no"'),
    ("one that is not set", "state.a == 1 && state.paid", {"a": 2}, "a: 2, expected 1; paid: not set"),
]


@pytest.mark.parametrize(("desc", "expression", "state", "want"), FIELDS, ids=[case[0] for case in FIELDS])
def test_an_expression_is_shown_by_the_fields_that_were_wrong(
    desc: str, expression: str, state: dict[str, Any], want: str
) -> None:
    reason = paid(a_run().call("pay_refund").state(**state), check={"expr": expression}).reason
    assert reason.endswith(f"the final state does not meet its check: {want}" if want else "")
    assert "state." not in reason.replace("final state", "") or not want
