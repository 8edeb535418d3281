"""A DevAI trajectory: steps of thought, action and what the environment answered, with cost and time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from untaken.ledger import Message, Observation, ToolCall
from untaken.traces.losses import FileLog
from untaken.traces.readings import amount, mapping, number, text
from untaken.traces.recording import RunDraft

_KIND: Final = re.compile(r"([A-Z][A-Za-z ]{1,40}):\s*(.*)", re.DOTALL)
_LONGEST: Final = 1e9
"""Seconds."""
PLAIN: Final = "action"
"""Tool of an action that does not say what kind it is."""


@dataclass(slots=True)
class DevAITotals:
    """What the steps add up to; ``None`` where some step does not say."""

    steps: int = 0
    end: float = 0.0
    cost: float | None = 0.0
    accumulated: float | None = None
    input_tokens: float | None = 0.0
    output_tokens: float | None = 0.0

    @property
    def cost_in_all(self) -> float | None:
        """The running total recorded last, else the sum of the steps."""
        return self.cost if self.accumulated is None else self.accumulated

    def metrics(self) -> dict[str, bool | float]:
        """The totals by name."""
        read = {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_time": self.end,
        }
        return {key: value for key, value in read.items() if value is not None and self.steps}


def model_of(steps: list[dict[str, Any]]) -> str | None:
    """The model or models the steps name."""
    models = {text(mapping(step.get("step_usage")).get("model")) for step in steps}
    return ", ".join(sorted(model for model in models if model)) or None


def write_steps(run: RunDraft, steps: list[dict[str, Any]], start: datetime, log: FileLog) -> DevAITotals:
    """Puts the steps down; a step without an action is a message only.

    Time is `start` plus the accumulated time of the file: a call is made when the model has answered, its
    observation comes at the end of the step.
    """
    totals = DevAITotals()
    for index, step in enumerate(steps):
        usage = mapping(step.get("step_usage"))
        begun = totals.end
        totals.end = max(begun, _end(step, usage, begun, log))  # time does not go back
        thinking = amount(usage.get("llm_inference_time"), log.findings, "llm_inference_time") or 0.0
        acted = min(begun + thinking, totals.end)  # it thought within the step
        begun_at, acted_at, ended_at = (start + timedelta(seconds=s) for s in (begun, acted, totals.end))
        _write_step(run, step, index, (begun_at, acted_at, ended_at))
        _add(totals, step, usage, log)
    log.synthesised["ts"] += len(steps)
    return totals


def _write_step(
    run: RunDraft, step: Mapping[str, Any], index: int, moments: tuple[datetime, datetime, datetime]
) -> None:
    begun, acted, ended = moments
    agent = mapping(step.get("agent"))
    if (asked := text(step.get("user_message"))) is not None:
        run.add(Message, begun, role="user", content=asked)
    if (thought := text(agent.get("thought"))) is not None:
        run.add(Message, acted, role="assistant", content=thought)
    action, answer = agent.get("action"), step.get("environment")
    if action is None or action == "":
        if answer is not None:
            run.add(Message, ended, role="environment", content=answer)
        return
    tool, arguments = _call(action)
    call_id = f"step-{index}"
    run.add(ToolCall, acted, call_id=call_id, tool=tool, arguments=arguments)
    if answer is not None:
        run.add(Observation, ended, call_id=call_id, content=answer)


def _call(action: Any) -> tuple[str, dict[str, Any]]:
    """``Running command: ls`` is the tool "Running command" with the input ``ls``."""
    if not isinstance(action, str):
        return PLAIN, action if isinstance(action, dict) else {"input": action}
    kind = _KIND.fullmatch(action)
    return (kind.group(1), {"input": kind.group(2)}) if kind else (PLAIN, {"input": action})


def _end(step: Mapping[str, Any], usage: Mapping[str, Any], begun: float, log: FileLog) -> float:
    """Seconds from the start to the end of a step, at most what a run may last."""
    total = mapping(step.get("accumulated_usage")).get("accumulated_time")
    accumulated = amount(total, log.findings, "accumulated_time")
    if accumulated is None:
        own = amount(usage.get("step_execution_time"), log.findings, "step_execution_time")
        accumulated = begun + (own or 0.0)
    return min(accumulated, _LONGEST)


def _add(totals: DevAITotals, step: Mapping[str, Any], usage: Mapping[str, Any], log: FileLog) -> None:
    totals.steps += 1
    totals.cost = _sum(totals.cost, amount(usage.get("cost"), log.findings, "cost"))
    totals.input_tokens = _sum(
        totals.input_tokens, number(usage.get("input_tokens"), log.findings, "input_tokens")
    )
    totals.output_tokens = _sum(
        totals.output_tokens, number(usage.get("output_tokens"), log.findings, "output_tokens")
    )
    accumulated = mapping(step.get("accumulated_usage")).get("accumulated_cost")
    totals.accumulated = amount(accumulated, log.findings, "accumulated_cost")


def _sum(total: float | None, more: float | None) -> float | None:
    return None if total is None or more is None else total + more
