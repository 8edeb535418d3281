"""The first lines of a run's page: asked, expected, got, as far as the record says it."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.views.briefing import run_brief

GRAPH = a_graph(
    {"id": "find", "title": "Find it"},
    {"id": "policy", "title": "Check the policy", "critical": True, "deps": ["find"]},
    {"id": "pay", "title": "Pay", "deps": ["policy"]},
)


def answered() -> RunBuilder:
    run = a_run("r", metadata={"input": "Is it safe?", "target": "Yes"}).say("Is it safe?", "user")
    return run.call("look").say("No")


@pytest.mark.parametrize(
    ("desc", "run", "asked", "target", "got"),
    [
        ("the recorded task and answer, and the last message", answered(), "Is it safe?", "Yes", "No"),
        (
            "an answer that was submitted by a call",
            answered().call("submit", answer="No"),
            "Is it safe?",
            "Yes",
            "submit(answer: No)",
        ),
        ("what the user said first", a_run("r").say("Please refund me", "user"), "Please refund me", "", ""),
        (
            "the last of a team, whose members go by names",
            a_run("r")
            .say("Find it", "human")
            .say("Here", "Web_Expert")
            .say("Done", "Writer")
            .say("x", "tool"),
            "Find it",
            "",
            "Done",
        ),
        ("nothing", a_run("r"), "", "", ""),
    ],
)
def test_the_three_answers_are_read_off_the_record(desc, run, asked, target, got) -> None:
    found = run_brief(run.finish(False).run(), GRAPH)
    assert (found.asked, found.target, found.got) == (asked, target, got), desc


def test_a_plan_is_expected_by_its_critical_and_its_last_sub_goals_and_an_error_came_out() -> None:
    assert run_brief(a_run("r").finish().run(), GRAPH).plan == "★ Check the policy · Pay"
    failed = run_brief(a_run("r").finish(False, error="out of tokens").run(), None)
    assert (failed.plan, failed.ended) == ("", "error: out of tokens")
