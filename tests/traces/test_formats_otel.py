"""OpenTelemetry: every shape of a span, both conventions, old and new names."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from foreign_files import codes, converted, told

from untaken.ledger import Message, Observation, Plan, Run, ToolCall
from untaken.traces import Conversion, sniff
from untaken.traces.otel_spans import attributes_of, unflattened

START = 1_760_000_000_000_000_000


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def span(number: int, name: str, parent: int | None = 1, **attributes: Any) -> dict[str, Any]:
    """An OTLP span; attribute names are written with ``__`` for a dot."""
    return {
        "traceId": "t1",
        "spanId": f"s{number}",
        "parentSpanId": f"s{parent}" if parent else "",
        "name": name,
        "startTimeUnixNano": str(START + number * 10**9),
        "endTimeUnixNano": str(START + number * 10**9 + 5 * 10**8),
        "status": {"code": 1},
        "attributes": [
            {"key": key.replace("__", "."), "value": typed(value)} for key, value in attributes.items()
        ],
    }


def otlp(*spans: dict[str, Any], **resource: str) -> dict[str, Any]:
    about = [{"key": key.replace("__", "."), "value": typed(value)} for key, value in resource.items()]
    return {"resourceSpans": [{"resource": {"attributes": about}, "scopeSpans": [{"spans": list(spans)}]}]}


AGENT = span(1, "invoke_agent", None, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="clerk")
CHAT = span(
    2,
    "chat m",
    gen_ai__operation__name="chat",
    gen_ai__request__model="m",
    gen_ai__input__messages=json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Go."}]}]),
    gen_ai__output__messages=json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": "I look."}]}]
    ),
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


def read(tmp_path: Path, *documents: Any, name: str = "t.jsonl") -> tuple[Conversion, list[Run]]:
    source = tmp_path / "in" / name
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("\n".join(json.dumps(each) for each in documents), encoding="utf-8")
    return converted("otel", tmp_path / "out", source)


@pytest.mark.parametrize("value", ["--5", "9" * 5_000, "-", "5.5", "x"])
def test_a_number_that_is_none_costs_itself_and_not_its_trace(value: str, tmp_path: Path) -> None:
    call = json.loads(json.dumps(CHAT).replace('{"intValue": "5"}', json.dumps({"intValue": value})))
    found, (run,) = read(tmp_path, otlp(AGENT, call, TOOL))
    assert told(run) == WANT
    assert "importer-failed" not in codes(found)


WANT = ([("user", "Go."), ("assistant", "I look.")], [("look", {"day": 1})], [("monday", True)])


def test_a_trace_is_a_run(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, otlp(AGENT, CHAT, TOOL))
    assert told(run) == WANT
    assert (run.agent, run.started.model, run.task_id) == ("clerk", "m", "t1")
    assert run.finished.metrics == {"input_tokens": 5.0, "output_tokens": 2.0}


def test_spans_of_one_trace_may_be_spread_over_lines_in_any_order(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, otlp(TOOL), otlp(CHAT), otlp(AGENT))
    assert told(run) == WANT


def test_a_dump_of_an_sdk_is_read(tmp_path: Path) -> None:
    dumped = [
        {
            "name": each["name"],
            "context": {"trace_id": "0xt1", "span_id": "0x" + each["spanId"]},
            "parent_id": "0x" + each["parentSpanId"] if each["parentSpanId"] else None,
            "start_time": f"2026-01-01T00:00:0{n}Z",
            "end_time": f"2026-01-01T00:00:0{n}.5Z",
            "status": {"status_code": "OK"},
            "attributes": attributes_of(each["attributes"]),
        }
        for n, each in enumerate((AGENT, CHAT, TOOL))
    ]
    _, (run,) = read(tmp_path, *dumped)
    assert told(run) == WANT


def test_openinference_is_read(tmp_path: Path) -> None:
    chat = span(
        2,
        "llm",
        openinference__span__kind="LLM",
        llm__model_name="m",
        llm__input_messages__0__message__role="user",
        llm__input_messages__0__message__content="Go.",
        llm__output_messages__0__message__role="assistant",
        llm__output_messages__0__message__content="I look.",
        llm__token_count__prompt=5,
        llm__cost__total=0.25,
    )
    tool = span(
        3,
        "look",
        openinference__span__kind="TOOL",
        tool__name="look",
        input__value='{"day": 1}',
        output__value="monday",
    )
    _, (run,) = read(
        tmp_path,
        otlp(span(1, "clerk", None, openinference__span__kind="AGENT"), chat, tool, service__name="desk"),
    )
    assert told(run) == WANT
    assert (run.agent, run.finished.cost) == ("desk", 0.25)


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


@pytest.mark.parametrize("table", [ROWS, COLUMNS])
def test_a_table_of_phoenix_is_read(tmp_path: Path, table: Any) -> None:
    assert sniff("spans.json", json.dumps(table).encode()) == "otel"
    _, (run,) = read(tmp_path, table)
    assert told(run) == WANT


def test_where_both_conventions_are_there_one_is_read_and_said(tmp_path: Path) -> None:
    both = {
        **TOOL,
        "attributes": [*TOOL["attributes"], {"key": "openinference.span.kind", "value": typed("LLM")}],
    }
    done, (run,) = read(tmp_path, otlp(AGENT, CHAT, both))
    assert told(run) == WANT
    assert "two-conventions" in codes(done)


PLANS = [
    # desc, attribute, first and second plan; the plans read
    ("a list", "gen_ai__plan", ('["look", "pay"]', '["pay"]')),
    ("text", "gen_ai__plan", ("1. look\n2. pay", "- pay")),
    ("a message of the conventions", "gen_ai__output__messages", ("1. look\n\n2. pay", "* pay")),
]


@pytest.mark.parametrize(("desc", "attribute", "plans"), PLANS, ids=[case[0] for case in PLANS])
def test_plan_spans_are_plans_however_they_are_written(
    tmp_path: Path, desc: str, attribute: str, plans: tuple[str, str]
) -> None:
    if "messages" in attribute:
        parts = [[{"type": "text", "content": plan}] for plan in plans]
        plans = tuple(json.dumps([{"role": "assistant", "parts": part}]) for part in parts)
    spans = [
        span(2 + i, "plan", 1, gen_ai__operation__name="plan", **{attribute: plan})
        for i, plan in enumerate(plans)
    ]
    _, (run,) = read(tmp_path, otlp(AGENT, *spans))
    assert [plan.sub_goals for plan in run.of(Plan)] == [["look", "pay"], ["pay"]]


@pytest.mark.parametrize(
    ("label", "score", "want"),
    [("pass", None, True), ("failed", None, False), (None, 1.0, True), (None, 0.4, None)],
)
def test_success_is_an_evaluation_of_that_name(
    tmp_path: Path, label: Any, score: Any, want: bool | None
) -> None:
    said = {
        "gen_ai.evaluation.name": "task_success",
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.score.value": score,
    }
    event = {
        "name": "gen_ai.evaluation.result",
        "attributes": [{"key": k, "value": typed(v)} for k, v in said.items() if v is not None],
    }
    _, (run,) = read(tmp_path, otlp({**AGENT, "events": [event]}))
    assert run.finished.success is want


def test_a_trace_that_names_its_task_can_be_compared(tmp_path: Path) -> None:
    _, (run,) = read(
        tmp_path, otlp(span(1, "agent", None, gen_ai__operation__name="invoke_agent", task__id="refund-1"))
    )
    assert run.task_id == "refund-1"


@pytest.mark.parametrize(
    "document", [otlp(AGENT), {"spans": [{"name": "chat", "context": {"trace_id": 1, "span_id": 2}}]}]
)
def test_it_is_recognised(document: dict[str, Any]) -> None:
    assert sniff("x.json", json.dumps(document).encode()) == "otel"


def test_numbered_attributes_become_a_list() -> None:
    flat = {
        "llm.input_messages.1.message.role": "b",
        "llm.input_messages.0.message.role": "a",
        "llm.input_messages.x": 1,
    }
    assert unflattened(flat, "llm.input_messages") == [{"message.role": "a"}, {"message.role": "b"}]


def renamed(value: Any) -> Any:
    """A request with the names of its fields as protobuf has them."""
    if isinstance(value, list):
        return [renamed(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("([A-Z])", lambda m: f"_{m[0].lower()}", k): renamed(v) for k, v in value.items()}


def of_jaeger(each: dict[str, Any]) -> dict[str, Any]:
    began, ended = (int(each[f"{name}TimeUnixNano"]) // 1000 for name in ("start", "end"))
    above = {"refType": "CHILD_OF", "traceID": each["traceId"], "spanID": each["parentSpanId"]}
    return {
        "traceID": each["traceId"],
        "spanID": each["spanId"],
        "operationName": each["name"],
        "references": [above] if each["parentSpanId"] else [],
        "startTime": began,
        "duration": ended - began,
        "tags": [{"key": a["key"], "value": next(iter(a["value"].values()))} for a in each["attributes"]],
        "processID": "p1",
    }


def nested(each: dict[str, Any], *below: dict[str, Any]) -> dict[str, Any]:
    """A span as the benchmark TRAIL writes it: it holds those below it, and says how long it took."""
    began = datetime.fromtimestamp(int(each["startTimeUnixNano"]) // 10**9, UTC)
    return {
        "trace_id": each["traceId"],
        "span_id": each["spanId"],
        "parent_span_id": each["parentSpanId"] or None,
        "span_name": each["name"],
        "timestamp": began.isoformat(),
        "duration": "PT0.5S",
        "status_code": "Ok",
        "span_attributes": {a["key"]: next(iter(a["value"].values())) for a in each["attributes"]},
        "child_spans": list(below),
    }


NESTED = {"trace_id": "t1", "spans": [nested(AGENT, nested(CHAT), nested(TOOL))]}
OTHER_SHAPES = {
    "spans in spans": NESTED,
    "a row with a trace as text": {"trace": json.dumps(NESTED), "labels": "{}"},
    "names of protobuf": renamed(otlp(AGENT, CHAT, TOOL)),
    "an answer of Tempo": {"batches": otlp(AGENT, CHAT, TOOL)["resourceSpans"]},
    "a newer answer of Tempo": {"trace": otlp(AGENT, CHAT, TOOL)},
    "Jaeger": {"data": [{"traceID": "t1", "spans": [of_jaeger(each) for each in (TOOL, AGENT, CHAT)]}]},
}


@pytest.mark.parametrize("shape", OTHER_SHAPES)
def test_a_trace_out_of_another_store_is_the_same_run(tmp_path: Path, shape: str) -> None:
    assert sniff("x.bin", json.dumps(OTHER_SHAPES[shape]).encode()) == "otel"
    _, (want,) = read(tmp_path / "a", otlp(AGENT, CHAT, TOOL))
    _, (run,) = read(tmp_path / "b", OTHER_SHAPES[shape])
    assert (run.started.agent, run.started.ts) == ("clerk", want.started.ts)
    assert [(m.role, m.content, m.ts) for m in run.of(Message)] == [
        (m.role, m.content, m.ts) for m in want.of(Message)
    ]
    assert [(c.tool, c.arguments, c.ts) for c in run.of(ToolCall)] == [
        (c.tool, c.arguments, c.ts) for c in want.of(ToolCall)
    ]


def test_a_failed_span_of_jaeger_failed(tmp_path: Path) -> None:
    failed = of_jaeger(TOOL)
    failed["tags"] += [{"key": "error", "value": True}]
    _, (run,) = read(tmp_path, {"data": [{"spans": [of_jaeger(AGENT), of_jaeger(CHAT), failed]}]})
    assert [o.ok for o in run.of(Observation)] == [False]


def logged(name: str, body: Any, on: str = "s2", **attributes: Any) -> dict[str, Any]:
    about = [{"key": key.replace("__", "."), "value": typed(value)} for key, value in attributes.items()]
    record = {"eventName": name, "traceId": "t1", "spanId": on, "body": body, "attributes": about}
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


def test_what_was_said_may_be_recorded_as_logs(tmp_path: Path) -> None:
    chat = span(2, "chat m", gen_ai__operation__name="chat", gen_ai__request__model="m")
    asked = {"kvlistValue": {"values": [{"key": "content", "value": typed("Go.")}]}}
    chosen = {"message": {"role": "assistant", "content": "Done."}}
    outcome = {"gen_ai__evaluation__name": "success", "gen_ai__evaluation__score__label": "fail"}
    records = [
        logged("gen_ai.user.message", asked),
        logged("gen_ai.choice", typed(json.dumps(chosen))),
        logged("gen_ai.evaluation.result", None, "", **outcome),
    ]
    _, (run,) = read(tmp_path, *records, otlp(AGENT, chat))
    assert [(m.role, m.content) for m in run.of(Message)] == [("user", "Go."), ("assistant", "Done.")]
    assert run.finished.success is False


def test_the_content_of_an_event_may_be_text_of_its_own(tmp_path: Path) -> None:
    chat = span(2, "chat m", gen_ai__operation__name="chat", gen_ai__request__model="m")
    said = {"gen_ai.user.message": {"role": "user", "content": "Go."},
            "gen_ai.choice": {"message": {"content": "Done."}}}  # fmt: skip
    chat["events"] = [
        {"name": name, "attributes": [{"key": "gen_ai.event.content", "value": typed(json.dumps(body))}]}
        for name, body in said.items()
    ]
    _, (run,) = read(tmp_path, otlp(AGENT, chat))
    assert [(m.role, m.content) for m in run.of(Message)] == [("user", "Go."), ("assistant", "Done.")]


def test_an_agent_without_a_name_has_that_of_its_span(tmp_path: Path) -> None:
    _, (run,) = read(tmp_path, otlp(span(1, "desk", None, openinference__span__kind="AGENT")))
    assert run.started.agent == "desk"


@pytest.mark.parametrize(("written", "want"), [("[]", []), ("{}", []), ('{"answer": 3}', ['{"answer": 3}'])])
def test_a_model_that_gave_nothing_said_nothing(tmp_path: Path, written: str, want: list[str]) -> None:
    chat = span(2, "chat m", gen_ai__operation__name="chat", gen_ai__output__messages=written)
    _, (run,) = read(tmp_path, otlp(AGENT, chat))
    assert [m.content for m in run.of(Message)] == want


@pytest.mark.parametrize(("status", "ok"), [("error", False), ("success", True)])
def test_what_langchain_wrote_of_a_tool_is_its_arguments_and_its_answer(
    tmp_path: Path, status: str, ok: bool
) -> None:
    answer = {"type": "tool", "content": "monday", "tool_call_id": "c1", "status": status}
    tool = span(3, "look", openinference__span__kind="TOOL", tool__name="look", input__value="{'day': 1}",
                output__value=json.dumps(answer))  # fmt: skip
    _, (run,) = read(tmp_path, otlp(AGENT, CHAT, tool))
    assert [(c.tool, c.arguments) for c in run.of(ToolCall)] == [("look", {"day": 1})]
    assert [(o.content, o.ok) for o in run.of(Observation)] == [("monday", ok)]


@pytest.mark.parametrize("name", ["gen_ai__tool__status", "tool__status"])
def test_a_tool_may_say_its_status_itself(tmp_path: Path, name: str) -> None:
    tool = span(3, "t", gen_ai__operation__name="execute_tool", gen_ai__tool__name="look", **{name: "error"})
    tool["status"] = {}
    _, (run,) = read(tmp_path, otlp(AGENT, CHAT, tool))
    assert [o.ok for o in run.of(Observation)] == [False]
