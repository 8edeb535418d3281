"""OpenTelemetry: every shape of a span, both conventions, old and new names."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from foreign_files import lines
from reading import Case, case, each, read, shapes

from untaken.ledger import Message, ToolCall
from untaken.traces import sniff
from untaken.traces.otel_spans import attributes_of, unflattened

START = 1_760_000_000_000_000_000


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def attributes(**values: Any) -> list[dict[str, Any]]:
    """Attributes as OTLP writes them; in their names, ``__`` is a dot."""
    return [{"key": key.replace("__", "."), "value": typed(value)} for key, value in values.items()]


def span(number: int, name: str, parent: int | None = 1, **about: Any) -> dict[str, Any]:
    """An OTLP span with these attributes."""
    began = START + number * 10**9
    return {
        "traceId": "t1", "spanId": f"s{number}", "parentSpanId": f"s{parent}" if parent else "",
        "startTimeUnixNano": str(began), "endTimeUnixNano": str(began + 5 * 10**8), "name": name,
        "status": {"code": 1}, "attributes": attributes(**about),
    }  # fmt: skip


def otlp(*spans: dict[str, Any], **resource: str) -> dict[str, Any]:
    about = {"attributes": attributes(**resource)}
    return {"resourceSpans": [{"resource": about, "scopeSpans": [{"spans": list(spans)}]}]}


def agent(**about: Any) -> dict[str, Any]:
    return span(1, "agent", None, gen_ai__operation__name="invoke_agent", **about)


def chat(**about: Any) -> dict[str, Any]:
    return span(2, "chat m", gen_ai__operation__name="chat", gen_ai__request__model="m", **about)


def parts(role: str, words: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": words}]}])


AGENT = agent(gen_ai__agent__name="clerk")
CHAT = chat(
    gen_ai__input__messages=parts("user", "Go."),
    gen_ai__output__messages=parts("assistant", "I look."),
    gen_ai__usage__input_tokens=5,
    gen_ai__usage__output_tokens=2,
)
TOOL = span(
    3,
    "execute_tool look",
    gen_ai__operation__name="execute_tool",
    gen_ai__tool__name="look",
    gen_ai__tool__call__arguments='{"day": 1}',
    gen_ai__tool__call__result="monday",
)
SPANS = (AGENT, CHAT, TOOL)
SAME = {
    "said": [("user", "Go."), ("assistant", "I look.")],
    "calls": [("look", {"day": 1})],
    "answers": [("monday", True)],
}


def dumped(number: int, each: dict[str, Any]) -> dict[str, Any]:
    """A span as an SDK dumps it."""
    parent = "0x" + each["parentSpanId"] if each["parentSpanId"] else None
    at = f"2026-01-01T00:00:0{number}"
    return {
        "name": each["name"], "context": {"trace_id": "0xt1", "span_id": "0x" + each["spanId"]},
        "parent_id": parent, "start_time": f"{at}Z", "end_time": f"{at}.5Z", "status": {"status_code": "OK"},
        "attributes": attributes_of(each["attributes"]),
    }  # fmt: skip


MODEL = span(
    2, "llm", openinference__span__kind="LLM", llm__model_name="m", llm__token_count__prompt=5,
    llm__input_messages__0__message__role="user", llm__input_messages__0__message__content="Go.",
    llm__output_messages__0__message__role="assistant", llm__cost__total=0.25,
    llm__output_messages__0__message__content="I look.",
)  # fmt: skip
CLERK = span(1, "clerk", None, openinference__span__kind="AGENT")


def looked(given: str = '{"day": 1}', gave: str = "monday") -> dict[str, Any]:
    about = {"openinference__span__kind": "TOOL", "tool__name": "look"}
    return span(3, "look", **about, input__value=given, output__value=gave)


ROW = {"context.trace_id": "t1", "status_message": "", "end_time": None}
ROWS: list[dict[str, Any]] = [
    {**ROW, "context.span_id": "s1", "parent_id": None, "name": "clerk", "span_kind": "AGENT",
     "start_time": "2026-01-01T00:00:00+00:00"},
    {**ROW, "context.span_id": "s2", "parent_id": "s1", "name": "llm", "span_kind": "LLM",
     "start_time": "2026-01-01T00:00:01+00:00",
     "attributes.llm.input_messages": [{"message.role": "user", "message.content": "Go."}],
     "attributes.llm.output_messages": [{"message": {"role": "assistant", "content": "I look."}}]},
    {**ROW, "context.span_id": "s3", "parent_id": "s1", "name": "look", "span_kind": "TOOL",
     "start_time": "2026-01-01T00:00:02+00:00", "status_code": "OK",
     "attributes.tool.name": "look", "attributes.input.value": '{"day": 1}',
     "attributes.output.value": "monday"},
]  # fmt: skip
COLUMNS = {name: {str(n): row.get(name) for n, row in enumerate(ROWS)} for row in ROWS for name in row}
BOTH = {**TOOL, "attributes": [*TOOL["attributes"], *attributes(openinference__span__kind="LLM")]}


def renamed(value: Any) -> Any:
    """A request with the names of its fields as protobuf has them."""
    if isinstance(value, list):
        return [renamed(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("([A-Z])", lambda m: f"_{m[0].lower()}", k): renamed(v) for k, v in value.items()}


def values(each: dict[str, Any]) -> dict[str, Any]:
    return {a["key"]: next(iter(a["value"].values())) for a in each["attributes"]}


def of_jaeger(each: dict[str, Any]) -> dict[str, Any]:
    began, ended = (int(each[f"{name}TimeUnixNano"]) // 1000 for name in ("start", "end"))
    above = {"refType": "CHILD_OF", "traceID": each["traceId"], "spanID": each["parentSpanId"]}
    return {
        "traceID": each["traceId"], "spanID": each["spanId"], "operationName": each["name"],
        "references": [above] if each["parentSpanId"] else [], "processID": "p1", "startTime": began,
        "duration": ended - began,
        "tags": [{"key": key, "value": value} for key, value in values(each).items()],
    }  # fmt: skip


def nested(each: dict[str, Any], *below: dict[str, Any]) -> dict[str, Any]:
    """A span as the benchmark TRAIL writes it: it holds those below it, and says how long it took."""
    began = datetime.fromtimestamp(int(each["startTimeUnixNano"]) // 10**9, UTC)
    ids = {"trace_id": each["traceId"], "span_id": each["spanId"]}
    times = {"timestamp": began.isoformat(), "duration": "PT0.5S", "status_code": "Ok"}
    about = {"span_name": each["name"], "span_attributes": values(each), "child_spans": list(below)}
    return {**ids, "parent_span_id": each["parentSpanId"] or None, **times, **about}


NESTED = {"trace_id": "t1", "spans": [nested(AGENT, nested(CHAT), nested(TOOL))]}
STORES = {
    "spans in spans": NESTED,
    "a row with a trace as text": {"trace": json.dumps(NESTED), "labels": "{}"},
    "names of protobuf": renamed(otlp(*SPANS)),
    "an answer of Tempo": {"batches": otlp(*SPANS)["resourceSpans"]},
    "a newer answer of Tempo": {"trace": otlp(*SPANS)},
    "Jaeger": {"data": [{"traceID": "t1", "spans": [of_jaeger(each) for each in (TOOL, AGENT, CHAT)]}]},
}
PLANS = {
    "a list": ("gen_ai__plan", ('["look", "pay"]', '["pay"]')),
    "text": ("gen_ai__plan", ("1. look\n2. pay", "- pay")),
    "a message of the conventions": (
        "gen_ai__output__messages", (parts("assistant", "1. look\n\n2. pay"), parts("assistant", "* pay"))),
}  # fmt: skip


def planned(attribute: str, plans: tuple[str, str]) -> dict[str, Any]:
    said = ({"gen_ai__operation__name": "plan", attribute: plan} for plan in plans)
    return otlp(AGENT, *(span(number, "plan", 1, **about) for number, about in enumerate(said, 2)))


def judged(**said: Any) -> dict[str, Any]:
    about = {f"gen_ai__evaluation__{name}": value for name, value in said.items()}
    result = {"name": "gen_ai.evaluation.result", "attributes": attributes(**about)}
    return otlp({**AGENT, "events": [result]})


FAILED = of_jaeger(TOOL)
FAILED["tags"] += [{"key": "error", "value": True}]


def logged(name: str, body: Any, on: str = "s2", **about: Any) -> dict[str, Any]:
    record = {
        "eventName": name, "traceId": "t1", "spanId": on, "body": body, "attributes": attributes(**about),
    }  # fmt: skip
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


OUTCOME = {"gen_ai__evaluation__name": "success", "gen_ai__evaluation__score__label": "fail"}
CHOSEN = {"message": {"role": "assistant", "content": "Done."}}
LOGS = [
    logged("gen_ai.user.message", {"kvlistValue": {"values": attributes(content="Go.")}}),
    logged("gen_ai.choice", typed(json.dumps(CHOSEN))),
    logged("gen_ai.evaluation.result", None, "", **OUTCOME),
]
SPOKEN = {"gen_ai.user.message": {"role": "user", "content": "Go."}, "gen_ai.choice": CHOSEN}
EVENTS = [
    {"name": name, "attributes": attributes(gen_ai__event__content=json.dumps(body))}
    for name, body in SPOKEN.items()
]
SAID_OF = {"prompt": {"role": "user", "content": "Go."}, "completion": CHOSEN["message"]}
DETAILS = [
    {
        "name": f"gen_ai.content.{name}",
        "attributes": [{"key": f"gen_ai.{name}", "value": typed(json.dumps([said]))}],
    }
    for name, said in SAID_OF.items()
]
ANSWER = {"type": "tool", "content": "monday", "tool_call_id": "c1"}
STATUSES = [
    {**span(3, "t", gen_ai__operation__name="execute_tool", gen_ai__tool__name="look", **{name: "error"}),
     "status": {}} for name in ("gen_ai__tool__status", "tool__status")
]  # fmt: skip
NO_NUMBERS = ["--5", "9" * 5_000, "-", "5.5", "x"]
DONE = [("user", "Go."), ("assistant", "Done.")]
CASES = [
    case("a trace is a run", otlp(*SPANS), agent="clerk", model="m", task="t1",
         metrics={"input_tokens": 5.0, "output_tokens": 2.0}, **SAME),
    *(case(f"a number that is none costs itself and not its trace: {value[:9]}",
           json.dumps(otlp(*SPANS)).replace('{"intValue": "5"}', json.dumps({"intValue": value})),
           missing={"importer-failed"}, **SAME) for value in NO_NUMBERS),
    case("spans in lines, in any order", lines(otlp(TOOL), otlp(CHAT), otlp(AGENT)), **SAME),
    case("a dump of an SDK", lines(*(dumped(n, each) for n, each in enumerate(SPANS))), **SAME),
    case("OpenInference", otlp(CLERK, MODEL, looked(), service__name="desk"), agent="desk", cost=0.25,
         **SAME),
    case("a table of Phoenix", ROWS, **SAME),
    case("a table of Phoenix by column", COLUMNS, **SAME),
    *shapes(STORES, agent="clerk", said=SAME["said"], calls=SAME["calls"], seen=["monday"]),
    case("where both conventions are there one is read and said", otlp(AGENT, CHAT, BOTH),
         found={"two-conventions"}, **SAME),
    *(case(f"plans as {desc}", planned(*plan), plans=[["look", "pay"], ["pay"]])
      for desc, plan in PLANS.items()),
    *(case(f"an evaluation with {said} as the outcome", judged(name="task_success", **said), success=want)
      for said, want in (({"score__label": "pass"}, True), ({"score__label": "failed"}, False),
                         ({"score__value": 1.0}, True), ({"score__value": 0.4}, None))),
    case("a trace that names its task can be compared", otlp(agent(task__id="refund-1")), task="refund-1"),
    case("an agent without a name has that of its span", otlp(CLERK), agent="clerk"),
    case("a failed span of Jaeger", {"data": [{"spans": [of_jaeger(AGENT), of_jaeger(CHAT), FAILED]}]},
         ok=[False]),
    case("what was said may be recorded as logs", lines(*LOGS, otlp(AGENT, chat())), said=DONE,
         success=False),
    case("the content of an event may be text of its own", otlp(AGENT, {**chat(), "events": EVENTS}),
         said=DONE),
    case("events may give details of a call", otlp(AGENT, {**chat(), "events": DETAILS}), said=DONE),
    *(case(f"a model that gave {gave}", otlp(AGENT, chat(gen_ai__output__messages=gave)), words=want)
      for gave, want in (("[]", []), ("{}", []), ('{"answer": 3}', ['{"answer": 3}']))),
    *(case(f"what LangChain wrote of a tool with {status}",
           otlp(AGENT, CHAT, looked("{'day': 1}", json.dumps({**ANSWER, "status": status}))),
           calls=[("look", {"day": 1})], answers=[("monday", ok)])
      for status, ok in (("error", False), ("success", True))),
    *(case(f"a tool may say its status itself: {number}", otlp(AGENT, CHAT, tool), ok=[False])
      for number, tool in enumerate(STATUSES)),
]  # fmt: skip


@each(CASES)
def test_a_trace_of_opentelemetry_is_read(tmp_path: Path, case: Case) -> None:
    case.holds("otel", tmp_path, sniffed=not isinstance(case.content, str))


@pytest.mark.parametrize("store", STORES)
def test_a_trace_out_of_another_store_has_the_same_times(tmp_path: Path, store: str) -> None:
    (_, (want,)), (_, (run,)) = (
        read(tmp_path / name, "otel", content)
        for name, content in (("a", otlp(*SPANS)), ("b", STORES[store]))
    )
    assert run.started.ts == want.started.ts
    for kind in (Message, ToolCall):
        assert [each.ts for each in run.of(kind)] == [each.ts for each in want.of(kind)]


def test_ids_that_are_numbers_are_recognised() -> None:
    document = {"spans": [{"name": "chat", "context": {"trace_id": 1, "span_id": 2}}]}
    assert sniff("x.json", json.dumps(document).encode()) == "otel"


def test_numbered_attributes_become_a_list() -> None:
    known = {f"llm.input_messages.{n}.message.role": role for n, role in ((1, "b"), (0, "a"))}
    flat = {**known, "llm.input_messages.x": 1}
    assert unflattened(flat, "llm.input_messages") == [{"message.role": "a"}, {"message.role": "b"}]
