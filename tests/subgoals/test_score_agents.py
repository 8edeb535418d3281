"""Many runs: pooled and averaged by agent, ended from outside, and scored together."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from builders import a_graph, a_run, a_score

from untaken.errors import Unscored
from untaken.ledger import Run, read_ledger
from untaken.plans import load_graphs
from untaken.scoring import AgentScore, MissingRule, recounted, score_agents, score_run
from untaken.scoring.run_score import ScoreDetail
from untaken.scoring.scoring import score_together


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


GRAPH = a_graph(
    {"id": "look", "rules": [{"tool": "look"}], "check": {"tool_call": {"name": "look"}}, "critical": True},
    {"id": "buy", "deps": ["look"], "rules": [{"tool": "buy"}], "check": {"tool_call": {"name": "buy"}}},
)
PROVIDER = "APIStatusError: 529 overloaded"


def ended(*, run_id: str = "run-1", success: bool | None = None, **fields: str) -> Run:
    return a_run(run_id).call("look", ok=True).finish(success, **fields).run()


@pytest.mark.parametrize("error", [PROVIDER, "infrastructure_error", "Docker container was killed"])
@pytest.mark.parametrize("missing", ["fail", "drop"])
def test_no_sub_goal_of_it_counts(error: str, missing: Literal["fail", "drop"]) -> None:
    score = score_run(ended(error=error), GRAPH, missing=missing)
    assert {node.status for node in score.results} == {"unscored"}
    assert (score.required, score.completed, score.unscored, score.violations) == (0, 0, 0, ())
    assert isinstance(score.completion, Unscored)
    assert "provider or the environment" in score.completion.reason
    assert {node.reason for node in score.nodes} == {score.completion.reason} == {score.diagnosis_reason}
    other = recounted(score, "drop" if missing == "fail" else "fail")
    assert isinstance(other.completion, Unscored)


def test_it_is_in_no_mean_of_its_agent() -> None:
    whole = a_run("run-2").call("look", ok=True).call("buy", ok=True).finish().run()
    (agent,) = score_agents([score_run(each, GRAPH) for each in (ended(error=PROVIDER), whole)])
    assert (agent.runs, agent.scored_runs, agent.completion, agent.completion_macro) == (2, 1, 1.0, 1.0)
    assert (agent.outcome_runs, agent.success_rate) == (1, 1.0)


@pytest.mark.parametrize("fields", [{"limit": "max_steps"}, {"error": "no such order"}, {}])
def test_a_limit_or_an_error_of_the_agent_is_scored(fields: dict[str, str]) -> None:
    score = score_run(ended(success=False, **fields), GRAPH)
    assert {node.sub_goal: node.status for node in score.results} == {"look": "completed", "buy": "skipped"}
    assert score.completion == 0.5


def test_a_success_beside_an_error_of_the_provider_is_scored() -> None:
    assert score_run(ended(success=True, error=PROVIDER), GRAPH).completion == 0.5


SAMPLES = Path(__file__).parents[2] / "sample_runs"


@pytest.mark.parametrize("missing", ["fail", "drop"])
def test_a_graph_that_scored_many_runs_scores_each_like_one_that_scored_none(missing: MissingRule) -> None:
    """What follows from a pattern of results is remembered with the graph."""
    path = SAMPLES / "graphs" / "refund-desk.plan.yaml"
    runs = [run for ledger in sorted(SAMPLES.glob("ledgers/*.jsonl")) for run in read_ledger(ledger)][::3]
    (used,) = load_graphs(path).graphs
    for run in runs:
        score_run(run, used, missing=missing)
    for run in runs:
        (fresh,) = load_graphs(path).graphs
        assert score_run(run, used, missing=missing) == score_run(run, fresh, missing=missing)


@pytest.mark.parametrize("missing", ["fail", "drop"])
def test_a_detail_worked_out_with_the_score_is_the_one_worked_out_later(missing: MissingRule) -> None:
    (graph,) = load_graphs(SAMPLES / "graphs" / "refund-desk.plan.yaml").graphs
    runs = [run for ledger in sorted(SAMPLES.glob("ledgers/*.jsonl")) for run in read_ledger(ledger)][::3]
    at_once = list(score_together(runs, graph, missing=missing, detailed=True))
    assert all(isinstance(score.detail.held, ScoreDetail) for score in at_once)
    assert at_once == list(score_together(runs, graph, missing=missing))
