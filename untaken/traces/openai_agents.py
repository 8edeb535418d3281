"""Traces of the OpenAI Agents SDK, as its exporter sends them: one object for a trace, one for each span.

A trace is a run. Spans of functions are the calls, spans of generations what was said. The SDK's own exporter
leaves out what a response span said; where a processor of one's own added it, it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces import otel
from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.messages import FIELDS
from untaken.traces.otel_kinds import spoken_attributes, usage_attributes
from untaken.traces.otel_spans import span_of
from untaken.traces.readings import first_text, mapping, objects, text
from untaken.traces.sample import Sample
from untaken.traces.spending import USAGE, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_records import TraceFiles, Traces, trace_converter
from untaken.traces.trace_run import TraceRun

Span = Mapping[str, Any]

MODELS: Final = ("generation", "response")
KINDS: Final = {
    **dict.fromkeys(MODELS, "generation"),
    **dict.fromkeys(("function", "handoff"), "tool"),
    "agent": "agent",
}
"""What a span is, and what Langfuse calls it."""
INPUTS: Final = ("input", "_input")
OUTPUTS: Final = ("output", "response", "_response")
_USAGE: Final = tuple(key for keys in USAGE.values() for key in keys)
_SPAN: Final = (
    *("object", "id", "trace_id", "parent_id", "started_at", "ended_at", "workflow_name", "error.message"),
    *("metadata.task_id", "group_id"),
    *(
        f"span_data.{name}"
        for name in ("type", "name", "model", "output", "triggered", "from_agent", "to_agent")
    ),
    *(f"span_data.{side}[].{name}" for side in ("input", "_input", "output") for name in FIELDS),
    *(f"span_data.{side}.output[].{name}" for side in ("response", "_response") for name in FIELDS),
    *("span_data.input", "span_data.data.sdk_span_type"),
    *(f"span_data.{home}usage.{key}" for home in ("", "response.", "_response.") for key in _USAGE),
)
PLACES: Final = Places(
    kept=[f"{home}{name}" for home in ("", "data[].") for name in _SPAN],
    dropped=["span_data.model_config.**", "span_data.usage.**"],
)


def recognise(sample: Sample) -> bool:
    """A trace or a span that says so, by itself or in the body of a request."""
    return any(
        isinstance(item.get("span_data"), dict)
        if item.get("object") == "trace.span"
        else item.get("object") == "trace" and "workflow_name" in item
        for item in map(mapping, (*sample.records, *objects(sample.first.get("data"))))
    )


def _data(span: Span) -> dict[str, Any]:
    return mapping(span.get("span_data"))


def _type(span: Span) -> str:
    """The kind of a span; tasks and turns are exported as custom ones."""
    data = _data(span)
    return text(mapping(data.get("data")).get("sdk_span_type")) or text(data.get("type")) or ""


def trace_run(trace: Mapping[str, Any], spans: Sequence[Span], findings: Findings) -> TraceRun:
    """The run of one trace."""
    # ISO 8601 sorts as text.
    ordered = sorted(spans, key=lambda span: (text(span.get("started_at")) or "", text(span.get("id")) or ""))
    trace_id = text(trace.get("id")) or first_text(ordered, ("trace_id",)) or "trace"
    workflow = text(trace.get("workflow_name"))
    about = {"trace_id": trace_id, "resource": {"service.name": workflow or "unknown-agent"}}
    known = [span_of({**about, **_plain(span, findings)}, findings) for span in ordered or [{}]]
    run = otel.trace_run(known, findings, run_id=f"openai-agents/{trace_id}", total={})
    run.task_id = text(mapping(trace.get("metadata")).get("task_id")) or trace_id
    run.record = [trace, ordered]
    # The error of a tool is its answer.
    run.error = next((e for span in ordered if _type(span) != "function" and (e := _error(span))), None)
    run.metrics |= _guardrails(ordered)
    metadata = {"format": "openai-agents", "workflow": workflow, "group": text(trace.get("group_id"))}
    run.metadata = {name: value for name, value in metadata.items() if value is not None}
    speaking = sum(_type(span) in MODELS and _given_and_reply(span) != (None, None) for span in ordered)
    if (silent := (run.steps or 0) - speaking) > 0:
        message = f"{silent} response spans hold an id and no text: what was said is not in the export"
        hint = "Export from a trace processor of your own that adds the input and the response of each span."
        findings.once("responses-left-out", message, hint=hint)
    return run


def _plain(span: Span, findings: Findings) -> dict[str, Any]:
    """The span as one of OpenTelemetry, but for its trace."""
    data, kind, ended = _data(span), _type(span), span.get("ended_at")
    given, reply = _given_and_reply(span) if kind in KINDS else (None, None)
    name = data.get("name")
    if kind == "handoff":
        given = {side: data[side] for side in ("from_agent", "to_agent") if data.get(side) is not None}
        name, reply = "handoff", data.get("to_agent")
    counts = mapping(data.get("usage")) or mapping(_response(span).get("usage"))
    attributes = {
        **spoken_attributes(KINDS.get(kind, "other"), given, reply),
        "gen_ai.agent.name": name if kind == "agent" else None,
        "gen_ai.request.model": _model(span) if kind in MODELS else None,
        "gen_ai.response.id": data.get("response_id"),
        **usage_attributes(usage(counts, findings, place="span_data.usage.")),
    }
    failed = bool(span.get("error"))
    return {
        "span_id": span.get("id"),
        "parent_id": span.get("parent_id"),
        "name": name,
        "scope": {"name": kind},
        "start_time": span.get("started_at"),
        "end_time": ended,
        "status": {"code": "error" if failed else "ok" if ended else None, "message": _error(span)},
        "attributes": attributes,
    }


def _given_and_reply(span: Span) -> tuple[Any, Any]:
    """What a model was given and gave, as recorded."""
    data = _data(span)
    given = next((data[name] for name in INPUTS if data.get(name)), None)
    return given, next((data[name] for name in OUTPUTS if data.get(name)), None)


def _response(span: Span) -> dict[str, Any]:
    return mapping(_data(span).get("response")) or mapping(_data(span).get("_response"))


def _model(span: Span) -> str | None:
    return text(_data(span).get("model")) or text(_response(span).get("model"))


def _error(span: Span) -> str | None:
    return text(mapping(span.get("error")).get("message"))


def _guardrails(spans: Sequence[Span]) -> dict[str, bool]:
    """Whether each guardrail was ever triggered."""
    found: dict[str, bool] = {}
    for data in (_data(span) for span in spans if _type(span) == "guardrail"):
        name = f"guardrail:{text(data.get('name')) or 'guardrail'}"
        found[name] = found.get(name, False) or data.get("triggered") is True
    return found


def _read(files: TraceFiles) -> Iterator[TraceRun]:
    about: dict[str, Mapping[str, Any]] = {}
    traces = Traces(files)
    for value in files.values():
        record = files.record(value)
        for item in objects(mapping(record).get("data")) or objects([record]):
            if item.get("object") == "trace":
                name = text(item.get("id")) or ""
                about[name] = item
                traces.add(name)  # it may have no span
            elif item.get("object") == "trace.span":
                traces.add(text(item.get("trace_id")) or "", item)
    if not traces:
        files.refuse("there is no trace and no span in it")
    yield from traces.runs(
        lambda name, spans: [trace_run(about.get(name, {}), spans, files.findings)], "id", "span"
    )


IMPORTER: Final = importer(
    name="openai-agents",
    title="OpenAI Agents SDK traces",
    extensions=(".jsonl", ".json"),
    what="Traces and spans as the SDK's exporter sends them: one run per trace.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=trace_converter(_read, PLACES),
    agent=("span_data.name", "workflow_name"),
    model=("span_data.model",),
    task=("metadata.task_id", "trace_id"),
    tokens=("span_data.usage.input_tokens", "span_data.usage.output_tokens"),
    time=("started_at", "ended_at"),
)
