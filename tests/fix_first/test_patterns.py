"""Failures that are alike over tasks with plan graphs of their own, and advice that contradicts itself."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.answers import triage_document
from untaken.answers.documents import entry
from untaken.answers.schemas import json_schema
from untaken.corpus import Corpus, evaluate_corpus
from untaken.fix_first import FailurePattern, FixFirst, Often, triage
from untaken.fix_first.listing import conflicts
from untaken.fix_first.patterns import subject_of
from untaken.plans import GraphSet, PlanGraph, SubGoal


def refund_graph(task: str) -> PlanGraph:
    """A plan of one task: look the order up, refund what that order cost."""
    refund = {"tool_call": {"name": "refund", "arguments": {"order": task, "cents": 100}}}
    return a_graph(
        {"id": "look", "check": {"tool_call": {"name": "look_up"}}},
        {"id": f"refund-{task}", "title": f"Refund '{task}'", "check": refund},
        graph_id=f"plan-{task}",
        tasks=[task],
    )


def a_refund(name: str, task: str, **arguments: Any) -> RunBuilder:
    run = a_run(name, agent="ann", task=task).call("look_up")
    return (run.call("refund", **arguments) if arguments else run).finish(False)


def corpus_of(runs: list[RunBuilder], tasks: str) -> Corpus:
    graphs = GraphSet.of([refund_graph(task) for task in tasks.split()])
    return evaluate_corpus([run.run() for run in runs], graphs, resamples=0)


def test_sub_goals_of_many_plans_that_fail_alike_are_one_pattern_with_counts() -> None:
    runs = [
        a_refund("r1", "A", order="A", cents=90),
        a_refund("r2", "B", order="B", cents=80),
        a_refund("r3", "C", order="X", cents=100),
        a_refund("r4", "A"),
        a_refund("r5", "B"),
    ]
    corpus = corpus_of(runs, "A B C")
    found = triage(corpus)
    patterns = {one.way: one for one in found.patterns}
    assert patterns.keys() == {"attempted without success", "never attempted"}
    wrong, never = patterns["attempted without success"], patterns["never attempted"]
    assert (wrong.subject, wrong.often.count, wrong.tasks, wrong.sub_goals) == ("refund", 3, 3, 3)
    assert wrong.arguments == {"cents": 2, "order": 1}
    assert (never.often.count, never.tasks, never.sub_goals) == (2, 2, 2)
    assert never.reason == (
        "refund fails first in 2 of 5 scored runs (never attempted), over 2 tasks and 2 sub-goals"
    )
    assert wrong.gain == pytest.approx(3 / 5 * 1 / 2)  # half of the sub-goals of each of three runs
    assert {
        corpus.runs[digest].task_id: goal for digest, goal in zip(wrong.runs, wrong.goals, strict=True)
    } == {task: f"refund-{task}" for task in "ABC"}
    document = entry(triage_document(found, corpus.runs, missing="fail"))
    jsonschema.validate(document, json_schema("triage"))


def test_one_task_alone_makes_no_pattern() -> None:
    runs = [a_refund("r1", "A"), a_refund("r2", "A"), a_refund("r3", "B", order="B", cents=100)]
    assert triage(corpus_of(runs, "A B")).patterns == ()


@pytest.mark.parametrize(
    ("node", "want"),
    [
        ({"check": {"tool_call": {"name": "refund"}}, "rules": [{"tool": "search"}]}, "refund"),
        ({"rules": [{"tool": "search"}]}, "search"),
        ({"rules": [{"tool": "search"}, {"tool": "find"}], "title": "Find it"}, "Find it"),
        ({"title": "Cancel 'W123' for user_77"}, "Cancel … for …"),
        ({"title": "The 'iris' data is loaded in `a.py`."}, "The … data is loaded in …"),
        (
            {"title": "test_cifar10_exists"},
            "Test_cifar10_exists",
        ),  # else it goes with every title in one word
        ({"title": ""}, "Goal"),
        ({"check": {"expr": "true"}, "rules": [{"tool": "search"}], "title": "Final state"}, "Final state"),
    ],
)
def test_what_a_sub_goal_is_about(node: dict[str, Any], want: str) -> None:
    (goal,) = a_graph({"id": "goal"} | node).sub_goals
    assert isinstance(goal, SubGoal)
    assert subject_of(goal) == want


def an_item(**more: Any) -> FixFirst:
    often = Often(count=1, n=2, low=0.0, high=1.0)
    figures = {"often": often, "required": 2, "much": 0.5, "gain": 0.25, "low": 0.0, "high": 0.5}
    return FixFirst(**{"reason": "", "runs": (), "agents": {}, "unit": "score", **figures, **more})


@pytest.mark.parametrize(
    ("selected", "alternative", "flagged"),
    [("refund", "look_up", True), ("look_up", "refund", False), ("refund", "refund", False)],
)
def test_advice_against_a_tool_that_a_sub_goal_needs_is_flagged_with_its_context(
    selected: str, alternative: str, flagged: bool
) -> None:
    corpus = corpus_of([a_refund("r1", "A")], "A")
    goal = an_item(kind="sub_goal", digest="g", graph="plan-A", sub_goal="refund-A", title="Refund 'A'")
    choice = {"selected": selected, "alternative": alternative, "context": "step=pay"}
    decision = an_item(kind="decision", digest="d", context_hash="0" * 64, **choice)
    found = conflicts(corpus, (goal, decision))
    assert [(one.sub_goal.digest, one.decision.digest) for one in found] == ([("g", "d")] if flagged else [])
    assert all("in the context step=pay" in one.words and alternative in one.words for one in found)


def test_a_pattern_is_an_item_that_pages_can_draw() -> None:
    assert issubclass(FailurePattern, FixFirst)
