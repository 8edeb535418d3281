"""A run that its provider, sandbox, verifier or a limit ended did not fail by what the agent did."""

from __future__ import annotations

import pytest
from builders import a_run

from untaken.ledger.infrastructure import infrastructure_of

ENDS = [
    # error, limit, kind
    ("AgentTimeoutError: Agent execution timed out after 1200.0 seconds", "time", "time_limit"),
    ("VerifierTimeoutError: Verifier execution timed out after 600 seconds", "time", "verifier"),
    ("RewardFileNotFoundError: no reward file", None, "verifier"),
    ("EnvironmentStartTimeoutError: environment did not start", "time", "environment"),
    ("docker.errors.APIError: 409 Client Error", None, "environment"),
    ("infrastructure_error", None, "environment"),
    ("OOMKilled", None, "environment"),
    ("litellm.RateLimitError: 429", None, "provider"),
    ("openai.APIConnectionError: Connection error.", None, "provider"),
    ("Error code: 529 - overloaded_error", None, "provider"),
    ("HTTP 503", None, "provider"),
    ("OpenRouter rejected the request (HTTP 402: payment required)", None, "provider"),
    ("terminal provider error: insufficient credits", None, "provider"),
    ("Error code: 401 - Incorrect API key provided", None, "provider"),
    ("litellm.Timeout: request", None, "provider"),
    ("Error code: 400 - context_length_exceeded", None, "budget_limit"),
    ("MaxTurnsExceeded: max turns (10) exceeded", None, "step_limit"),
    ("TimeoutError", None, "time_limit"),
    (None, "max_steps", "step_limit"),
    (None, "message", "step_limit"),
    (None, "turns", "step_limit"),
    (None, "token", "budget_limit"),
    (None, "working", "time_limit"),
    (None, "exit_cost", "budget_limit"),
    (None, "exit_api", "provider"),
    (None, "operator", "other_limit"),
    (None, "exit_format", None),
    ("KeyError: 'order_id'", None, None),
    ("too_many_errors", None, None),
    ("agent_error", None, None),
    ("order 500 was not found", None, None),
    ("the payment of order 402 was refused", None, None),
    (None, None, None),
]


@pytest.mark.parametrize(("error", "limit", "kind"), ENDS)
def test_what_ended_a_failed_run_is_read_from_its_error_and_limit(
    error: str | None, limit: str | None, kind: str | None
) -> None:
    assert infrastructure_of(a_run("r").finish(False, error=error, limit=limit).run()) == kind


def test_a_run_that_succeeded_in_spite_of_a_limit_has_not_failed_by_it() -> None:
    assert infrastructure_of(a_run("r").finish(True, limit="time").run()) is None


def test_a_run_without_an_outcome_can_be_ended_by_its_infrastructure() -> None:
    assert infrastructure_of(a_run("r").finish(None, error="infrastructure_error").run()) == "environment"
    assert infrastructure_of(a_run("r").run()) is None
