"""Criteria computed from the ledger: what each measures, in which value it ends, and when there is none."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.judging.criteria import LEDGER_CRITERIA, CriteriaSet, Criterion, quantify

PLAN = a_graph(
    {"id": "look", "check": {"tool_call": {"name": "look"}}},
    {"id": "take", "deps": ["look"], "critical": True, "check": {"tool_call": {"name": "take"}}},
)


def done(run: RunBuilder) -> RunBuilder:
    """Both sub-goals, by one action each."""
    return run.call("look", "look", ok=True, at=1).call("take", "take", ok=True)


CASES: list[dict[str, Any]] = [
    {"name": "Step efficiency", "run": done(a_run()).finish(), "want": "shortest path"},
    {"name": "Step efficiency", "run": done(a_run()).call("x", ok=True).finish(), "want": "half or more"},
    {"name": "Step efficiency", "run": a_run().call("x", ok=True).finish(), "want": "under a quarter"},
    {"name": "Step efficiency", "run": a_run().finish(), "want": None},
    {"name": "Repeated actions", "run": done(a_run()).finish(), "want": "none"},
    {"name": "Repeated actions", "run": a_run().call("x", a=1).call("x", a=1).finish(), "want": "up to half"},
    {"name": "Repeated actions", "run": a_run().call("x", a=1).call("x", a=2).finish(), "want": "none"},
    {"name": "Repeated actions", "run": a_run().call("x", ok=False).call("x", ok=True).finish(), "want": "none"},
    {"name": "Repeated actions", "run": a_run().call("x").state(a=1).call("x").finish(), "want": "none"},
    {"name": "Repeated actions", "run": a_run().call("x", by="user").finish(), "want": None},
    {"name": "Failed actions", "run": done(a_run()).finish(), "want": "none"},
    {"name": "Failed actions", "run": done(a_run()).call("x", ok=False).finish(), "want": "up to half"},
    {"name": "Failed actions", "run": a_run().call("x", ok=False).finish(), "want": "over half"},
    {"name": "Failed actions", "run": a_run().call("x").finish(), "want": None},
    {"name": "Response to feedback", "run": done(a_run()).finish(), "want": None},
    {"name": "Response to feedback", "run": a_run().call("x", ok=False).call("x", ok=False).call("y").finish(), "want": "half or more"},
    {"name": "Recovery", "run": a_run().call("x", ok=False).call("y", ok=True).finish(), "want": "none"},
    {"name": "Recovery", "run": a_run().call("x", ok=False, a=1).call("x", ok=True).finish(), "want": "all"},
    {"name": "Recovery", "run": a_run().call("peek", "look", ok=False).call("look", "look", ok=True).finish(), "want": "all"},
    {"name": "Plan completion", "run": done(a_run()).finish(), "want": "all"},
    {"name": "Plan completion", "run": a_run().call("look", "look").finish(), "want": "half or more"},
    {"name": "Plan completion", "run": a_run().call("x").finish(), "want": "none"},
    {"name": "Plan order", "run": done(a_run()).finish(), "want": "in order"},
    {"name": "Plan order", "run": a_run().call("take", "take", ok=True).call("look", "look", ok=True).finish(), "want": "out of order"},
    {"name": "Plan order", "run": a_run().finish(), "want": None},
    {"name": "Termination", "run": done(a_run()), "want": "never ended"},
    {"name": "Termination", "run": done(a_run()).finish(limit="steps"), "want": "stopped from outside"},
    {"name": "Termination", "run": a_run().call("look", "look").finish(), "want": "too early"},
    {"name": "Termination", "run": done(a_run()).call("x").finish(), "want": "too late"},
    {"name": "Termination", "run": done(a_run()).call("LAST", "LAST").finish(), "want": "too late"},
    {"name": "Termination", "run": done(a_run()).finish(), "want": "in time"},
    {"name": "Outcome support", "run": done(a_run()).finish(success=True), "want": "supported"},
    {"name": "Outcome support", "run": done(a_run()).finish(success=False), "want": "failure unsupported"},
    {"name": "Outcome support", "run": a_run().call("x").finish(success=True), "want": "success unsupported"},
    {"name": "Outcome support", "run": a_run().call("x").finish(success=False), "want": "supported"},
    {"name": "Outcome support", "run": done(a_run()).finish(success=None), "want": None}
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['name']}: {case['want']}")
def test_a_run_gets_the_value_that_its_ledger_shows(case: dict[str, Any]) -> None:
    (found,) = quantify([case["run"].run()], graphs=[PLAN])
    (item,) = found.items
    value = item.values.get(case["name"])
    assert (value.text if value else None) == case["want"]
    assert bool(item.unscored.get(case["name"])) == (case["want"] is None)


def test_every_criterion_is_tried_with_a_value_and_without() -> None:
    tried = {case["name"] for case in CASES if case["want"]}
    assert tried == {one.criterion.name for one in LEDGER_CRITERIA}


def test_without_a_plan_what_needs_one_is_unscored_and_the_rest_is_not() -> None:
    (found,) = quantify([done(a_run()).finish().run()])
    (item,) = found.items
    assert set(item.values) == {"Repeated actions", "Failed actions"}
    assert "no plan graph" in item.unscored["Plan completion"]
    assert set(item.values) | set(item.unscored) == {c.name for c in found.criteria}


def test_a_plan_decided_by_the_outcome_says_nothing_about_the_outcome() -> None:
    plan = a_graph({"id": "all", "check": {"outcome": True}})
    (found,) = quantify([a_run().call("x", "all").finish().run()], graphs=[plan])
    assert "Outcome support" in found.items[0].unscored


def test_a_criterion_that_the_ledger_does_not_answer_is_unscored_with_the_next_step() -> None:
    own = Criterion(name="Clarity", accepted_values=["bad", "good"])
    other = Criterion(name="Termination", accepted_values=["bad", "good"])
    rejected = Criterion(name="Recovery", accepted_values=["bad", "good"], status="rejected")
    wanted = CriteriaSet(id="mine", criteria=[own, other, rejected])
    (found,) = quantify([done(a_run()).finish().run()], graphs=[PLAN], criteria=wanted)
    assert set(found.items[0].unscored) == {"Clarity", "Termination"}
    assert all("use a model" in why for why in found.items[0].unscored.values())


def test_a_long_run_is_measured_in_linear_time() -> None:
    """Failures that nothing makes good, repeats with changes between, and a plan that is done at last."""

    def seconds(rounds: int) -> float:
        run = a_run()
        for number in range(rounds):
            run.call("x", ok=False, n=number).state(a=number).call("y", ok=True)
        whole = done(run).finish().run()
        begun = process_time()
        quantify([whole], graphs=[PLAN])
        return process_time() - begun

    few, many = seconds(500), seconds(5_000)
    assert many < 30 * max(few, 0.01)
