"""Runs of one agent: pooled and averaged, with the number of runs each rests on."""

from __future__ import annotations

from builders import a_graph, a_run, a_score

from untaken.errors import Unscored
from untaken.scoring import AgentScore, score_agents, score_run


def only(*scores) -> AgentScore:
    (agent,) = score_agents(scores)
    return agent


def test_micro_pools_sub_goals_and_macro_averages_runs() -> None:
    got = only(a_score("a", "t", 1, 1), a_score("a", "u", 1, 4))
    assert (got.sub_goals, got.completed, got.completion) == (5, 2, 2 / 5)
    assert got.completion_macro == (1 + 1 / 4) / 2
    assert (got.runs, got.scored_runs) == (2, 2)


def test_runs_with_nothing_expected_count_for_the_outcome_only() -> None:
    got = only(a_score("a", "t", 2, 4, success=False), a_score("a", "u", 0, 0, success=True))
    assert (got.runs, got.scored_runs, got.completion, got.completion_macro) == (2, 1, 0.5, 0.5)
    assert (got.successes, got.outcome_runs, got.success_rate) == (1, 2, 0.5)


def test_an_agent_without_a_scored_run_is_unscored() -> None:
    got = only(a_score("a", "u", 0, 0))
    no_run = Unscored("no run of this agent has a sub-goal that counts")
    assert got.completion == got.completion_macro == got.coverage == got.critical_completion == no_run
    assert got.attempted == got.critical_path_skipped_rate == no_run
    assert got.success_rate == Unscored("no run of this agent records a success")


def skipping(agent: str, *acted: str, tagged: bool = True):
    graph = a_graph({"id": "a", "critical": True}, {"id": "b", "critical": True}, "c")
    run = a_run(agent=agent)
    for name in acted:
        run.call(name, name if tagged else None)
    return score_run(run.finish().run(), graph)


def test_runs_that_cannot_tell_are_out_of_the_skipped_rate() -> None:
    assert only(skipping("x", "a"), skipping("x", "a", tagged=False)).critical_path_skipped_rate == 1.0
    unknown = only(skipping("x", "a", tagged=False)).critical_path_skipped_rate
    assert unknown == Unscored("no critical sub-goal's attempts are known")
    none = only(a_score("a", "t", 1, 2)).critical_path_skipped_rate
    assert none == Unscored("no scored run of this agent has a critical sub-goal")


def test_replans_are_unscored_where_no_plan_was_ever_recorded() -> None:
    got = only(a_score("a", "t", plans=3, replans=2), a_score("a", "u"))
    assert got.replanning_events_per_trace == 1.0
    silent = only(a_score("a", "t"), a_score("a", "u")).replanning_events_per_trace
    assert silent == Unscored("no run of this agent records a plan, so replans are unknown")


def test_runs_whose_attempts_are_unknown_are_out_of_the_coverage() -> None:
    graph = a_graph({"id": "a", "rules": [{"tool": "a"}]}, {"id": "b", "rules": [{"tool": "b"}]})
    silent = score_run(a_run("silent").finish().run(), graph)
    got = only(score_run(a_run().call("a").finish().run(), graph), silent)
    assert (got.attempted, got.coverage_of, got.sub_goals) == (1, 2, 4)
    assert got.coverage == got.coverage_macro == 1 / 2
