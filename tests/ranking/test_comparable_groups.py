"""Which agents are compared, and where pooled shares order two of them against the shared tasks."""

from __future__ import annotations

import pytest
from builders import a_run, a_score

from untaken.analysis.ranking import (
    PooledScores,
    agents_compared_with,
    comparable_groups,
    pooled_reversals,
    rank_agents,
)
from untaken.errors import UntakenError
from untaken.scoring import RunScore, score_agents


def runs(*pairs: tuple[str, str]) -> list:
    return [a_run(f"{agent}-{task}", agent=agent, task=task).finish().run() for agent, task in pairs]


def test_two_benchmarks_in_one_workspace_are_two_groups() -> None:
    found = comparable_groups(runs(("a", "x1"), ("b", "x1"), ("b", "x2"), ("c", "y1")))
    assert [(g.agents, g.tasks) for g in found] == [(("a", "b"), ("x1", "x2")), (("c",), ("y1",))]
    assert [len(g.digests) for g in found] == [3, 1]


def test_agents_that_share_no_task_directly_may_share_a_third() -> None:
    (group,) = comparable_groups(runs(("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")))
    assert group.agents == ("a", "b", "c")


def test_an_agent_named_like_a_task_is_no_bridge() -> None:
    assert len(comparable_groups(runs(("x", "y"), ("y", "z")))) == 2


def test_the_group_with_most_runs_comes_first_and_agents_that_can_be_ranked_are() -> None:
    alone = runs(*[("c", f"y{n}") for n in range(5)])
    both = runs(("a", "x"), ("b", "x"))
    assert [len(group.digests) for group in comparable_groups([*both, *alone])] == [5, 2]
    scores = [a_score(run.agent, run.task_id, 2, digest=run.digest) for run in (*both, *alone)]
    pooled = PooledScores.of(scores, resamples=0)
    assert {one.agent for one in pooled.ranking.metrics["completion"]} == {"a", "b"}
    assert [finding.code for finding in pooled.findings] == ["agents-not-compared"]


def test_what_a_broken_ledger_says_joins_no_agents() -> None:
    sound = runs(("a", "x"), ("b", "y"), ("b", "y2"))
    pairs = [("a", "y"), ("new", "y"), ("new", "z")]  # where its agent is, where its task is, alone
    broken = [a_run(f"{n}", agent=a, task=t).finish().run("ALTERED") for n, (a, t) in enumerate(pairs)]
    found = comparable_groups([*broken, *sound])
    assert [(g.name, g.agents, g.runs) for g in found] == [
        ("y", ("b",), 2),
        ("x", ("a",), 1),
        ("z", ("new",), 0),
    ]
    assert [set(g.digests) for g in found] == [
        {broken[1].digest, *(run.digest for run in sound[1:])},
        {broken[0].digest, sound[0].digest},
        {broken[2].digest},
    ]


def test_who_asks_for_an_unknown_agent_reads_a_few_names_not_thousands() -> None:
    alone = runs(*((f"agent-{n:03}", f"task-{n:03}") for n in range(300)))
    with pytest.raises(UntakenError) as refused:
        agents_compared_with(alone, "nobody")
    assert refused.value.code == "agent-unknown"
    assert refused.value.hint.count("agent-") == 10


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
