"""A run that its provider or its environment ended says nothing about the agent: nothing of it is scored."""

from __future__ import annotations

from typing import Literal

import pytest
from builders import a_graph, a_run

from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.scoring import recounted, score_agents, score_run

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
