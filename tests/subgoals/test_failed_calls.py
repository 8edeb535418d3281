"""A sub-goal that was not completed is explained by the tool's own words first, then by the wrong fields."""

from __future__ import annotations

from typing import Any

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
