"""OpenTelemetry spans out of every shape they are written in: OTLP JSON, SDK dumps, lists of spans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from untaken.formats.losses import Findings
from untaken.formats.readings import items, mapping, moment, objects, text

Status = Literal["ok", "error", "unset"]

_CODES: Final[Mapping[str, Status]] = {
    **dict.fromkeys(("1", "ok", "status_code_ok", "statuscode.ok"), "ok"),
    **dict.fromkeys(("2", "error", "status_code_error", "statuscode.error"), "error"),
}
_IDS: Final = ("trace_id", "span_id")
_NANO: Final = 1e9
_LATEST: Final = 4e18
"""Nanoseconds; beyond, a number is no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """Something that happened in a span."""

    name: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span; ids are texts as written, without ``0x``. `parent` is empty for a root."""

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

    def first(self, *names: str) -> Any:
        """The first of the attributes that is there."""
        return next((self.attributes[name] for name in names if self.attributes.get(name) is not None), None)


def spans_of(record: Any, findings: Findings) -> Iterator[Span]:
    """The spans in one JSON record: an OTLP request, a dump of one span, or an object with ``spans``.

    Args:
        record: tidied.
        findings: of the file.
    """
    document = mapping(record)
    for part in objects(document.get("resourceSpans")) or objects(document.get("resource_spans")):
        resource = attributes_of(mapping(part.get("resource")).get("attributes"))
        scopes = part.get("scopeSpans") or part.get("scope_spans") or part.get("instrumentationLibrarySpans")
        for scope in objects(scopes):
            for span in objects(scope.get("spans")):
                yield _span(span, resource, findings)
    for span in objects(document.get("spans")):
        yield _span(span, {}, findings)
    if is_span(document):
        yield _span(document, {}, findings)


def with_text_ids(value: Any) -> Any:
    """The record with ids as text: some dumps write the 128 bits of a trace as a number."""
    if isinstance(value, dict):
        return {
            name: str(each) if name in _IDS and isinstance(each, int) else with_text_ids(each)
            for name, each in value.items()
        }
    return [with_text_ids(each) for each in value] if isinstance(value, list) else value


def is_span(document: Mapping[str, Any]) -> bool:
    """Whether an object is one span, as OTLP or an SDK writes it."""
    if {"traceId", "spanId"} <= document.keys():
        return True
    context = mapping(document.get("context"))
    return "name" in document and {"trace_id", "span_id"} <= context.keys()


def attributes_of(value: Any) -> dict[str, Any]:
    """Attributes as a mapping, whether written as one or as OTLP's list of keys and typed values."""
    if isinstance(value, dict):
        return {name: _plain(each) if _typed(each) else each for name, each in value.items()}
    return {key: _plain(each.get("value")) for each in objects(value) if (key := text(each.get("key")))}


def parsed(value: Any) -> Any:
    """A value that instrumentations write as JSON text, read; other texts as they are."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def unflattened(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """OpenInference's numbered attributes, ``prefix.0.message.role``, as a list of mappings by their rest."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            place, _, rest = name[len(prefix) + 1 :].partition(".")
            if place.isdecimal() and len(place) < 6:
                found.setdefault(int(place), {})[rest] = value
    return [found[place] for place in sorted(found)]


def _typed(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)).endswith("Value")


def _plain(value: Any) -> Any:
    """An OTLP value: ``{"intValue": "3"}`` and the like."""
    if not _typed(value):
        return value
    kind, inner = next(iter(value.items()))
    match kind:
        case "intValue":
            return int(inner) if str(inner).lstrip("-").isdecimal() else inner
        case "arrayValue":
            return [_plain(each) for each in items(mapping(inner).get("values"))]
        case "kvlistValue":
            return attributes_of(mapping(inner).get("values"))
    return inner


def _span(span: Mapping[str, Any], resource: Mapping[str, Any], findings: Findings) -> Span:
    context = mapping(span.get("context"))
    parent = span.get("parent")
    above = mapping(parent).get("span_id") if isinstance(parent, dict) else parent
    status = mapping(span.get("status"))
    own = attributes_of(mapping(span.get("resource")).get("attributes"))
    events = objects(span.get("events"))
    return Span(
        trace=_id(span.get("traceId") or span.get("trace_id") or context.get("trace_id")),
        id=_id(span.get("spanId") or span.get("span_id") or context.get("span_id")),
        parent=_id(span.get("parentSpanId") or span.get("parent_span_id") or span.get("parent_id") or above),
        name=text(span.get("name")) or "(unnamed)",
        start=_time(span.get("startTimeUnixNano") or span.get("start_time"), findings),
        end=_time(span.get("endTimeUnixNano") or span.get("end_time"), findings),
        status=_CODES.get(str(status.get("code", status.get("status_code", ""))).lower(), "unset"),
        message=text(status.get("message")) or text(status.get("description")),
        attributes=attributes_of(span.get("attributes")),
        resource=own or resource,
        events=tuple(
            SpanEvent(name=text(e.get("name")) or "", attributes=attributes_of(e.get("attributes")))
            for e in events
        ),
    )


def _id(value: Any) -> str:
    written = text(value) or ""
    return "" if not written.strip("0") else written.removeprefix("0x")


def _time(value: Any, findings: Findings) -> datetime | None:
    """Nanoseconds since 1970, as a number or as text, or an ISO time."""
    if isinstance(value, str) and not value.isdecimal():
        return moment(value, findings, "span time")
    if isinstance(value, str | int) and not isinstance(value, bool) and 0 < float(value) < _LATEST:
        return datetime.fromtimestamp(int(value) / _NANO, UTC)
    return None
