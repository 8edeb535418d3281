"""Records what the OpenAI Agents SDK exports: ``pip install openai-agents``.

One trace of the Chat Completions model (generation spans), one of the Responses model, whose spans hold an id
alone. The client answers from the script; nothing leaves this machine.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from agents import (
    Agent,
    GuardrailFunctionOutput,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    input_guardrail,
    set_trace_processors,
)
from agents.tracing.processor_interface import TracingExporter
from agents.tracing.processors import BatchTraceProcessor
from openai import AsyncOpenAI
from refund_desk import ANSWER, CALLS, INSTRUCTIONS, QUESTION, RECORDED, look_up, refund


class Lines(TracingExporter):
    """Writes what the SDK's own exporter would send, one item a line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def export(self, items: list[Any]) -> None:
        self.lines += [json.dumps(item.export()) for item in items]


def chat(request: httpx.Request) -> httpx.Response:
    """The completion whose turn it is."""
    turn = sum(message["role"] == "assistant" for message in json.loads(request.content)["messages"])
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    if turn < len(CALLS):
        tool, given = CALLS[turn]
        call = {"name": tool, "arguments": json.dumps(given)}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": call}],
        }
    body = {
        "id": f"chatcmpl-{turn}", "object": "chat.completion", "created": 1_760_000_000, "model": "gpt-x",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }  # fmt: skip
    return httpx.Response(200, json=body)


def respond(request: httpx.Request) -> httpx.Response:
    """The response whose turn it is."""
    given = json.loads(request.content)["input"]
    turn = 0 if isinstance(given, str) else sum(item.get("type") == "function_call" for item in given)
    if turn < len(CALLS):
        tool, arguments = CALLS[turn]
        item: dict[str, Any] = {
            "type": "function_call", "id": f"fc_{turn}", "call_id": f"call_{turn}", "name": tool,
            "arguments": json.dumps(arguments), "status": "completed",
        }  # fmt: skip
    else:
        said = {"type": "output_text", "text": ANSWER, "annotations": []}
        item = {
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said],
        }  # fmt: skip
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    body = {
        "id": f"resp_{turn}", "object": "response", "created_at": 1_760_000_000, "model": "gpt-x",
        "output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **details},
    }  # fmt: skip
    return httpx.Response(200, json=body)


@input_guardrail
def polite(*_: Any) -> GuardrailFunctionOutput:
    """Lets everything through."""
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)


@input_guardrail
def strict(*_: Any) -> GuardrailFunctionOutput:
    """Lets nothing through."""
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)


def client(answer: Any) -> AsyncOpenAI:
    """A client that is answered by a function."""
    return AsyncOpenAI(api_key="none", http_client=httpx.AsyncClient(transport=httpx.MockTransport(answer)))


async def main() -> None:
    """Runs the desk with each model, and once against a guardrail that stops it."""
    tools = [function_tool(look_up), function_tool(refund)]
    models = {
        "chat": OpenAIChatCompletionsModel("gpt-x", client(chat)),
        "responses": OpenAIResponsesModel("gpt-x", client(respond)),
    }
    for name, model in models.items():
        exporter = Lines()
        processor = BatchTraceProcessor(exporter)
        set_trace_processors([processor])
        desk = Agent(
            name="refund desk", instructions=INSTRUCTIONS, model=model, tools=tools, input_guardrails=[polite]
        )
        await Runner.run(desk, QUESTION)
        if name == "chat":
            stopped = desk.clone(name="closed desk", input_guardrails=[strict])
            try:
                await Runner.run(stopped, QUESTION)
            except Exception as error:
                print("stopped, as it should be:", type(error).__name__)
        processor.force_flush()
        (RECORDED / f"openai_agents_{name}.jsonl").write_text("\n".join(exporter.lines) + "\n")


asyncio.run(main())
