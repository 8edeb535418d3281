"""What each span of a trace is, by either convention, and what was spent in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from untaken.traces.messages import asked, replied
from untaken.traces.otel_spans import Span
from untaken.traces.readings import mapping, objects, parsed, text
from untaken.traces.spending import Amounts

INPUTS: Final = (
    *("gen_ai.input.messages", "gen_ai.prompt", "llm.input_messages", "ai.prompt.messages"),
    *("gcp.vertex.agent.llm_request", "langfuse.observation.input", "ai.prompt"),
)
OUTPUTS: Final = (
    *("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages", "gcp.vertex.agent.llm_response"),
    *("langfuse.observation.output", "gen_ai.output"),
)
SDK_REPLY: Final = {
    "ai.response.object": "content",
    "ai.response.text": "content",
    "ai.response.reasoning": "reasoning_content",
    "ai.response.toolCalls": "toolCalls",
}
"""Parts of a reply as the AI SDK names them, and as a message does."""
CHOICE: Final = "choice"
DETAILS: Final = (
    *("gen_ai.client.inference.operation.details", "gen_ai.content.prompt", "gen_ai.content.completion"),
)
"""Events whose attributes are those of the span."""
_NOTHING: Final[tuple[Any, ...]] = (None, "", "[]", "{}", "null", [], {})

Kind = Literal["model", "tool", "agent", "plan", "grader", "frame", "other"]
KnownSpans = Sequence[tuple[Span, Kind]]
"""The spans of a trace, each with what it is; a frame is a model's span around that of the call itself."""

OPERATIONS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "call_llm", "completion"), "model"),
    "execute_tool": "tool",
    **dict.fromkeys(("invoke_agent", "create_agent", "invoke_workflow"), "agent"),
    **dict.fromkeys(("evaluate", "evaluation"), "grader"),
    "plan": "plan",
}
KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("llm", "chat", "completion", "generation"), "model"),
    "tool": "tool",
    **dict.fromkeys(("agent", "workflow"), "agent"),
    "evaluator": "grader",
}
"""Kinds of OpenInference, OpenLLMetry and Langfuse."""
UNSPECIFIC: Final = frozenset(("chain", "span", "task", "unknown", "internal", "other"))
"""Kinds that say nothing: what the span is, its other attributes may say."""
KIND_NAMES: Final = (
    *("openinference.span.kind", "traceloop.span.kind", "llm.request.type", "langfuse.observation.type"),
)
EVALUATED: Final = "gen_ai.evaluation.name"
EVALUATION: Final = "gen_ai.evaluation.result"
JUDGING: Final = re.compile(r"eval|judg|grad|scor", re.IGNORECASE)
SDK_MODELS: Final = (".doGenerate", ".doStream")
"""How the AI SDK ends the names of the operations that call a model."""
SDK_PLAIN: Final = ("ai.embed", "ai.rerank")
"""How it begins those of what no agent does."""
MODEL_NAMES: Final = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id")
AGENT_NAMES: Final = (
    *("gen_ai.agent.name", "agent.name", "agent_name", "graph.node.id"),
    *("ai.telemetry.functionId", "traceloop.workflow.name", "traceloop.entity.name"),
)
TOOL_NAMES: Final = (
    *("gen_ai.tool.name", "tool.name", "tool_call.function.name", "ai.toolCall.name"),
    "traceloop.entity.name",
)
TOOL_IDS: Final = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
TOOL_OUTPUTS: Final = (
    *("gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "gcp.vertex.agent.tool_response"),
    *("traceloop.entity.output", "langfuse.observation.output", "gen_ai.output", "output.value"),
)
TOKENS: Final = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output_tokens": (
        *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    ),
    "cached_tokens": (
        *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
        *("gen_ai.usage.details.cache_read_tokens", "gen_ai.usage.input_tokens.cached"),
        "llm.token_count.prompt_details.cache_read",
    ),
    "cache_creation_tokens": (
        *("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
        *("gen_ai.usage.details.cache_write_tokens", "llm.token_count.prompt_details.cache_write"),
    ),
    "reasoning_tokens": (
        *("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
        *("gen_ai.usage.details.reasoning_tokens", "gen_ai.usage.output_tokens.reasoning"),
        "llm.token_count.completion_details.reasoning",
    ),
    "total_tokens": ("gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total"),
}
"""By both conventions input includes cached tokens, and output reasoning; a total says where it does not."""
COSTS: Final = (
    ("gen_ai.usage.cost", "llm.cost.total", "operation.cost"),
    ("gen_ai.usage.input_cost", "llm.cost.prompt"),
    ("gen_ai.usage.output_cost", "llm.cost.completion"),
)


def kind_of(span: Span) -> Kind:
    """What a span is by itself."""
    operation = text(span.attributes.get("gen_ai.operation.name"))
    if operation is not None:
        return OPERATIONS.get(operation, "other")  # the convention of today has the last word
    kind = (text(span.first(*KIND_NAMES)) or "unknown").lower()
    if kind not in UNSPECIFIC:
        return KINDS.get(kind, "other")
    sdk = text(span.first("ai.operationId"))
    if sdk is not None:
        if sdk.startswith(SDK_PLAIN):
            return "other"
        return "tool" if sdk == "ai.toolCall" else "model" if sdk.endswith(SDK_MODELS) else "agent"
    if span.first("gen_ai.tool.name", "tool.name") is not None or span.name.startswith("execute_tool "):
        return "tool"
    if span.first(*KIND_NAMES) is not None:  # it says that it is a plain one
        return "other"
    if span.first(*MODEL_NAMES) is not None:
        return "model"
    return "agent" if span.first(*AGENT_NAMES) is not None else "other"


def usage_attributes(used: Amounts) -> dict[str, float]:
    """What was used, as attributes of a span that another format is read as."""
    return {COSTS[0][0] if figure == "cost" else TOKENS[figure][0]: value for figure, value in used.items()}


def spoken_attributes(kind: str, given: Any, gave: Any) -> dict[str, Any]:
    """What a span is, was given and gave, likewise; `kind` as Langfuse calls it.

    A text is written as JSON, as tracers do: one that is JSON itself is no object.
    """
    spoken = {"langfuse.observation.input": given, "langfuse.observation.output": gave}
    texts = {name: json.dumps(value) for name, value in spoken.items() if value and isinstance(value, str)}
    return {"langfuse.observation.type": kind, **spoken, **texts}


def speaks(span: Span) -> bool:
    """Whether a span has what was said to a model or by it."""
    values = (_value(span, name) for name in (*INPUTS, *OUTPUTS, *SDK_REPLY, "input.value", "output.value"))
    return any(value not in _NOTHING for value in values) or any(_events(span))


def span_inputs(span: Span) -> list[dict[str, Any]]:
    """The messages that the model of a span was called with."""
    instructions = parsed(_value(span, "gen_ai.system_instructions"))
    system = [{"role": "system", "content": instructions}] if instructions else []
    found = asked(parsed(_value(span, *INPUTS))) or [each for role, each in _events(span) if role != CHOICE]
    return [*system, *(found or asked(parsed(span.first("input.value"))))]


def span_outputs(span: Span) -> list[dict[str, Any]]:
    """The messages that the model of a span gave."""
    written = _value(span, *OUTPUTS)
    given = parsed(written)
    called = [each for each in objects(given) if text(each.get("tool.name"))]
    calls = [{"name": call["tool.name"], "arguments": call.get("tool.args")} for call in called]
    reply = {key: parsed(value) for name, key in SDK_REPLY.items() if (value := span.first(name))}
    if calls or reply:
        return [{"role": "assistant", "content": None, "tool_calls": calls, **reply}]
    found = replied(given) or [each for role, each in _events(span) if role == CHOICE]
    return found or replied(parsed(span.first("output.value"))) or replied(written if given else None)


def tool_event(span: Span, name: str, key: str) -> Any:
    """What an event of a tool's span says: its arguments, or its result."""
    return next((attributes.get(key) for event, attributes in span.events if event == name), None)


def _value(span: Span, *names: str) -> Any:
    """An attribute of the span, or of an event that gives its details."""
    own = span.first(*names)
    details = (attributes for event, attributes in span.events if event in DETAILS)
    return own if own is not None else next((e[n] for e in details for n in names if e.get(n)), None)


def _events(span: Span) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of a span that are messages: what each is, and the message."""
    written = [(text(e.get("event.name")) or "", e) for e in objects(parsed(span.first("events")))]
    for name, attributes in (*span.events, *written):
        # Some put all into one.
        body = {**attributes, **mapping(parsed(attributes.get("gen_ai.event.content")))}
        match name.split("."):
            case ["gen_ai", role, "message"]:
                yield role, {"role": role, "tool_call_id": body.get("id"), **_message(body)}
            case ["gen_ai", role] if role == CHOICE:
                message = parsed(body.get("message"))
                reply = mapping(message) or {**body, "content": message or body.get("content")}
                # Whatever it says: a choice is the model's.
                yield role, {**_message(reply), "role": "assistant"}


def _message(body: Mapping[str, Any]) -> dict[str, Any]:
    return {**mapping(body), "content": parsed(body.get("content"))}
