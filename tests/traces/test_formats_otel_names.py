"""OpenTelemetry as each instrumentation writes it: other names for the same question, call and answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from foreign_files import RECORDED, lines
from reading import Case, case, each, read, shapes

from untaken.traces.message_transcript import MessageTranscript

Names = Mapping[str, Any]
WEATHER = {"city": "Oslo"}
QUESTION, REPLY = "How is the weather?", "It rains."


def span(number: int, attributes: Names, *, parent: int | None = 1, **more: Any) -> dict[str, Any]:
    """A span as the SDK's exporter dumps it."""
    return {
        "name": f"span {number}", "context": {"trace_id": "0xa1", "span_id": f"0x{number}"},
        "parent_id": f"0x{parent}" if parent else None, "start_time": 1_760_000_000 + number,
        "end_time": 1_760_000_000.5 + number, "status": {"status_code": "UNSET"},
        "attributes": dict(attributes), "events": [], **more,
    }  # fmt: skip


def parts(role: str, *parts: Names) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


ASKED = [parts("user", said(QUESTION))]
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather"}

DIALECTS = json.loads((RECORDED / "otel_dialects.json").read_text("utf-8"))
"""Spans of a question, a call, its answer and a reply, by who wrote them."""
SAID = [("user", QUESTION), ("assistant", REPLY)]
YES = json.dumps([parts("assistant", said("Yes."))])
LATER = [*ASKED, parts("assistant", said("Yes.")), parts("user", said("And now?"))]
REPLIES = {
    "a completion of LlamaIndex": {"text": REPLY, "additional_kwargs": {}},
    "a completion of a text model": {"choices": [{"text": REPLY, "index": 0, "finish_reason": "stop"}]},
    "a completion of Ollama": {"model": "m", "response": REPLY, "done": True},
}
MODEL = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
PROMPT = json.dumps({"prompt": QUESTION})
USAGE = CHAT | {"gen_ai.usage.input_tokens": 5, "gen_ai.usage.cost": 0.5}
PAGE = span(1, {"http.request.method": "GET"}, context={"trace_id": "0xb", "span_id": "0x1"})
ALONE = [
    {"gen_ai.operation.name": "create_agent"},
    {"ai.operationId": "ai.embed.doEmbed", "ai.model.id": "e"},
]
ENTITIES = {f"attributes.entity.{n}.{what}" for n, what in ((1, "type"), (2, "type"), (1, "name"))}
CASES = [
    *shapes({who: lines(*spans) for who, spans in DIALECTS.items()}, agent="desk", model="m", said=SAID,
            calls=[("weather", WEATHER)], seen=["rain"]),
    case("a later question is there and what is repeated comes once",
         lines(*(span(n, CHAT | {"gen_ai.output.messages": YES, "gen_ai.input.messages": json.dumps(asked)},
                      parent=None) for n, asked in ((1, ASKED), (2, LATER)))),
         words=[QUESTION, "Yes.", "And now?", "Yes."]),
    *(case(f"a task that is a {status} as its call's",
           lines(span(1, {"gen_ai.operation.name": "invoke_agent"}, parent=None),
                 span(2, TOOL | {"gen_ai.task.status": status, "gen_ai.tool.call.result": "rain"})), ok=[ok])
      for status, ok in (("success", True), ("failure", False), ("running", None))),
    *(case(form,
           lines(span(1, {**MODEL, "input.value": PROMPT, "output.value": json.dumps(gave)}, parent=None)),
           said=SAID) for form, gave in REPLIES.items()),
    case("a model inside of a model counts once", lines(span(1, USAGE, parent=None), span(2, USAGE)),
         steps=1, cost=0.5, metrics={"input_tokens": 5.0}),
    case("traces of other programs are left out and counted", lines(PAGE, span(1, CHAT)), run="otel/a1",
         found={"not-of-an-agent"}),
    *(case(f"a trace in which no agent does anything is no run: {about}",
           lines(span(1, about, parent=None, context=PAGE["context"]), span(1, CHAT, parent=None)),
           run="otel/a1")
      for about in ALONE),
    case("what is left of Monocle's events is dropped and its tokens count", DIALECTS["monocle"],
         metrics={"input_tokens": 3.0, "output_tokens": 2.0}, dropped=ENTITIES),
    case("what is not read is counted as dropped", lines(span(1, CHAT | {"http.url": "x"}, links=[{"a": 1}])),
         dropped={"attributes.http.url", "links[].a"}),
]  # fmt: skip


@each(CASES)
def test_spans_of_every_instrumentation_are_read(tmp_path: Path, case: Case) -> None:
    case.holds("otel", tmp_path, sniffed=True)


def test_replies_of_a_long_trace_take_linear_time() -> None:
    def cost(replies: int) -> float:
        transcript = MessageTranscript(calls=True)
        said = [[{"role": "assistant", "content": str(number)}] for number in range(replies)]
        start = process_time()
        assert sum(len(list(transcript.reply(each, None))) for each in said) == replies
        return process_time() - start

    assert cost(40_000) < 8 * cost(10_000)


@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
def test_a_time_is_read_whatever_its_unit(tmp_path: Path, unit: int) -> None:
    timed = span(1, CHAT, start_time=1_760_000_001 * unit, end_time=str(1_760_000_002 * unit))
    _, (run,) = read(tmp_path, "otel", lines(timed))
    assert run.started.ts.isoformat() == "2025-10-09T08:53:21+00:00"
    assert run.events[-1].ts.isoformat() == "2025-10-09T08:53:22+00:00"


def listed(second: int, kind: str, name: str, **more: Any) -> dict[str, Any]:
    """A span as DeepEval keeps it, in a list for each kind."""
    times = {"startTime": f"2026-01-01T00:00:0{second}Z", "endTime": f"2026-01-01T00:00:0{second}.5Z"}
    about = {"uuid": f"s{second}", "parentUuid": "s1", "type": kind, "name": name, "status": "SUCCESS"}
    return {**about, **times, **more}


def called(second: int, output: str, tokens: int, given: int) -> dict[str, Any]:
    asked = {"model": "m", "input": [{"role": "user", "content": "Go."}], "output": output}
    return listed(second, "llm", "call", **asked, inputTokenCount=tokens, outputTokenCount=given)


DEEPEVAL: dict[str, Any] = {
    "uuid": "t1", "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:09Z", "input": "Go.",
    "tags": ["x"], "baseSpans": [], "agentSpans": [listed(1, "agent", "clerk", parentUuid=None)],
    "llmSpans": [called(2, "I look.", 5, 2), called(5, "Done.", 7, 1)],
    "toolSpans": [listed(3, "tool", "look", input={"day": 1}, output="monday"),
        listed(4, "tool", "find", input={"day": 2}, status="ERRORED", error="no such day")],
}  # fmt: skip
BOOK = {"name": "book", "input": "Go.", "actualOutput": "Done.", "trace": DEEPEVAL}
TESTED = [
    case("a trace", DEEPEVAL, agent="clerk", model="m", success=None,
         said=[("user", "Go."), ("assistant", "I look."), ("assistant", "Done.")],
         calls=[("look", {"day": 1}), ("find", {"day": 2})],
         answers=[("monday", True), ("no such day", False)],
         metrics={"input_tokens": 12.0, "output_tokens": 3.0}, dropped={"tags[]"}),
    *(case(f"a case of a run of tests with success {passed} names the task and says how it ended",
           {"testCases": [{**BOOK, "success": passed}], "testPassed": 1}, task="book", success=passed,
           drops={"test_case.input", "test_case.actualOutput"}) for passed in (True, False)),
]  # fmt: skip


@each(TESTED)
def test_a_trace_of_deepeval_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("otel", tmp_path, sniffed=True)
