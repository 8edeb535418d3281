"""Spans as rows of a table or a flat list: each tool names the columns its own way, one shape comes out.

Rows of ClickHouse's ``otel_traces``, of Logfire, of Phoenix, spans of Zipkin, and flat lists as many
programs write them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from untaken.traces.readings import items, mapping, objects, parsed, text

LISTS: Final = ("baseSpans", "agentSpans", "llmSpans", "retrieverSpans", "toolSpans")
"""Where a trace keeps its spans, by what they are."""
OPERATIONS: Final = {"llm": "chat", "tool": "execute_tool", "agent": "invoke_agent"}
CASES: Final = ("testCases", "test_cases")
_INPUT: Final = {"llm": "gen_ai.input.messages", "tool": "gen_ai.tool.call.arguments"}
_OUTPUT: Final = {"llm": "gen_ai.output.messages", "tool": "gen_ai.tool.call.result"}
_NAMED: Final = {"agent": "gen_ai.agent.name", "tool": "gen_ai.tool.name"}
_ATTRIBUTES: Final = {
    "model": "gen_ai.request.model",
    "inputTokenCount": "gen_ai.usage.input_tokens",
    "outputTokenCount": "gen_ai.usage.output_tokens",
    "threadId": "session.id",
}
_PARTS: Final = {
    "startTime": "start_time",
    "endTime": "end_time",
    "uuid": "span_id",
    "parentUuid": "parent_id",
}

COLUMNS: Final = {
    "TraceId": "trace_id",
    "SpanId": "span_id",
    "ParentSpanId": "parent_id",
    "SpanName": "name",
    "Timestamp": "start_time",
    "StatusCode": "status_code",
    "StatusMessage": "status_message",
    "SpanAttributes": "attributes",
    "ResourceAttributes": "resource",
    "parent_span_id": "parent_id",
    "span_name": "name",
    "span_attributes": "attributes",
    "start_timestamp": "start_time",
    "end_timestamp": "end_time",
    "otel_events": "events",
    "otel_status_code": "status_code",
    "otel_status_message": "status_message",
    "otel_resource_attributes": "resource",
    "resource_attributes": "resource",
    "span_events": "events",
}
"""Columns by the names that tables give them, and what a dump of an SDK calls them."""
IDS: Final = (("trace_id", "span_id"), ("TraceId", "SpanId"))
ZIPKIN: Final = frozenset(("traceId", "id", "name", "tags"))
ATTRIBUTES: Final = ("attributes", "SpanAttributes", "span_attributes", "otel_attributes")
PENDING: Final = "pending_span"
"""What Logfire writes when a span begins; the span is written once more when it ends."""
PHOENIX_KINDS: Final = frozenset(
    (
        *("LLM", "AGENT", "TOOL", "CHAIN", "RETRIEVER"),
        *("EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR", "PROMPT"),
    )
)
"""Kinds of OpenInference, which Phoenix writes beside the attributes."""


def is_span_row(document: Mapping[str, Any]) -> bool:
    """Whether an object is a span with its ids, its name and its attributes beside one another."""
    return document.keys() >= ZIPKIN or (
        any(trace in document and span in document for trace, span in IDS)
        and any(name in document for name in ("name", "SpanName", "span_name"))
        and any(name in document for name in ATTRIBUTES)
    )


def span_rows(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of an answer to a query, whether it lists rows or the values of each column."""
    yield from filter(is_span_row, objects(document.get("rows")))
    columns = {name: items(each.get("values")) for each in objects(document.get("columns"))
               if (name := text(each.get("name")))}  # fmt: skip
    if is_span_row(columns):
        for number in range(max(map(len, columns.values()))):
            yield {name: values[number] for name, values in columns.items() if number < len(values)}


def row_span(row: Mapping[str, Any]) -> dict[str, Any]:
    """A span with the names of a dump of an SDK; one that has them already as it is."""
    if row.get("kind") == PENDING:
        return {}
    if row.keys() >= ZIPKIN:
        row = _of_zipkin(row)
    span = {COLUMNS.get(name, name): value for name, value in row.items()}
    if "context.trace_id" in row:
        span = _by_path(row)
    for name in ("attributes", "resource", "events", "status"):
        if name in span:
            span[name] = parsed(span[name])
    if isinstance(span.get("attributes"), dict):
        kind = str(row.get("span_kind")).upper()
        of_phoenix = {"openinference.span.kind": kind} if kind in PHOENIX_KINDS else {}
        # What the span says of itself goes last: it outranks the rest.
        span["attributes"] = {**of_phoenix, **_content_of(objects(span.get("events"))), **span["attributes"]}
    if "Events.Name" in row:
        names, given = items(row["Events.Name"]), items(row.get("Events.Attributes"))
        given += [{}] * (len(names) - len(given))  # an event without attributes is one, too
        span["events"] = [
            {"name": name, "attributes": each} for name, each in zip(names, given, strict=False)
        ]
    if "start_time" not in span and "timestamp" in row:
        span["start_time"] = row["timestamp"]
    lasted = row.get("Duration", text(row.get("duration")))  # a number of the latter may be in any unit
    if "end_time" not in span and lasted is not None:
        span["end_time"] = _end(span.get("start_time"), lasted)
    service = text(row.get("ServiceName")) or text(row.get("service_name"))
    if service is not None:
        span["resource"] = {"service.name": service, **mapping(span.get("resource"))}
    return span


def _of_zipkin(row: Mapping[str, Any]) -> dict[str, Any]:
    """A span of Zipkin: its attributes are tags, its times microseconds."""
    began, took = row.get("timestamp"), row.get("duration")
    timed = all(isinstance(each, int) and not isinstance(each, bool) for each in (began, took))
    error = mapping(row["tags"]).get("error")
    return {
        "trace_id": row["traceId"],
        "span_id": row["id"],
        "parent_id": row.get("parentId"),
        "name": row["name"],
        "start_time": began,
        "end_time": sum((began, took)) if timed else None,
        "attributes": row["tags"],
        "events": [{"name": each.get("value")} for each in objects(row.get("annotations"))],
        "service_name": mapping(row.get("localEndpoint")).get("serviceName"),
        **({"status_code": "ERROR", "status_message": error} if error not in (None, "", "false") else {}),
    }


def _by_path(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of Phoenix, which names the parts of a span by their path."""
    found: dict[str, Any] = {"attributes": {}}
    for name, value in row.items():
        home, _, rest = name.partition(".")
        if home in ("context", "attributes") and rest:
            inner = found.setdefault(home, {})
            if value is not None:
                inner[rest] = value
        elif name != "span_kind":
            found[name] = value
    return found


def _content_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    """What a model or a tool was given and gave, which AWS's distribution writes as the body of an event."""
    found: dict[str, Any] = {}
    for body in (mapping(event.get("body")) for event in events):
        sides = {side: objects(mapping(body.get(side)).get("messages")) for side in ("input", "output")}
        found |= {f"gen_ai.{side}.messages": messages for side, messages in sides.items() if messages}
        given = mapping(parsed(sides["output"][0].get("content"))) if sides["output"] else {}
        # For LangChain the attributes say no more: what it gave tells a model from a tool.
        if "generations" in given:
            found |= {"gen_ai.operation.name": "chat", "gen_ai.output.messages": given}
        elif given.get("type") == "tool" and "tool_call_id" in given:
            asked = sides["input"][0].get("content") if sides["input"] else None
            found |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": given.get("name")}
            found |= {"gen_ai.tool.call.arguments": asked, "gen_ai.tool.call.result": given.get("content")}
            found["gen_ai.tool.call.id"] = given["tool_call_id"]
    return found


def _end(start: Any, lasted: Any) -> str | None:
    """When a span ended that says how long it took: in nanoseconds, or as ISO 8601 has it (``PT1.5S``)."""
    try:
        began = datetime.fromisoformat(str(start).strip())
        iso = str(lasted).startswith("P")
        took = msgspec.convert(lasted, timedelta) if iso else timedelta(microseconds=int(lasted) / 1000)
        # Tables leave out the zone: it is UTC.
        return (began.replace(tzinfo=began.tzinfo or UTC) + took).isoformat()
    except (TypeError, ValueError, OverflowError, msgspec.ValidationError):
        return None


def is_trace(document: Mapping[str, Any]) -> bool:
    """Whether an object is a trace of DeepEval."""
    return "uuid" in document and any(name in document for name in LISTS)


def deepeval_spans(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The spans of a trace, or of those in the test cases of a run of tests."""
    if is_trace(document):
        yield from _spans(document, {})
    for name in CASES:
        for case in objects(document.get(name)):
            if is_trace(trace := mapping(case.get("trace"))):
                yield from _spans(trace, {key: value for key, value in case.items() if key != "trace"})


def _spans(trace: Mapping[str, Any], case: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    top = {name: value for name, value in trace.items() if name not in LISTS}
    root = _span({**top, "type": "trace"}, trace["uuid"])
    about = {name: value for name, value in case.items() if name not in ("name", "success")}
    success = case.get("success")
    passed = ("pass" if success else "fail") if isinstance(success, bool) else None
    verdict = {"gen_ai.evaluation.name": "success", "gen_ai.evaluation.score.label": passed}
    yield {
        **root,
        **({"test_case": about} if about else {}),
        "attributes": {**root["attributes"], **({"task.id": case["name"]} if case.get("name") else {})},
        "events": [{"name": "gen_ai.evaluation.result", "attributes": verdict}] if passed else [],
    }
    for name in LISTS:
        for each in objects(trace.get(name)):
            yield _span({"parentUuid": trace["uuid"], **each}, trace["uuid"])


def _span(span: Mapping[str, Any], trace: Any) -> dict[str, Any]:
    """A span under the names of a dump of an SDK; what has no place among them keeps its name."""
    kind = str(span.get("type"))
    words = {"input": _INPUT.get(kind, "langfuse.observation.input"),
             "output": _OUTPUT.get(kind, "langfuse.observation.output")}  # fmt: skip
    names = {**_ATTRIBUTES, **words}
    attributes = {names[name]: value for name, value in span.items() if name in names}
    if kind in OPERATIONS:
        attributes["gen_ai.operation.name"] = OPERATIONS[kind]
    if kind in _NAMED:
        attributes[_NAMED[kind]] = span.get("name")
    kept = {
        _PARTS.get(name, name): value
        for name, value in span.items()
        if name not in (*names, "type", "status")
    }
    failed = span.get("status") == "ERRORED"
    status = {"code": "error", "message": kept.pop("error", None)} if failed else {"code": "ok"}
    return {**kept, "trace_id": trace, "status": status, "attributes": attributes}
