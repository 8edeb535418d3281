"""OpenTelemetry spans out of every shape they are written in: OTLP JSON, SDK dumps, lists of spans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Struct

from untaken.traces.losses import Findings
from untaken.traces.readings import first_text, items, mapping, moment, objects, parsed, text
from untaken.traces.span_rows import PENDING, deepeval_spans, is_span_row, row_span, span_rows

KIND: Final = "span.type"
OPERATIONS: Final = {
    **dict.fromkeys(("inference", "inference.framework"), "chat"),
    "agentic.tool.invocation": "execute_tool",
    **dict.fromkeys(("agentic.invocation", "agentic.turn", "agentic.request"), "invoke_agent"),
    "workflow": "invoke_workflow",
}
"""What a span is, by what it says; others, as the transport of a tool's call, are inside of one of these."""
NAMED: Final = {
    "chat": ("entity.2.name", "gen_ai.request.model"),
    "execute_tool": ("entity.1.name", "gen_ai.tool.name"),
    "invoke_agent": ("entity.1.name", "gen_ai.agent.name"),
    "invoke_workflow": ("workflow.name", "gen_ai.agent.name"),
}
"""The attribute with the name of what was called, and what the conventions call it."""
TOKENS: Final = {
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "completion_tokens": "gen_ai.usage.output_tokens",
}
WORDS: Final = ("data.input", "data.output", "metadata")
"""Events that say what a span was given and gave, and what it used."""

Status = Literal["ok", "error", "unset"]
SpanEvent = tuple[str, Mapping[str, Any]]
"""Something that happened in a span: what it is called, and its attributes."""

_CODES: Final[Mapping[str, Status]] = {
    **dict.fromkeys(("1", "ok", "status_code_ok", "statuscode.ok"), "ok"),
    **dict.fromkeys(("2", "error", "status_code_error", "statuscode.error"), "error"),
}
_WHOLE: Final = re.compile(r"-?[0-9]{1,20}")
PARTS: Final = {
    "trace_id": ("traceId", "trace_id"),
    "span_id": ("spanId", "span_id"),
    "parent_id": ("parentSpanId", "parent_span_id", "parent_id", "parent", "parentSpanContext"),
    "start_time": ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"),
    "end_time": ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime"),
    "context": ("context", "spanContext", "_spanContext", "status_code", "status_message"),
}
"""The parts of a span by the names they are written with."""
CONTEXTS: Final = ("context", "spanContext", "_spanContext")
"""Where SDKs keep the ids of a span; that of JavaScript keeps its own fields under names of its own."""
ROOTS: Final = frozenset(("gen_ai", "llm", "openinference", "tool", "input", "output", "session", "metadata"))
"""First parts of names, below which some exports nest what others write with dots."""
UNNAMED: Final = "(unnamed)"
WHOLE: Final = frozenset(
    (
        *("gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "tool.parameters", "input.value"),
        "output.value",
    )
)
"""Names whose value is an object itself."""
NUMBERED: Final = ("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "llm.output_messages")
"""Lists of messages that are written as numbered attributes."""


class Span(Struct, frozen=True, kw_only=True):
    """One span; ids are texts as written, without ``0x``. `parent` is empty for a root.

    `scope` is the instrumentation that wrote it.
    """

    trace: str
    id: str
    parent: str
    name: str
    start: datetime | None
    end: datetime | None
    status: Status
    message: str | None
    attributes: Mapping[str, Any]
    resource: Mapping[str, Any]
    events: tuple[SpanEvent, ...]
    scope: str = ""

    def first(self, *names: str) -> Any:
        """The first of the attributes that is there."""
        return next((self.attributes[name] for name in names if self.attributes.get(name) is not None), None)


def plain_spans(record: Any) -> Iterator[dict[str, Any]]:
    """The spans in one JSON record, each an object of the same shape, its attributes a plain mapping.

    Args:
        record: an OTLP request, a dump of one span, an object with ``spans`` (Phoenix: ``data``), a row or
            the columns of a table, or an answer of Tempo or Jaeger.
    """
    for span in _every_span(record):
        if mapping(span.get("attributes")).get("logfire.span_type") != PENDING:
            yield span


def _every_span(record: Any) -> Iterator[dict[str, Any]]:
    """The spans, those included that Logfire writes when one begins, which have an id of their own."""
    if isinstance(record, list):  # Zipkin answers a query with a list of traces
        yield from (plain for span in filter(is_span, objects(record)) for plain in _of_row(span))
        return
    document = mapping(record)
    for part in requests(document):
        resource = attributes_of(mapping(part.get("resource")).get("attributes"))
        scopes = part.get("scopeSpans") or part.get("scope_spans") or part.get("instrumentationLibrarySpans")
        for scope in objects(scopes):
            about = {"resource": resource, "scope": scope.get("scope")}
            yield from (_plain_span({**about, **span}) for span in objects(scope.get("spans")))
    for trace in filter(is_jaeger, objects(document.get("data")) or [document]):
        yield from (_plain_span(_of_jaeger(span, trace)) for span in objects(trace["spans"]))
    if is_jaeger(document):
        return
    yield from map(_plain_span, deepeval_spans(document))
    traces = [document, mapping(parsed(document.get("trace"))), *objects(document.get("traces"))]
    listed = [each for trace in traces for each in with_children(objects(trace.get("spans")))]
    listed += filter(is_span, objects(document.get("data")))
    for span in (*listed, *span_rows(document)):
        yield from _of_row(span)
    rows = mapping(document.get("context.trace_id"))  # by column, as pandas writes a table
    if rows:
        spans = ({name: mapping(column).get(row) for name, column in document.items()} for row in rows)
        yield from (plain for span in spans for plain in _of_row(span))
    elif is_span(document):
        yield from _of_row(document)


def with_children(spans: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Spans that hold those below them as ``child_spans``, each by itself."""
    left = list(spans)
    for span in left:  # grows: nested as deep as they like, without a call for each level
        left += objects(span.get("child_spans"))
        yield {name: value for name, value in span.items() if name != "child_spans"}


def _of_row(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if span := row_span(row):
        yield _plain_span(span)


def requests(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The spans of each resource in an OTLP request; Tempo wraps it in ``trace``, or calls it ``batches``."""
    inner = mapping(document.get("trace"))
    names = ("resourceSpans", "resource_spans", "batches")
    return next((found for d in (document, inner) for n in names if (found := objects(d.get(n)))), [])


def plain_logs(record: Any) -> Iterator[dict[str, Any]]:
    """The events in a request of OTLP's logs, each with the ids of its span, as an event of a span."""
    document = mapping(record)
    for part in objects(document.get("resourceLogs")) or objects(document.get("resource_logs")):
        for scope in objects(part.get("scopeLogs")) or objects(part.get("scope_logs")):
            for log in objects(scope.get("logRecords")) or objects(scope.get("log_records")):
                about = attributes_of(log.get("attributes"))
                body = parsed(_plain(log.get("body")))
                content = body if isinstance(body, dict) else {"content": body}
                name = log.get("eventName") or log.get("event_name") or about.get("event.name")
                yield {
                    "trace_id": _id(log.get("traceId") or log.get("trace_id")),
                    "span_id": _id(log.get("spanId") or log.get("span_id")),
                    "events": [{"name": name, "attributes": {**about, **content}}],
                }


def is_jaeger(document: Mapping[str, Any]) -> bool:
    """Whether an object is a trace as Jaeger writes it."""
    spans = objects(document.get("spans"))
    return bool(spans) and {"traceID", "spanID"} <= spans[0].keys()


def _of_jaeger(span: Mapping[str, Any], trace: Mapping[str, Any]) -> dict[str, Any]:
    """A span of Jaeger, whose attributes are tags and whose resource is a process, as one of OTLP."""
    tags = _tags(span.get("tags"))
    above = (ref.get("spanID") for ref in objects(span.get("references")) if ref.get("refType") == "CHILD_OF")
    process = mapping(mapping(trace.get("processes")).get(text(span.get("processID")) or ""))
    start, lasted = span.get("startTime"), span.get("duration")
    failed = "error" if tags.get("error") in (True, "true") else None
    logs = [_tags(log.get("fields")) for log in objects(span.get("logs"))]
    return {
        "trace_id": span.get("traceID"),
        "span_id": span.get("spanID"),
        "parent_id": next(above, None),
        "name": span.get("operationName"),
        "start_time": start,
        "end_time": start + lasted if isinstance(start, int) and isinstance(lasted, int) else None,
        "status": {
            "code": tags.get("otel.status_code") or failed,
            "message": tags.get("otel.status_description"),
        },
        "attributes": tags,
        "resource": {"service.name": process.get("serviceName")},
        "events": [{"name": log.get("event") or log.get("name"), "attributes": log} for log in logs],
    }


def _tags(value: Any) -> dict[str, Any]:
    return {key: tag.get("value") for tag in objects(value) if (key := text(tag.get("key")))}


def spans_of(record: Any, findings: Findings) -> Iterator[Span]:
    """The spans in one tidied JSON record."""
    return (span_of(each, findings) for each in plain_spans(record))


def is_span(document: Mapping[str, Any]) -> bool:
    """Whether an object is one span, as OTLP or an SDK writes it."""
    if {"traceId", "spanId"} <= document.keys() or {"context.trace_id", "context.span_id"} <= document.keys():
        return True
    context = _context(document)
    dumped = "name" in document and all(_id_of(context, name) for name in ("trace_id", "span_id"))
    return dumped or is_span_row(document)


def _context(span: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a dump that has the ids of the span."""
    return next(filter(None, (mapping(span.get(name)) for name in CONTEXTS)), {})


def _id_of(context: Any, name: str) -> Any:
    """An id in the context of a span, or the id itself where there is no context."""
    if not isinstance(context, dict):
        return context
    return next((context[each] for each in PARTS[name] if context.get(each)), None)


def _since_1970(time: Any) -> Any:
    """A time; where it is a pair of seconds and nanoseconds, as JavaScript has it, the sum."""
    pair = [each for each in items(time) if isinstance(each, int)]
    return pair[0] * 10**9 + pair[1] if len(pair) == 2 else time


def attributes_of(value: Any) -> dict[str, Any]:
    """Attributes as a mapping of dotted names, whether written as one, nested, or as OTLP's typed list."""
    if not isinstance(value, dict):
        return {key: _plain(each.get("value")) for each in objects(value) if (key := text(each.get("key")))}
    found: dict[str, Any] = {}
    for name, each in value.items():
        if (name in ROOTS and isinstance(each, dict)) or name in NUMBERED:
            found |= _dotted(name, each)
        else:
            found[name] = _plain(each)
    return found


def _dotted(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Attributes that are written as nested objects, by their dotted names."""
    if isinstance(value, dict) and name not in WHOLE:
        for key, each in value.items():
            yield from _dotted(f"{name}.{key}", each)
    elif (
        isinstance(value, list) and name.startswith("llm.") and any(isinstance(each, dict) for each in value)
    ):
        for place, each in enumerate(value):
            yield from _dotted(f"{name}.{place}", each)
    else:
        yield name, value


def _with_lists(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes with numbered ones as lists: messages, and the calls and contents in them."""
    for prefix in NUMBERED:
        if found := unflattened(attributes, prefix):
            attributes = {n: value for n, value in attributes.items() if not n.startswith(f"{prefix}.")}
            attributes[prefix] = [_with_parts(message) for message in found]
    return attributes


def _with_parts(message: dict[str, Any]) -> dict[str, Any]:
    """A message with the names of OpenInference shortened, and its numbered calls and contents as lists."""
    short = {name.removeprefix("message."): value for name, value in message.items()}
    for name in ("tool_calls", "contents"):
        if parts := unflattened(short, name):
            short = {key: value for key, value in short.items() if not key.startswith(f"{name}.")}
            short[name] = [{key.rpartition(".")[2]: value for key, value in part.items()} for part in parts]
    if "contents" in short:
        short["content"] = short.pop("contents")
    return short


def unflattened(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Numbered attributes, ``prefix.0.message.role``, as a list of mappings by what follows the number."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            place, _, rest = name[len(prefix) + 1 :].partition(".")
            if place.isdecimal() and len(place) < 6:  # a hostile name may have thousands of digits
                found.setdefault(int(place), {})[rest] = value
    return [found[place] for place in sorted(found)]


def _plain(value: Any) -> Any:
    """An OTLP value: ``{"intValue": "3"}``, ``{"int_value": 3}`` and the like."""
    if not (isinstance(value, dict) and len(value) == 1 and next(iter(value)).endswith(("Value", "_value"))):
        return value
    kind, inner = next(iter(value.items()))
    match kind:
        case "intValue" | "int_value":
            # OTLP writes them as text; Python refuses to read one of thousands of digits.
            return int(inner) if _WHOLE.fullmatch(str(inner)) else inner
        case "arrayValue" | "array_value":
            return [_plain(each) for each in items(mapping(inner).get("values"))]
        case "kvlistValue" | "kvlist_value":
            return attributes_of(mapping(inner).get("values"))
    return inner


def _plain_span(span: Mapping[str, Any]) -> dict[str, Any]:
    """The span with one name for each of its parts; what has no place in it keeps its own name."""
    context, status, resource = (
        _context(span),
        *(mapping(span.get(name)) for name in ("status", "resource")),
    )
    found = {
        name: value for name, value in span.items() if not any(name in names for names in PARTS.values())
    }
    written = {name: next((span[n] for n in names if span.get(n)), None) for name, names in PARTS.items()}
    events = [
        {"name": event.get("name"), "attributes": attributes_of(event.get("attributes"))}
        for event in objects(span.get("events"))
    ]
    attributes = of_monocle(_with_lists(attributes_of(span.get("attributes"))), events)
    found |= {
        "trace_id": _id(written["trace_id"] or _id_of(context, "trace_id")),
        "span_id": _id(written["span_id"] or _id_of(context, "span_id")),
        "parent_id": _id(_id_of(written["parent_id"], "span_id")),
        "start_time": _since_1970(written["start_time"]),
        "end_time": _since_1970(written["end_time"]),
        "status": {
            "code": status.get("code", status.get("status_code", span.get("status_code"))),
            "message": status.get("message") or status.get("description") or span.get("status_message"),
        },
        "attributes": attributes,
        "resource": attributes_of(resource.get("attributes")) or resource,
        "events": events,
    }
    return {name: value for name, value in found.items() if value not in ({}, [], "")}


def span_of(span: Mapping[str, Any], findings: Findings) -> Span:
    """A span of `plain_spans`, tidied, with its times and status read."""
    status = mapping(span.get("status"))
    return Span(
        trace=text(span.get("trace_id")) or "",
        id=text(span.get("span_id")) or "",
        parent=text(span.get("parent_id")) or "",
        name=text(span.get("name")) or UNNAMED,
        start=moment(span.get("start_time"), findings, "start_time"),
        end=moment(span.get("end_time"), findings, "end_time"),
        status=_CODES.get(str(status.get("code")).lower(), "unset"),
        message=text(status.get("message")),
        attributes=mapping(span.get("attributes")),
        resource=mapping(span.get("resource")),
        scope=first_text([mapping(span.get("scope")), mapping(span.get("instrumentation_scope"))], ("name",))
        or "",
        events=tuple(
            (text(event.get("name")) or "", mapping(event.get("attributes")))
            for event in objects(span.get("events"))
        ),
    )


def score_event(name: Any, value: Any, label: Any = None) -> dict[str, Any]:
    """A score, as the event of a span that `span_of` reads."""
    about = {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": value}
    return {
        "name": "gen_ai.evaluation.result",
        "attributes": {**about, "gen_ai.evaluation.score.label": label},
    }


def below(above: Mapping[str, str | None], tops: Iterable[str]) -> set[str]:
    """These spans and all below them, of spans whose parent is known by their id."""
    children: dict[str | None, list[str]] = {}
    for span, parent in above.items():
        children.setdefault(parent, []).append(span)
    found: set[str] = set()
    left = list(tops)
    while left:
        if (span := left.pop()) not in found:  # parents may form a ring
            found.add(span)
            left += children.get(span, [])
    return found


def _id(value: Any) -> str:
    """The id as text; some dumps write it as a number of 128 bits."""
    written = text(value) or ""
    return "" if not written.strip("0") else written.removeprefix("0x")  # zeros are no id


def of_monocle(attributes: dict[str, Any], events: list[dict[str, Any]]) -> dict[str, Any]:
    """The attributes with what Monocle says in its own names, which it takes out of the events."""
    operation = OPERATIONS.get(str(attributes.get(KIND)))
    if operation is None:
        return attributes
    for number, entity in enumerate(objects(attributes.get("entity")), 1):  # its store lists them
        attributes |= {f"entity.{number}.{each}": value for each, value in entity.items()}
    own, name = NAMED[operation]
    words: dict[str, dict[str, Any]] = {str(event["name"]): event["attributes"] for event in events}
    given, gave, counts = (words.get(each, {}) for each in WORDS)
    asked, answered = given.pop("input", None), gave.pop("response" if "response" in gave else "output", None)
    found: dict[str, Any] = {"gen_ai.operation.name": operation, name: attributes.get(own)}
    found |= {TOKENS[each]: counts.pop(each) for each in TOKENS if each in counts}
    if operation == "execute_tool":
        found |= {"gen_ai.tool.call.arguments": asked, "gen_ai.tool.call.result": answered}
    else:
        listed = asked if isinstance(asked, list) else [asked]
        found["gen_ai.input.messages"] = [_message(each, "user") for each in listed if each]
        if answered:
            found["gen_ai.output.messages"] = [{**_message(answered, ""), "role": "assistant"}]
    events[:] = [event for event in events if event["attributes"] or event["name"] not in WORDS]
    kept = {each: value for each, value in attributes.items() if each not in (KIND, own, "entity")}
    return {**kept, **{each: value for each, value in found.items() if value not in (None, [])}}


def _message(written: Any, role: str) -> Mapping[str, Any]:
    """A message, which is a text, or JSON text of an object with the role as its only name."""
    document = parsed(written)
    if not isinstance(document, dict) or len(document) != 1:
        return {"role": role, "content": document}
    ((role, content),) = document.items()
    called = objects(content) or [mapping(content)]
    if called[0].get("type") == "tool_call":
        return {"role": role, "content": None, "tool_calls": called}
    return {"role": role, "content": content}
