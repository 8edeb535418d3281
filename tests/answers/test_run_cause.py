# One case a line, however long, reads best.
# ruff: noqa: E501
"""The first lines of a run: asked, expected, got, and one cause, the same in headline, queue and card."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.plans import GraphSet
from untaken.scoring import RunScore
from untaken.scoring.run_score import ScoreDetail
from untaken.views import review_items, review_order, review_queue, run_report
from untaken.views.briefing import run_brief
from untaken.views.first_page import read_next

GRAPH = a_graph(
    {"id": "look", "title": "Look up", "check": {"tool_call": {"name": "search", "arguments": {"q": 1}}}},
    {
        "id": "policy",
        "title": "Read the policy",
        "critical": True,
        "deps": ["look"],
        "check": {"tool_call": {"name": "read"}},
    },
    {"id": "pay", "title": "Pay", "deps": ["policy"], "check": {"tool_call": {"name": "refund"}}},
    tasks=["task"],
)
CASES = [
    # desc, run, headline, part of the detail, sub-goal
    ("what failed first, not what it held up", a_run().call("search", q=2).finish(False), "'Look up' attempted, not completed", "q is 2, expected 1", "look"),
    ("a critical one", a_run().call("search", q=1).finish(False), "'Read the policy' never attempted", "likely the agent's mistake: no call of read", "policy"),
    ("a success without it", a_run().call("search", q=1).call("refund").finish(True), "Succeeded without 'Read the policy'", "no call of read", "policy"),
    ("a failure with everything done", a_run().call("search", q=1).call("read").call("refund").finish(False, error="late"), "Failed although every sub-goal was completed", "error late", ""),
    ("nothing failed", a_run().call("search", q=1).call("read").call("refund").finish(True), "No sub-goal is known to have failed", "all 3 required", ""),
    ("ended from outside", a_run().call("search", q=1).finish(False, error="HTTP 503"), "No sub-goal is known to have failed", "ended the run, not the agent; error HTTP 503", ""),
    ("another task", a_run(task="other").finish(False), "No sub-goal score", "", ""),
    ("another task, which ended early", a_run(task="other").finish(False, limit="steps"), "Ended with limit steps", "no plan graph", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "run", "headline", "detail", "goal"), CASES, ids=[case[0] for case in CASES]
)
def test_queue_and_page_name_the_same_cause(desc, run, headline, detail, goal) -> None:
    corpus = evaluate_corpus([run.run()], GraphSet.of([GRAPH]), resamples=50)
    (item,) = review_queue(corpus)
    assert (item.cause.headline, item.cause.sub_goal) == (headline, goal)
    assert detail in item.cause.detail
    assert item.why == item.cause.in_words
    assert run_report(corpus, item.digest).cause == item.cause


def test_what_is_unscored_is_not_taken_for_nothing_done() -> None:
    runs = [
        a_run("outside", task="task").finish(False, error="HTTP 503").run(),
        a_run("late", task="task").call("search", q=1).call("read").finish(False).run(),
    ]
    order = review_order(evaluate_corpus(runs, GraphSet.of([GRAPH]), resamples=50))
    assert [(one.run_id, one.weight) for one in order] == [("late", pytest.approx(1 / 3)), ("outside", 0.0)]


def _looked_into(corpus: Corpus) -> int:
    scores = (score for score in corpus.scores.values() if isinstance(score, RunScore))
    return sum(isinstance(score.detail.held, ScoreDetail) for score in scores)


def test_runs_that_went_wrong_differently_are_read_next_and_hidden_ones_first() -> None:
    runs = [a_run(run_id=f"r{n}").call("search", q=n + 2).finish(False).run() for n in range(5)]
    runs += [CASES[2][1].run(), CASES[3][1].run(), CASES[4][1].run()]
    corpus = evaluate_corpus(runs, GraphSet.of([GRAPH]), resamples=50)
    assert _looked_into(corpus) == 0

    shown = read_next(corpus, review_order(corpus))
    assert shown.count == 7
    assert [item.kind for item in shown.items][:2] in (["lucky", "unlucky"], ["unlucky", "lucky"])
    assert len({(item.kind, item.cause.sub_goal) for item in shown.items}) == len(shown.items) == 3
    assert review_items(corpus, review_order(corpus)) == review_queue(corpus)


PLAN = a_graph(
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
    found = run_brief(run.finish(False).run(), PLAN)
    assert (found.asked, found.target, found.got) == (asked, target, got), desc


def test_a_plan_is_expected_by_its_critical_and_its_last_sub_goals_and_an_error_came_out() -> None:
    assert run_brief(a_run("r").finish().run(), PLAN).plan == "★ Check the policy · Pay"
    failed = run_brief(a_run("r").finish(False, error="out of tokens").run(), None)
    assert (failed.plan, failed.ended) == ("", "error: out of tokens")


@pytest.mark.parametrize(
    ("check", "run", "asked"),
    [
        ({"expr": "state.paid && state.sum > 0 && state.sum == state.due"}, a_run().state(due=67), "sum: 67"),
        ({"expr": "'gold' == state.card.level"}, a_run(), "card.level: 'gold'"),
        ({"expr": "state.sum == state.due"}, a_run(), ""),
        ({"expr": "state.ok == true && size(state.items) == 2"}, a_run(), ""),
        ({"expr": "state.sum == 1 || state.sum == 2"}, a_run(), ""),
        ({"tool_call": {"name": "pay", "arguments": {"to": "card", "sum": 67}}}, a_run(), 'to: "card", sum: 67'),
        (
            {"tool_call": {"name": "pay", "arguments": {"to": "card", "no": 1, "sum": 67}}},
            a_run().call("pay", to="card", no=1, sum=78).call("ask", sum=67),
            'sum: 67, to: "card"',
        ),
        ({"tool_call": {"name": "pay", "arguments": {"to": {"glob": "c*"}}}}, a_run(), ""),
        ({"verdict": True}, a_run(), ""),
    ],
)  # fmt: skip
def test_a_sub_goal_is_expected_with_the_values_that_its_check_asks_for_those_amiss_first(
    check, run, asked
) -> None:
    plan = run_brief(run.finish(False).run(), a_graph({"id": "pay", "title": "Pay", "check": check})).plan
    assert plan == ("Pay" if not asked else f"Pay ({asked})")
