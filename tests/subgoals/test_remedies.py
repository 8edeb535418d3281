"""The remedy of a run is for what failed first; where none fits, there is none."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_graph, a_run, ready

from untaken.scoring import score_run


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
        "Fix the tool call, or the reasoning before it: 'intent' was not completed.",
    ),
    (
        "the skipped critical step came first",
        did("intent").call("refund").state(refund=True),
        "violation",
        "Require 'policy' before the agent can reach 'refund'.",
    ),
    (
        "a message judged not met has no remedy",
        a_run().say("You want a refund").call("refund").state(refund=True).verdict("intent", False),
        "violation",
        "",
    ),
]


@pytest.mark.parametrize(("desc", "run", "want", "advice"), FIRST, ids=[case[0] for case in FIRST])
def test_the_remedy_is_for_what_failed_first(desc, run, want, advice) -> None:
    intent = ready("intent", rules=[{"tool": "intent"}, {"text": "*refund*"}])
    if not advice:
        intent["check"] = {"verdict": True}
    graph = a_graph(intent, ready("policy", critical=True), ready("refund", "intent", "policy"))
    score = score_run(run.finish().run(), graph)
    assert (score.diagnosis, score.diagnosis_advice) == (want, advice)


def test_a_skipped_sub_goal_comes_before_what_went_past_it() -> None:
    graph = a_graph(ready("a"), ready("b", "a"), ready("c", "b"), ready("x"), ready("y"))
    score = score_run(did("a", "c", failed=("x", "y")).finish().run(), graph)
    assert score.diagnosis == "inside"
    assert score.diagnosis_advice == "Fix the planner or its tool descriptions: 'b' was never attempted."
