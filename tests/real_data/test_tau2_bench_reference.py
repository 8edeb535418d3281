"""tau2-bench: outcomes, action checks and the three ways to treat runs without recorded checks."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from real_records import Converted

from untaken.ledger import Run, Verdict
from untaken.scoring import score_agents

RULES: dict[str, dict[str, Any]] = {
    "subgoals_recomputed_from_messages": {},
    "subgoals_missing_verdict_counts_as_not_met": {"verdicts": ("test",), "missing": "fail"},
    "subgoals_recorded_only": {"verdicts": ("test",), "missing": "drop"},
}
FILES = (
    "ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm_airline_default_gpt-4.1_1trials.json.gz",
    "ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm_telecom_default_gpt-4.1_1trials.json.gz",
    "gpt-4.1_airline_default_gpt-4.1_1trials.json.gz",
    "gpt-4.1_telecom_default_gpt-4.1_1trials.json.gz",
)


@pytest.fixture(scope="module")
def tau2(converted: Callable[[str, str], Converted]) -> Converted:
    return converted("tau2-bench", "tau2_bench")


@pytest.fixture(scope="module", params=FILES)
def file(
    request: pytest.FixtureRequest, tau2: Converted, reference: dict[str, Any]
) -> tuple[list[Run], dict[str, Any]]:
    """The runs of one result file, and what the reference says of it."""
    return tau2.of_file(request.param), reference["tau2_bench"]["files"][request.param]


def test_files_of_the_reference_are_the_files_read(tau2: Converted, reference: dict[str, Any]) -> None:
    assert (
        {loss.name for loss in tau2.conversion.losses} == set(reference["tau2_bench"]["files"]) == set(FILES)
    )


def test_outcomes_are_those_of_the_reference(file: tuple[list[Run], dict[str, Any]]) -> None:
    runs, wanted = file
    want = wanted["outcome_success"]
    assert (sum(run.success is True for run in runs), len(runs)) == (want["n"], want["of"])


@pytest.mark.parametrize("rule", RULES)
def test_action_checks_are_those_of_the_reference(tau2, file, rule) -> None:
    runs, wanted = file
    (score,) = score_agents(tau2.scores(runs, by_benchmark=True, **RULES[rule]))
    want = wanted[rule]
    assert (score.completed, score.sub_goals, score.completion) == (want["n"], want["of"], want["rate"])


def test_macro_mean_is_over_runs_that_expected_something(tau2, file) -> None:
    runs, wanted = file
    (score,) = score_agents(tau2.scores(runs, by_benchmark=True))
    assert score.completion_macro == pytest.approx(
        wanted["macro_recomputed_over_runs_with_expected"], abs=1e-12
    )
    assert score.runs - score.scored_runs == wanted["runs_with_no_expected_action"]


def test_every_recorded_verdict_is_reproduced_by_the_rule(tau2, file) -> None:
    runs, wanted = file
    agree = recorded = 0
    for run, score in zip(runs, tau2.scores(runs, by_benchmark=True), strict=True):
        for verdict in (event for event in run.events if isinstance(event, Verdict)):
            recorded += 1
            agree += score.node(verdict.sub_goal).completed == verdict.passed
    want = wanted["recorded_checks_reproduced_by_rule"]
    assert (agree, recorded) == (want["n"], want["of"])


def test_no_recorded_verdict_contradicts_the_rule(tau2: Converted) -> None:
    assert "verdict-contradicts-rule" not in {finding.code for finding in tau2.conversion.findings}


def test_runs_without_recorded_checks_are_found(tau2: Converted, reference: dict[str, Any]) -> None:
    files = reference["tau2_bench"]["files"]
    found = Counter(f.where.file for f in tau2.conversion.findings if f.code == "missing-verdicts")
    want = {name: one["runs_with_expected_but_no_recorded_check"] for name, one in files.items()}
    assert {name: found[name] for name in files} == want


def test_runs_that_contradict_their_outcome_are_as_many(tau2, file) -> None:
    runs, wanted = file
    scores = [score for score in tau2.scores(runs, by_benchmark=True) if score.nodes]
    lucky = sum(score.success is True and score.completed < score.required for score in scores)
    unlucky = sum(score.success is False and score.completed == score.required for score in scores)
    assert (lucky, unlucky) == (
        wanted["outcome_ok_but_subgoal_missing"],
        wanted["all_met_but_outcome_failed"],
    )


def test_messages_costs_and_ends_are_kept(file: tuple[list[Run], dict[str, Any]]) -> None:
    runs, wanted = file
    finished = [run.finished for run in runs if run.finished]
    assert sum(f.steps or 0 for f in finished) == wanted["assistant_messages"]
    user = math.fsum((f.metrics or {}).get("user_cost", 0.0) for f in finished)
    assert user == pytest.approx(wanted["user_cost_total"], abs=1e-12)
    ends = Counter(f.limit or f.error or "user_stop" for f in finished)
    assert ends == wanted["termination"]


def test_cost_stored_as_zero_is_unknown_and_named(tau2, file) -> None:
    runs, wanted = file
    costs = [run.finished.cost for run in runs if run.finished]
    if wanted["agent_cost_total"] == 0:
        assert set(costs) == {None}
    else:
        assert math.fsum(c or 0.0 for c in costs) == pytest.approx(wanted["agent_cost_total"], abs=1e-12)
    unpriced = {f.where.file for f in tau2.conversion.findings if f.code == "unpriced-cost"}
    assert unpriced == set(FILES[:2])


def test_history_by_tool_follows_from_the_ledger(file: tuple[list[Run], dict[str, Any]]) -> None:
    runs, wanted = file
    by_tool: defaultdict[str, list[Run]] = defaultdict(list)
    for run in runs:
        for tool in sorted({call.tool for call in run.actions if call.requestor in (None, "agent")}):
            by_tool[tool].append(run)
    assert set(by_tool) == set(wanted["policy_memory_by_assistant_tool"])
    for tool, want in wanted["policy_memory_by_assistant_tool"].items():
        used = by_tool[tool]
        ends = [run.finished for run in used if run.finished]
        assert len(used) == want["runs"]
        assert sum(run.success is True for run in used) / len(used) == want["success_rate"]
        assert sum(f.steps or 0 for f in ends) / len(used) == pytest.approx(want["avg_steps"], abs=1e-12)
        if wanted["agent_cost_total"]:
            mean = math.fsum(f.cost or 0.0 for f in ends) / len(used)
            assert mean == pytest.approx(want["avg_cost"], abs=1e-12)


def test_one_model_is_one_agent_in_every_domain(tau2: Converted, reference: dict[str, Any]) -> None:
    agents = {run.agent for run in tau2.runs}
    ranked = reference["tau2_bench"]["ranking"]
    assert len(agents) == len(ranked["airline/default"]["outcome"]) == 2
    for domain, want in ranked.items():
        runs = [run for run in tau2.runs if run.task_id.startswith(f"tau2-bench-{domain.split('/')[0]}-")]
        for score in score_agents(tau2.scores(runs, by_benchmark=True)):
            short = next(
                name
                for name in sorted(want["outcome"], key=len, reverse=True)
                if score.agent.startswith(name)
            )
            assert score.success_rate == want["outcome"][short]
            assert score.completion == want["subgoals_recomputed"][short]


def test_models_are_kept_in_full(tau2: Converted) -> None:
    models = {run.agent: run.started.model for run in tau2.runs}
    assert models == {
        "gpt-4.1": "gpt-4.1",
        "ft-gpt-4.1-BzrYdMNm": "ft:gpt-4.1-2025-04-14:sierra:tau2-full-sft:BzrYdMNm",
    }


def test_only_the_agents_calls_are_decisions(tau2: Converted) -> None:
    for run in tau2.runs:
        own = [call.tool for call in run.actions if call.requestor in (None, "agent")]
        assert [selection.selected for selection in run.selections] == own
    assert any(call.requestor == "user" for run in tau2.runs for call in run.actions)


def test_recorded_times_run_forward(tau2: Converted) -> None:
    for run in tau2.runs:
        stamps = [event.ts for event in run.events]
        assert stamps == sorted(stamps)
        assert stamps[0].year == 2025
