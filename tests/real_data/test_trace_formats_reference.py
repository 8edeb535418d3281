"""Ordinary trace formats: steps, calls, costs and tokens as computed elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from real_records import Converted

from untaken.ledger import Observation, Run, ToolCall

Convert = Callable[[str, str], Converted]


def of_files(records: Converted) -> dict[str, Run]:
    """The run of each file."""
    return {loss.name: records.of_file(loss.name)[0] for loss in records.conversion.losses if loss.runs}


def test_atif_runs_have_the_steps_calls_and_costs_of_the_reference(converted, reference) -> None:
    runs = of_files(converted("atif", "atif"))
    assert runs.keys() == reference["atif"].keys()
    for name, want in reference["atif"].items():
        end, final = runs[name].finished, want["final_metrics"]
        assert [call.tool for call in runs[name].of(ToolCall)] == want["tool_calls"], name
        assert (runs[name].agent, end.steps) == (want["agent"], want["by_source"]["agent"])
        assert end.cost == final["total_cost_usd"]
        assert (end.metrics or {})["input_tokens"] == final["total_prompt_tokens"]
        assert (end.metrics or {})["output_tokens"] == final["total_completion_tokens"]


def test_swe_agent_runs_have_the_steps_and_statistics_of_the_reference(converted, reference) -> None:
    runs = of_files(converted("swe-agent", "swe_agent"))
    assert runs.keys() == reference["swe_agent"].keys()
    for name, want in reference["swe_agent"].items():
        end = runs[name].finished
        metrics = end.metrics or {}
        assert (end.steps, (runs[name].started.metadata or {})["exit_status"]) == (
            want["steps"],
            want["exit_status"],
        )
        assert metrics["input_tokens"] == want["tokens_sent"]
        assert metrics["output_tokens"] == want["tokens_received"]
        assert metrics["model_calls"] == want["api_calls"]
        assert end.cost == (want["instance_cost"] if want["api_calls"] else None)


def test_harbor_trials_have_the_rewards_tests_and_calls_of_the_reference(converted, reference) -> None:
    records, want = converted("harbor", "harbor"), reference["harbor"]
    runs = {run.run_id: run for run in records.runs}
    assert runs.keys() == want["by_trial"].keys()
    assert sum(run.success is True for run in runs.values()) == want["rewarded"]
    for name, told in want["by_trial"].items():
        run, end = runs[name], runs[name].finished
        metrics = end.metrics or {}
        assert (metrics["reward"], run.task_id) == (told["reward"], told["task"])
        assert run.agent.startswith(f"{told['agent']}/")
        if told["n_input_tokens"] is not None:  # else they come from the agent's own log
            tokens = metrics["input_tokens"], metrics["output_tokens"]
            assert tokens == (told["n_input_tokens"], told["n_output_tokens"])
        assert end.cost == told["cost_usd"]
        if "tool_calls" in told and told["tool_calls"] is not None:
            assert (end.steps, len(run.of(ToolCall))) == (told["agent_steps"], told["tool_calls"]), name
        assert sum(o.ok is False for o in run.of(Observation)) == told["stream"]["tool_errors"], name
        assert (end.error or "").startswith(told["exception"] or "")


def test_harbor_tests_are_the_sub_goals_of_the_reference(converted, reference) -> None:
    records, want = converted("harbor", "harbor"), reference["harbor"]
    tested = [run for run in records.runs if run.started.graph]
    scores = {score.run_id: score for score in records.scores(tested)}
    assert sum(score.required for score in scores.values()) == want["tests"]
    assert sum(score.completed for score in scores.values()) == want["tests_passed"]
    for name, told in want["by_trial"].items():
        if told.get("tests"):
            assert (scores[name].required, scores[name].completed) == (
                told["tests"]["tests"],
                told["tests"]["passed"],
            )


def test_inspect_logs_have_the_samples_scores_and_calls_of_the_reference(converted, reference) -> None:
    records = converted("inspect", "inspect")
    assert {loss.name for loss in records.conversion.losses} == reference["inspect"].keys()
    for name, want in reference["inspect"].items():
        runs = records.of_file(name)
        assert len(runs) == want["samples"]
        assert {run.started.model for run in runs} == {want["model"]}
        (scores,) = want["scores"].values()
        assert sum(run.success is True for run in runs) == scores.get("C", 0), name
        assert sum(run.success is False for run in runs) == scores.get("I", 0), name
        assert sum(len(run.of(ToolCall)) for run in runs) == want["tool_events"]
        ends = [run.finished for run in runs if run.finished]
        agents, graders = (
            ("total_tokens",),
            ("grader_input_tokens", "grader_output_tokens"),
        )  # the log's totals are of both
        used = (end.metrics or {} for end in ends)
        assert sum(m.get(name, 0) for m in used for name in (*agents, *graders)) == want["total_tokens"]
        graded = sum((end.metrics or {}).get("grader_steps", 0) for end in ends)
        assert sum(end.steps for end in ends) + graded == want["model_events"]


def test_otel_traces_have_the_calls_tokens_and_costs_of_the_reference(converted, reference) -> None:
    runs = of_files(converted("otel", "otel_any_agent"))
    assert runs.keys() == reference["otel_any_agent"].keys()
    for name, want in reference["otel_any_agent"].items():
        run, end = runs[name], runs[name].finished
        metrics = end.metrics or {}
        assert [call.tool for call in run.of(ToolCall)] == want["tools"]
        assert (metrics["input_tokens"], metrics["output_tokens"]) == (
            want["input_tokens"],
            want["output_tokens"],
        )
        assert end.cost == pytest.approx(want["cost_usd"], abs=1e-15)
        assert end.steps == want["operations"]["call_llm"]
        assert (end.ts - run.started.ts).total_seconds() == pytest.approx(want["wall_s"], abs=1e-6)
