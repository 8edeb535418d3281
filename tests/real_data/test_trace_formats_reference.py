"""Ordinary trace formats: steps, calls, costs and tokens as computed elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from real_records import Converted

from untaken.ledger import Run, ToolCall

Convert = Callable[[str, str], Converted]


def of_files(records: Converted) -> dict[str, Run]:
    """The run of each file."""
    return {loss.name: records.of_file(loss.name)[0] for loss in records.conversion.losses if loss.runs}


def test_atif_runs_have_the_steps_calls_and_costs_of_the_reference(
    converted: Convert, reference: dict[str, Any]
) -> None:
    runs = of_files(converted("atif", "atif"))
    assert runs.keys() == reference["atif"].keys()
    for name, want in reference["atif"].items():
        end, final = runs[name].finished, want["final_metrics"]
        assert end is not None
        assert [call.tool for call in runs[name].of(ToolCall)] == want["tool_calls"], name
        assert (runs[name].agent, end.steps) == (want["agent"], want["by_source"]["agent"])
        assert end.cost == final["total_cost_usd"]
        assert (end.metrics or {})["input_tokens"] == final["total_prompt_tokens"]
        assert (end.metrics or {})["output_tokens"] == final["total_completion_tokens"]


def test_swe_agent_runs_have_the_steps_and_statistics_of_the_reference(
    converted: Convert, reference: dict[str, Any]
) -> None:
    runs = of_files(converted("swe-agent", "swe_agent"))
    assert runs.keys() == reference["swe_agent"].keys()
    for name, want in reference["swe_agent"].items():
        end = runs[name].finished
        assert end is not None
        metrics = end.metrics or {}
        assert (end.steps, (runs[name].started.metadata or {})["exit_status"]) == (
            want["steps"],
            want["exit_status"],
        )
        assert metrics["input_tokens"] == want["tokens_sent"]
        assert metrics["output_tokens"] == want["tokens_received"]
        assert metrics["model_calls"] == want["api_calls"]
        assert end.cost == (want["instance_cost"] if want["api_calls"] else None)
