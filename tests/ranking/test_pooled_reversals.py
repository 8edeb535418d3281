"""Pooled shares that order two agents against the shared tasks are a finding that names the tasks."""

from __future__ import annotations

import pytest
from builders import a_score

from untaken.analysis.ranking import pooled_reversals, rank_agents
from untaken.scoring import RunScore, score_agents


def repeats(agent: str, task: str, completed: int, times: int, required: int = 4) -> list[RunScore]:
    return [a_score(agent, task, completed, required=required, task_repeat=n) for n in range(times)]


def codes(scores: list[RunScore]) -> list[tuple[str, str]]:
    found = pooled_reversals(score_agents(scores), rank_agents(scores, resamples=0))
    return [(finding.code, finding.message) for finding in found]


def test_an_agent_that_ran_the_easy_task_more_often_is_reported_with_the_tasks() -> None:
    # On each task b is ahead; a ran the easy one nine times.
    scores = [*repeats("a", "easy", 3, 9), *repeats("a", "hard", 0, 1)]
    scores += [*repeats("b", "easy", 4, 1), *repeats("b", "hard", 1, 9)]
    found = dict.fromkeys(code for code, _ in codes(scores))
    assert list(found) == ["pooled-order-reversed"]
    message = next(message for _, message in codes(scores) if "by completion pooled" in message)
    assert message == (
        "a is above b by completion pooled over all runs, and below over the 2 tasks that every agent ran; "
        "they did not run these tasks equally often: easy, hard"
    )


FINE = [
    ("the same order", [*repeats("a", "x", 3, 2), *repeats("b", "x", 4, 2)]),
    ("level in one of the two", [*repeats("a", "x", 3, 3), *repeats("b", "x", 3, 1)]),
    ("one agent", repeats("a", "x", 3, 3)),
    ("no shared task", [*repeats("a", "x", 3, 3), *repeats("b", "y", 4, 1)]),
]


@pytest.mark.parametrize(("desc", "scores"), FINE, ids=[case[0] for case in FINE])
def test_the_same_order_is_no_finding(desc: str, scores: list[RunScore]) -> None:
    assert codes(scores) == []
