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


def counted(node: Node, given: str, gave: str) -> dict[str, Any]:
    """The tokens of a node by these names, if it has some."""
    return dict(zip((given, gave), node.tokens, strict=True)) if node.tokens else {}


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def lines(records: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, records))


def times(node: Node, began: str, ended: str) -> dict[str, str]:
    return {began: node.moment(0).isoformat(), ended: node.moment(1).isoformat()}


def otel(nodes: list[Node]) -> str:
    kinds = {"agent": "invoke_agent", "model": "chat", "tool": "execute_tool"}
    spans = []
    for node in nodes:
        about = {
            "gen_ai.operation.name": kinds.get(node.kind),
            "gen_ai.input.messages": json.dumps(node.asked) if node.asked else None,
            "gen_ai.output.messages": json.dumps([node.reply]) if node.gave else None,
            "gen_ai.tool.name": node.title if node.kind == "tool" else None,
            "gen_ai.usage.cost": node.cost,
            **counted(node, "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
        }
        failed = {"status_code": "ERROR", "description": node.error}
        spans.append({
            "name": node.title, "context": {"trace_id": "0xt", "span_id": node.id},
            "parent_id": node.parent or None, **times(node, "start_time", "end_time"),
            "status": failed if node.error else {"status_code": "OK"}, "scope": {"name": node.maker},
            "attributes": present(about),
        })  # fmt: skip
    return lines(spans)


def langfuse(nodes: list[Node]) -> str:
    kinds = {"agent": "AGENT", "model": "GENERATION", "tool": "TOOL", "plain": "SPAN"}
    observed = []
    for node in nodes:
        observation: dict[str, Any] = {
            "id": node.id, "traceId": "t", "type": kinds[node.kind], "name": node.title,
            "level": "ERROR" if node.error else "DEFAULT", "statusMessage": node.error,
            "parentObservationId": node.parent or None, **times(node, "startTime", "endTime"),
            "input": list(node.asked) or None, "output": node.reply if node.gave else None,
        }  # fmt: skip
        if node.tokens:
            observation["usageDetails"] = counted(node, "input", "output")
        if node.cost is not None:
            observation["costDetails"] = {"total": node.cost}
        observed.append(observation)
    return json.dumps(observed)


def langsmith(nodes: list[Node]) -> str:
    kinds = {"agent": "chain", "model": "llm", "tool": "tool", "plain": "chain"}
    return lines([
        {
            "id": node.id, "trace_id": "t", "parent_run_id": node.parent or None, "name": node.title,
            "run_type": kinds[node.kind], "error": node.error, **times(node, "start_time", "end_time"),
            "inputs": node.inputs, "outputs": {"messages": [node.reply]} if node.gave else {},
            "total_cost": node.cost, **counted(node, "prompt_tokens", "completion_tokens"),
        }
        for node in nodes
    ])  # fmt: skip


def mlflow(nodes: list[Node]) -> str:
    kinds = {"agent": "AGENT", "model": "CHAT_MODEL", "tool": "TOOL", "plain": "CHAIN"}
    spans = []
    for node in nodes:
        counts = counted(node, "input_tokens", "output_tokens")
        about = {
            "mlflow.spanType": kinds[node.kind],
            "mlflow.spanInputs": node.inputs if node.asked else None,
            "mlflow.spanOutputs": {"choices": [{"message": node.reply}]} if node.gave else None,
            "mlflow.chat.tokenUsage": counts | {"total_tokens": sum(node.tokens)} if node.tokens else None,
            "mlflow.llm.cost": None if node.cost is None else {"total_cost": node.cost},
        }
        began, ended = (int(node.moment(place).timestamp() * 1e9) for place in (0, 1))
        status = {"code": f"STATUS_CODE_{'ERROR' if node.error else 'OK'}", "message": node.error}
        spans.append({
            "trace_id": "x", "span_id": node.id, "parent_span_id": node.parent or None, "name": node.title,
            "start_time_unix_nano": began, "end_time_unix_nano": ended, "status": status,
            "attributes": {name: json.dumps(value) for name, value in present(about).items()},
        })  # fmt: skip
    return json.dumps({"info": {"trace_id": "t", "trace_location": {}}, "data": {"spans": spans}})


def braintrust(nodes: list[Node]) -> str:
    kinds = {"agent": "task", "model": "llm", "tool": "tool", "plain": "function"}
    rows = []
    for node in nodes:
        spent = counted(node, "prompt_tokens", "completion_tokens") | present({"estimated_cost": node.cost})
        rows.append({
            "id": node.id, "span_id": node.id, "root_span_id": "t", "error": node.error,
            "span_parents": [node.parent] if node.parent else None,
            "span_attributes": {"name": node.title, "type": kinds[node.kind]},
            "metrics": {"start": node.moment(0).timestamp(), "end": node.moment(1).timestamp(), **spent},
            "input": list(node.asked) or None,
            "output": [{"message": node.reply}] if node.gave else None,
        })  # fmt: skip
    return lines(rows)


def weave(nodes: list[Node]) -> str:
    kinds = {"agent": "agent", "model": "llm", "tool": "tool", "plain": "chain"}
    calls = []
    for node in nodes:
        summary: dict[str, Any] = {"weave": {"status": "error" if node.error else "success"}}
        if node.tokens:
            summary["usage"] = {"m": counted(node, "prompt_tokens", "completion_tokens")}
        if node.cost is not None:
            summary["weave"]["costs"] = {"m": {"prompt_tokens_total_cost": node.cost}}
        calls.append({
            "id": node.id, "op_name": f"weave:///e/p/op/{node.title}:1", "trace_id": "t",
            "parent_id": node.parent or None, **times(node, "started_at", "ended_at"),
            "exception": node.error, "attributes": {"weave": {"kind": kinds[node.kind]}},
            "inputs": node.inputs, "summary": summary,
            "output": {"choices": [{"message": node.reply}]} if node.gave else None,
        })  # fmt: skip
    return lines(calls)


def openai_agents(nodes: list[Node]) -> str:
    kinds = {"agent": "agent", "model": "generation", "tool": "function", "plain": "custom"}
    spans: list[dict[str, Any]] = [{"object": "trace", "id": "t", "workflow_name": "w"}]
    for node in nodes:
        data: dict[str, Any] = {"type": kinds[node.kind], "name": node.title}
        if node.kind == "model":
            data |= {"input": list(node.asked) or None, "output": [node.reply] if node.gave else None}
        if node.tokens:
            data["usage"] = counted(node, "input_tokens", "output_tokens")
        spans.append({
            "object": "trace.span", "id": node.id, "trace_id": "t", "parent_id": node.parent or None,
            "span_data": data, "error": {"message": node.error} if node.error else None,
            **times(node, "started_at", "ended_at"),
        })  # fmt: skip
    return lines(spans)


FORMATS: Final[Mapping[str, Callable[[list[Node]], str]]] = {
    "otel": otel, "langfuse": langfuse, "langsmith": langsmith, "mlflow": mlflow, "braintrust": braintrust,
    "weave": weave, "openai-agents": openai_agents,
}  # fmt: skip
PRICED: Final = tuple(name for name in FORMATS if name != "openai-agents")
"""Formats whose spans can have a cost."""


def put_trace(folder: Path, format: str, nodes: list[Node], name: str = "trace.jsonl") -> Path:
    """A file of the format with this trace."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(FORMATS[format](nodes), encoding="utf-8")
    return file
