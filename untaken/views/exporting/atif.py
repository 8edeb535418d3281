"""Runs as ATIF trajectories (v1.6): one document a run, the results under ``extra.untaken``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from untaken.errors import Unscored
from untaken.ledger import Message, Observation, Run, ToolCall, readable
from untaken.traces import file_stem
from untaken.views.exporting.evaluations import EvaluatedRun

VERSION: Final = "ATIF-v1.6"
SOURCES: Final = {"assistant": "agent", "agent": "agent", "user": "user", "system": "system"}
"""ATIF's sources by the role of a message; of any other role, the agent says it, and `extra` has the role."""


def atif_documents(runs: Iterable[EvaluatedRun]) -> Iterator[tuple[str, bytes]]:
    """A file name and its content for each run; equal runs give equal bytes.

    Two runs of one id, which differ, get names with their digest.
    """
    names: set[str] = set()
    for each in runs:
        name = file_stem(each.run.run_id)
        name = f"{name}-{each.run.digest[:12]}" if name in names else name
        names.add(name)
        yield f"{name}.json", msgspec.json.format(msgspec.json.encode(_trajectory(each)), indent=1) + b"\n"


def _trajectory(each: EvaluatedRun) -> dict[str, Any]:
    run = each.run
    recorded = run.started.version
    version = "unknown" if recorded is None else str(recorded)  # ATIF asks for one
    return {
        "schema_version": VERSION,
        "session_id": run.run_id,
        "agent": _present(name=run.agent, version=version, model_name=run.started.model),
        "steps": list(_steps(each)),
        "final_metrics": _final(run),
        "extra": {
            "untaken": {
                "run_id": run.run_id,
                "task_id": run.task_id,
                "success": None if isinstance(run.success, Unscored) else run.success,
                "digest": run.digest,
                "evaluations": each.evaluations,
            }
        },
    }


def _final(run: Run) -> dict[str, Any]:
    finished = run.finished
    if finished is None:
        return {}
    metrics = finished.metrics or {}
    return _present(
        # A cost in another unit would be read as dollars.
        total_cost_usd=finished.cost if finished.cost_unit == "usd" else None,
        total_steps=finished.steps,
        total_prompt_tokens=metrics.get("input_tokens"),
        total_completion_tokens=metrics.get("output_tokens"),
        total_cached_tokens=metrics.get("cached_tokens"),
    )


def _steps(each: EvaluatedRun) -> Iterator[dict[str, Any]]:
    """A step for each message, and one for each call with its answer; other answers are separate steps."""
    run = each.run
    answered = {answer.seq for answer in run.answers.values()}
    number = 0
    for event in run.events[: run.own]:  # what others added later is no step of the agent
        step: dict[str, Any] | None = None
        if isinstance(event, Message):
            step = _message_step(event)
        elif isinstance(event, ToolCall):
            step = _called(event, each)
        elif isinstance(event, Observation) and event.seq not in answered:
            step = {"source": "agent", "message": "", "observation": {"results": [_answer(event, None)]}}
        if step is not None:
            number += 1
            yield {"step_id": number, "timestamp": event.ts, **step}


def _message_step(message: Message) -> dict[str, Any]:
    content = readable(message.content) or ""
    if message.role == "reasoning":
        return {"source": "agent", "message": "", "reasoning_content": content}
    source = SOURCES.get(message.role)
    if source is None:
        return {"source": "agent", "message": content, "extra": {"role": message.role}}
    return {"source": source, "message": content}


def _called(call: ToolCall, each: EvaluatedRun) -> dict[str, Any]:
    answer = each.run.answers.get(call.seq)
    made = {"tool_call_id": call.call_id, "function_name": call.tool, "arguments": call.arguments}
    step: dict[str, Any] = {"source": "agent", "message": "", "tool_calls": [made]}
    if answer is not None:
        step["observation"] = {"results": [_answer(answer, call.call_id)]}
    if call.seq in each.served:
        step["extra"] = {"untaken": {"sub_goals": each.served[call.seq]}}
    return step


def _answer(answer: Observation, call_id: str | None) -> dict[str, Any]:
    return _present(
        source_call_id=call_id,
        content=readable(answer.content) or "",
        extra={"is_error": not answer.ok} if answer.ok is not None else None,
    )


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
