"""Spans in rows and flat lists: each tool names the columns its own way, and the run is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reading import case, read
from trace_pieces import DONE, GO

from untaken.traces import recognise, sample_of

ASKED = {
    "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": json.dumps([GO]),
    "gen_ai.output.messages": json.dumps([DONE]), "gen_ai.usage.input_tokens": 5,
    "gen_ai.usage.output_tokens": 2,
}  # fmt: skip
SPANS: list[tuple[str, str | None, str, dict[str, Any]]] = [
    ("1", None, "clerk", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}),
    ("2", "1", "chat m", ASKED),
    ("3", "1", "execute_tool look", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}),
]


def flat(number: str, parent: str | None, name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    times = {"start_time": f"2026-01-01T00:00:0{number}Z", "end_time": f"2026-01-01T00:00:0{number}.5Z"}
    ids = {"trace_id": "t", "span_id": number, "parent_span_id": parent, "name": name}
    return {**ids, **times, "attributes": attributes, "status": {"code": "OK"}, "span_events": []}


def zipkin(number: str, parent: str | None, name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    ids = {"traceId": "t", "id": number, **({"parentId": parent} if parent else {}), "name": name}
    times = {"timestamp": 1_767_225_600_000_000 + int(number) * 1_000_000, "duration": 500_000}
    about = {"kind": "CLIENT", "localEndpoint": {"serviceName": "desk"}}
    return {**ids, **times, **about, "tags": {key: str(value) for key, value in attributes.items()}}


EVALUATED = {"gen_ai.evaluation.name": "success", "gen_ai.evaluation.score.value": "1"}


def clickhouse(number: str, parent: str | None, name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    ids = {"TraceId": "t", "SpanId": number, "ParentSpanId": parent or "", "SpanName": name}
    times = {"Timestamp": f"2026-01-01 00:00:0{number}.000000000", "Duration": "500000000"}
    about = {"SpanKind": "Internal", "StatusCode": "STATUS_CODE_OK", "StatusMessage": ""}
    service = {"ServiceName": "desk", "ResourceAttributes": {"service.name": "desk"}}
    return {
        **ids, **times, **about, **service,
        "SpanAttributes": {key: str(value) for key, value in attributes.items()},
        "Events.Name": ["gen_ai.evaluation.result"] if parent is None else [],
        "Events.Attributes": [EVALUATED] if parent is None else [],
    }  # fmt: skip


def logfire(number: str, parent: str | None, name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    ids = {"kind": "span", "trace_id": "t", "span_id": number, "parent_span_id": parent, "span_name": name}
    at = f"2026-01-01T00:00:0{number}"
    times = {"start_timestamp": f"{at}.000000Z", "end_timestamp": f"{at}.500000Z", "duration": 0.5}
    about = {"message": name, "otel_status_code": "OK", "otel_events": [], "service_name": "desk"}
    return {**ids, **times, **about, "attributes": attributes}


def as_text(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: json.dumps(value) if name in names else value for name, value in row.items()}


def by_column(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"columns": [{"name": name, "values": [row[name] for row in rows]} for name in rows[0]]}


FLAT, CLICKHOUSE, LOGFIRE, ZIPKIN = (
    [form(*each) for each in SPANS] for form in (flat, clickhouse, logfire, zipkin)
)
PENDING = {**LOGFIRE[1], "kind": "pending_span", "span_id": "9", "parent_span_id": "2"}
BEGUN = []
for one in FLAT:
    ids = {"span_id": f"9{one['span_id']}", "parent_span_id": one["span_id"], "end_time": one["start_time"]}
    BEGUN.append({**one, **ids, "attributes": {**one["attributes"], "logfire.span_type": "pending_span"}})
FORMS: dict[str, Any] = {
    "a flat list": FLAT,
    "what Logfire exports when spans begin, and when they end": [*BEGUN, *FLAT],
    "a flat list in lines": {"lines": FLAT},
    "a trace of Zipkin": ZIPKIN,
    "traces of Zipkin": [ZIPKIN],
    "a flat list below spans": {"session_id": "s", "span_count": 3, "spans": FLAT},
    "a list of traces": {"traces": [{"spans": FLAT}]},
    "attributes as text": [as_text(each, "attributes") for each in FLAT],
    "rows of ClickHouse": {"lines": CLICKHOUSE},
    "an answer of ClickHouse": {"meta": [], "data": CLICKHOUSE, "rows": 3},
    "maps of ClickHouse as text": [
        as_text(each, "SpanAttributes", "ResourceAttributes") for each in CLICKHOUSE
    ],
    "rows of Logfire": LOGFIRE,
    "rows of Logfire with pending ones": [PENDING, *LOGFIRE],
    "an answer of Logfire": {"columns": [{"name": "kind"}], "rows": LOGFIRE},
    "an answer of Logfire by column": by_column(LOGFIRE),
    "attributes of Logfire as text": {
        "lines": [as_text(each, "attributes", "otel_events") for each in LOGFIRE]
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_spans_is_the_same_run(tmp_path: Path, form: str) -> None:
    content = FORMS[form]
    name, content = ("t.jsonl", content["lines"]) if "lines" in content else ("t.json", content)
    want = case(form, content, format="otel", run="otel/t", agent="clerk", model="m", tools=["look"], steps=1,
                success=True if "ClickHouse" in form else None, input=5, output=2)  # fmt: skip
    want.holds(None, tmp_path, name)
    _, (run,) = read(tmp_path, None, content, name)
    assert (run.finished.ts - run.started.ts).total_seconds() == 2.5


def with_body(number: str, given: str) -> dict[str, Any]:
    said = {"role": "assistant", "content": given}
    body = {"input": {"messages": [GO]}, "output": {"messages": [said]}}
    about = {"span_events": [{"event_name": "it", "body": body}]}
    return {**flat(number, None, "it", {"event.name": "it"}), **about}


def test_content_in_the_body_of_an_event_is_what_a_model_was_asked_and_gave(tmp_path: Path) -> None:
    generated = json.dumps({"generations": [[{"text": "Done."}]]})
    answered = json.dumps({"type": "tool", "name": "look", "tool_call_id": "c1", "content": "monday"})
    spans = [with_body("1", generated), with_body("2", answered)]
    case("bodies", spans, tools=["look"], steps=1).holds("otel", tmp_path)


def test_spans_of_mlflow_by_themselves_are_not_taken_for_others() -> None:
    span = {**flat("1", None, "desk", {"mlflow.spanType": '"AGENT"'})}
    assert recognise(sample_of("t.json", json.dumps({"spans": [span]}).encode())) == "mlflow"
