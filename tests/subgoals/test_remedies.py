# One case a line, however long, reads best.
# ruff: noqa: E501
"""The remedy of a run is for what failed first; a reason quotes the tool's own words before the wrong fields."""

from __future__ import annotations

from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run, ready

from untaken.scoring import NodeScore, score_run


def did(*done: str, failed: tuple[str, ...] = ()) -> RunBuilder:
    """A run that acted on each sub-goal, in order, and completed those in `done`."""
    run = a_run()
    for name in (*done, *failed):
        run.call(name).state(**{name: name in done})
    return run


FIRST: list[tuple[str, RunBuilder, str, str]] = [
    (
        "a critical step was skipped, but an earlier one failed first",
        did(failed=("intent",)).call("refund").state(refund=True),
        "violation",
        "Fix the tool call, or the reasoning before it: 'intent' was not completed."
    ),
    (
        "the skipped critical step came first",
        did("intent").call("refund").state(refund=True),
        "violation",
        "Require 'policy' before the agent can reach 'refund'."
    ),
    ("a message judged not met has no remedy", a_run().say("You want a refund").call("refund").state(refund=True).verdict("intent", False), "violation", "")
]  # fmt: skip


@pytest.mark.parametrize(("desc", "run", "want", "advice"), FIRST, ids=[case[0] for case in FIRST])
def test_the_remedy_is_for_what_failed_first(desc, run, want, advice) -> None:
    intent = ready("intent", rules=[{"tool": "intent"}, {"text": "*refund*"}])
    if not advice:
        intent["check"] = {"verdict": True}
    graph = a_graph(intent, ready("policy", critical=True), ready("refund", "intent", "policy"))
    score = score_run(run.finish().run(), graph)
    assert (score.diagnosis, score.diagnosis_advice) == (want, advice)


NAMES = [f"s{i}" for i in range(7)]
JUDGED = {"id": "judged", "check": {"verdict": True}}
WHY = [
    # desc, sub-goals, run, diagnosis, reason, advice
    ("names are five at most", [ready(name) for name in NAMES[1:]], did("s1"), "skipping", "5 of 6 required sub-goals not completed: 0 attempted without success, 5 never attempted", "Fix the planner or its tool descriptions: 's2', 's3', 's4', 's5', 's6' were never attempted."),
    ("more are counted", [ready(name) for name in NAMES], did(failed=tuple(NAMES)), "inside", "7 of 7 required sub-goals not completed: 7 attempted without success, 0 never attempted", "Fix the tool call, or the reasoning before it: 's0', 's1', 's2', 's3', 's4' and 2 more were not completed."),
    ("as many attempted as never attempted", [ready("a"), ready("b"), ready("c")], did("c", failed=("a",)), "inside", "2 of 3 required sub-goals not completed: 1 attempted without success, 1 never attempted", "Fix the tool call, or the reasoning before it: 'a' was not completed."),
    ("two critical sub-goals were passed", [ready("a", critical=True), ready("b", critical=True), ready("c", "a", "b")], did("c"), "violation", "'c' was completed although the critical 'a' was not completed; 1 more violation of a critical sub-goal", "Require 'a', 'b' before the agent can reach 'c'."),
    ("one critical sub-goal was passed", [ready("a", critical=True), ready("c", "a")], did("c"), "violation", "'c' was completed although the critical 'a' was not completed", "Require 'a' before the agent can reach 'c'."),
    ("most of what is missing may have been attempted", [ready("a"), ready("b"), JUDGED, JUDGED | {"id": "d"}], did("b", failed=("a",)).verdict("judged", False).verdict("d", False), "unscored", "3 of 4 required sub-goals not completed; attempts at 2 of them are unknown", ""),
    ("as many may have been attempted as were", [ready("a"), ready("b"), JUDGED], did("b", failed=("a",)).verdict("judged", False), "inside", "2 of 3 required sub-goals not completed: 1 attempted without success, 0 never attempted, 1 unknown", "Fix the tool call, or the reasoning before it: 'a' was not completed."),
    ("it saw a failure and kept its plan", [ready("a"), ready("b", "a"), ready("c", "b"), ready("d", "c")], a_run().plan("x").call("a", ok=False).state(a=True).call("b").state(b=False), "not_detecting_errors", "1 observation failed and the plan was not revised; 3 of 4 required sub-goals not completed: 1 attempted without success, 2 never attempted", "Add a self-check sub-goal between branches, or feed the tool response back into the planner before the next call: calls failed at 'a', before 'b'."),
    ("everything completed", [ready("a"), ready("b")], did("a", "b"), "clean", "all 2 required sub-goals completed", ""),
    ("what nobody judged is unscored", [ready("a"), JUDGED], did("a"), "clean", "all 1 scored sub-goals completed; 1 of 2 required are unscored", ""),
    ("an action went past two that it needs, and one of them is at fault first", [ready("a"), ready("b", "a"), ready("c", "b")], did("c"), "skipping", "2 of 3 required sub-goals not completed: 0 attempted without success, 2 never attempted", "Fix the planner or its tool descriptions: 'a', 'b' were never attempted."),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "nodes", "run", "want", "reason", "advice"), WHY, ids=[c[0] for c in WHY])
def test_a_diagnosis_says_how_many_and_what_to_change(desc, nodes, run, want, reason, advice) -> None:
    score = score_run(run.finish().run(), a_graph(*nodes), missing="drop")
    assert (score.diagnosis, score.diagnosis_reason, score.diagnosis_advice) == (want, reason, advice)


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
