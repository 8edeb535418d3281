"""One trace, written down in every format of spans, so that a rule about spans is tried in all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

BEGAN: Final = datetime(2026, 1, 1, tzinfo=UTC)
USER: Final = {"role": "user", "content": "Go."}


@dataclass(frozen=True, kw_only=True)
class Node:
    """A span as all formats know it.

    Attributes:
        at: when it began and ended, in seconds.
        asked, gave: of a model, the messages it was given and the text it gave; empty if not kept.
        tokens: in and out.
        maker: the instrumentation, where the format names it, or the first part of its name.
    """

    id: str
    parent: str = ""
    kind: Literal["agent", "model", "tool", "plain"] = "model"
    name: str = ""
    at: tuple[float, float] = (0, 9)
    asked: tuple[dict[str, Any], ...] = ()
    gave: str = ""
    tokens: tuple[int, int] | None = None
    cost: float | None = None
    error: str | None = None
    maker: str = "lib"

    @property
    def title(self) -> str:
        return self.name or f"{self.maker} {self.kind}"

    def moment(self, place: int) -> datetime:
        return BEGAN + timedelta(seconds=self.at[place])

    @property
    def inputs(self) -> dict[str, Any]:
        return {"messages": list(self.asked)} if self.asked else {}

    @property
    def reply(self) -> dict[str, Any]:
        return {"role": "assistant", "content": self.gave}


def otel(nodes: list[Node]) -> str:
    kinds = {"agent": "invoke_agent", "model": "chat", "tool": "execute_tool"}
    return "\n".join(json.dumps(_otel_span(node, kinds)) for node in nodes)


def _otel_span(node: Node, kinds: Mapping[str, str]) -> dict[str, Any]:
    about: dict[str, Any] = {
        "gen_ai.operation.name": kinds.get(node.kind),
        "gen_ai.input.messages": json.dumps(node.asked) if node.asked else None,
        "gen_ai.output.messages": json.dumps([node.reply]) if node.gave else None,
        "gen_ai.tool.name": node.title if node.kind == "tool" else None,
        "gen_ai.usage.cost": node.cost,
    }
    if node.tokens:
        about |= dict(
            zip(("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"), node.tokens, strict=True)
        )
    return {
        "name": node.title,
        "context": {"trace_id": "0xt", "span_id": node.id},
        "parent_id": node.parent or None,
        "start_time": node.moment(0).isoformat(),
        "end_time": node.moment(1).isoformat(),
        "status": {"status_code": "ERROR", "description": node.error}
        if node.error
        else {"status_code": "OK"},
        "scope": {"name": node.maker},
        "attributes": {name: value for name, value in about.items() if value is not None},
    }


def langfuse(nodes: list[Node]) -> str:
    kinds = {"agent": "AGENT", "model": "GENERATION", "tool": "TOOL", "plain": "SPAN"}
    observed = []
    for node in nodes:
        observation: dict[str, Any] = {
            "id": node.id,
            "traceId": "t",
            "type": kinds[node.kind],
            "name": node.title,
            "level": "ERROR" if node.error else "DEFAULT",
            "statusMessage": node.error,
            "startTime": node.moment(0).isoformat(),
            "endTime": node.moment(1).isoformat(),
            "parentObservationId": node.parent or None,
            "input": list(node.asked) or None,
            "output": node.reply if node.gave else None,
        }
        if node.tokens:
            observation["usageDetails"] = dict(zip(("input", "output"), node.tokens, strict=True))
        if node.cost is not None:
            observation["costDetails"] = {"total": node.cost}
        observed.append(observation)
    return json.dumps(observed)


def langsmith(nodes: list[Node]) -> str:
    kinds = {"agent": "chain", "model": "llm", "tool": "tool", "plain": "chain"}
    runs = []
    for node in nodes:
        run: dict[str, Any] = {
            "id": node.id,
            "trace_id": "t",
            "parent_run_id": node.parent or None,
            "name": node.title,
            "run_type": kinds[node.kind],
            "start_time": node.moment(0).isoformat(),
            "end_time": node.moment(1).isoformat(),
            "error": node.error,
            "inputs": node.inputs,
            "outputs": {"messages": [node.reply]} if node.gave else {},
            "total_cost": node.cost,
        }
        if node.tokens:
            run |= dict(zip(("prompt_tokens", "completion_tokens"), node.tokens, strict=True))
        runs.append(run)
    return "\n".join(map(json.dumps, runs))


def mlflow(nodes: list[Node]) -> str:
    kinds = {"agent": "AGENT", "model": "CHAT_MODEL", "tool": "TOOL", "plain": "CHAIN"}
    spans = []
    for node in nodes:
        about: dict[str, Any] = {"mlflow.spanType": kinds[node.kind]}
        if node.asked:
            about["mlflow.spanInputs"] = node.inputs
        if node.gave:
            about["mlflow.spanOutputs"] = {"choices": [{"message": node.reply}]}
        if node.tokens:
            counts = dict(zip(("input_tokens", "output_tokens"), node.tokens, strict=True))
            about["mlflow.chat.tokenUsage"] = counts | {"total_tokens": sum(node.tokens)}
        if node.cost is not None:
            about["mlflow.llm.cost"] = {"total_cost": node.cost}
        spans.append(
            {
                "trace_id": "x",
                "span_id": node.id,
                "parent_span_id": node.parent or None,
                "name": node.title,
                "start_time_unix_nano": int(node.moment(0).timestamp() * 1e9),
                "end_time_unix_nano": int(node.moment(1).timestamp() * 1e9),
                "status": {"code": f"STATUS_CODE_{'ERROR' if node.error else 'OK'}", "message": node.error},
                "attributes": {name: json.dumps(value) for name, value in about.items()},
            }
        )
    return json.dumps({"info": {"trace_id": "t", "trace_location": {}}, "data": {"spans": spans}})


def braintrust(nodes: list[Node]) -> str:
    kinds = {"agent": "task", "model": "llm", "tool": "tool", "plain": "function"}
    rows = []
    for node in nodes:
        metrics: dict[str, Any] = {"start": node.moment(0).timestamp(), "end": node.moment(1).timestamp()}
        if node.tokens:
            metrics |= dict(zip(("prompt_tokens", "completion_tokens"), node.tokens, strict=True))
        if node.cost is not None:
            metrics["estimated_cost"] = node.cost
        rows.append(
            {
                "id": node.id,
                "span_id": node.id,
                "root_span_id": "t",
                "span_parents": [node.parent] if node.parent else None,
                "span_attributes": {"name": node.title, "type": kinds[node.kind]},
                "metrics": metrics,
                "input": list(node.asked) or None,
                "output": [{"message": node.reply}] if node.gave else None,
                "error": node.error,
            }
        )
    return "\n".join(map(json.dumps, rows))


def weave(nodes: list[Node]) -> str:
    kinds = {"agent": "agent", "model": "llm", "tool": "tool", "plain": "chain"}
    calls = []
    for node in nodes:
        summary: dict[str, Any] = {"weave": {"status": "error" if node.error else "success"}}
        if node.tokens:
            summary["usage"] = {
                "m": dict(zip(("prompt_tokens", "completion_tokens"), node.tokens, strict=True))
            }
        if node.cost is not None:
            summary["weave"]["costs"] = {"m": {"prompt_tokens_total_cost": node.cost}}
        calls.append(
            {
                "id": node.id,
                "op_name": f"weave:///e/p/op/{node.title}:1",
                "trace_id": "t",
                "parent_id": node.parent or None,
                "started_at": node.moment(0).isoformat(),
                "ended_at": node.moment(1).isoformat(),
                "exception": node.error,
                "attributes": {"weave": {"kind": kinds[node.kind]}},
                "inputs": node.inputs,
                "output": {"choices": [{"message": node.reply}]} if node.gave else None,
                "summary": summary,
            }
        )
    return "\n".join(map(json.dumps, calls))


def openai_agents(nodes: list[Node]) -> str:
    kinds = {"agent": "agent", "model": "generation", "tool": "function", "plain": "custom"}
    lines: list[dict[str, Any]] = [{"object": "trace", "id": "t", "workflow_name": "w"}]
    for node in nodes:
        data: dict[str, Any] = {"type": kinds[node.kind], "name": node.title}
        if node.kind == "model":
            data |= {"input": list(node.asked) or None, "output": [node.reply] if node.gave else None}
        if node.tokens:
            data["usage"] = dict(zip(("input_tokens", "output_tokens"), node.tokens, strict=True))
        lines.append(
            {
                "object": "trace.span",
                "id": node.id,
                "trace_id": "t",
                "parent_id": node.parent or None,
                "started_at": node.moment(0).isoformat(),
                "ended_at": node.moment(1).isoformat(),
                "span_data": data,
                "error": {"message": node.error} if node.error else None,
            }
        )
    return "\n".join(map(json.dumps, lines))


FORMATS: Final[Mapping[str, Callable[[list[Node]], str]]] = {
    "otel": otel,
    "langfuse": langfuse,
    "langsmith": langsmith,
    "mlflow": mlflow,
    "braintrust": braintrust,
    "weave": weave,
    "openai-agents": openai_agents,
}
PRICED: Final = tuple(name for name in FORMATS if name != "openai-agents")
"""Formats whose spans can have a cost."""


def put_trace(folder: Path, format: str, nodes: list[Node], name: str = "trace.jsonl") -> Path:
    """A file of the format with this trace."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(FORMATS[format](nodes), encoding="utf-8")
    return file
