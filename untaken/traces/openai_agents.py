"""Traces of the OpenAI Agents SDK, as its exporter sends them: one object for a trace, one for each span.

A trace is a run. Spans of functions are the calls, spans of generations what was said. The SDK's own exporter
leaves out what a response span said; where a processor of one's own added it, it is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.message_transcript import MessageTranscript
from untaken.traces.messages import FIELDS, asked, replied
from untaken.traces.model_calls import CallSpan, ModelCalls, spans_apart, spent_apart
from untaken.traces.readings import first_text, mapping, moment, objects, text
from untaken.traces.sample import Sample
from untaken.traces.spending import USAGE, usage
from untaken.traces.tidy import Places
from untaken.traces.trace_records import TraceFiles, Traces, trace_converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun

Span = Mapping[str, Any]

MODELS: Final = ("generation", "response")
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


def _at(span: Span, name: str, findings: Findings) -> datetime | None:
    return moment(span.get(name), findings, name)


def trace_run(trace: Mapping[str, Any], spans: Sequence[Span], findings: Findings) -> TraceRun:
    """The run of one trace."""
    # ISO 8601 sorts as text.
    ordered = sorted(spans, key=lambda span: (text(span.get("started_at")) or "", text(span.get("id")) or ""))
    trace_id = text(trace.get("id")) or first_text(ordered, ("trace_id",)) or "trace"
    about = [(text(span.get("id")) or "", span) for span in ordered]
    named = {name: text(_data(span).get("name")) or "" for name, span in about if _type(span) == "agent"}
    whose = spans_apart([(name, text(span.get("parent_id"))) for name, span in about], (), named)
    own = [span for span in ordered if text(span.get("id")) not in whose]
    players = [_call_span(span, Findings(None)) for span in ordered if text(span.get("id")) in whose]
    others, _ = spent_apart({"user": players})  # no total is recorded that may include them
    calls = ModelCalls([_call_span(span, findings) for span in own])
    models = [own[place] for place in calls.heads]
    run_id = f"openai-agents/{trace_id}"
    spent = calls.spent({}, run=run_id, findings=findings)
    agents = (text(_data(span).get("name")) for span in own if _type(span) == "agent")
    ends = [at for span in ordered if (at := _at(span, "ended_at", findings))]
    metadata = {"format": "openai-agents", "workflow": text(trace.get("workflow_name"))}
    metadata["group"] = text(trace.get("group_id"))
    return TraceRun(
        run_id=run_id,
        agent=next((a for a in agents if a), None) or metadata["workflow"] or "unknown-agent",
        task_id=text(mapping(trace.get("metadata")).get("task_id")) or trace_id,
        record=[trace, ordered],
        model=next((m for span in models if (m := _model(span))), None),
        items=list(_items(own, {id(span) for span in models}, findings)),
        started=next((at for span in ordered if (at := _at(span, "started_at", findings))), None),
        finished=max(ends) if ends else None,
        steps=len(models) or None,
        # The error of a tool is its answer.
        error=next((e for span in ordered if _type(span) != "function" and (e := _error(span))), None),
        metrics={**spent.tokens, **others, **_guardrails(ordered)},
        metadata={name: value for name, value in metadata.items() if value is not None},
    )


def _call_span(span: Span, findings: Findings) -> CallSpan:
    data, kind = _data(span), _type(span)
    counts = mapping(data.get("usage")) or mapping(_response(span).get("usage"))
    given, reply = _given_and_reply(span)
    return CallSpan(
        id=text(span.get("id")) or "",
        parent=text(span.get("parent_id")) or "",
        role="model" if kind in MODELS else "tool" if kind == "function" else "other",
        start=_at(span, "started_at", findings),
        end=_at(span, "ended_at", findings),
        maker=(kind, text(data.get("name")) or ""),
        model=_model(span),
        reply=text(data.get("response_id")),
        speaks=given is not None or reply is not None,
        failed=span.get("error") is not None,
        usage=usage(counts, findings, place="span_data.usage."),
        words=lambda: (asked(given), replied(reply)),
    )


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


def _items(spans: Sequence[Span], calls: Collection[int], findings: Findings) -> Iterator[Item]:
    """What was said and done; of the spans of models, only those of `calls` are read."""
    transcript = MessageTranscript(calls=not any(_type(span) == "function" for span in spans))
    silent = 0
    for span in spans:
        data, began, ended = _data(span), _at(span, "started_at", findings), _at(span, "ended_at", findings)
        kind = _type(span)
        if kind in MODELS and id(span) in calls:
            given, reply = _given_and_reply(span)
            silent += given is None and reply is None
            yield from transcript.of(asked(given), began)
            yield from transcript.reply(replied(reply), ended)
        elif kind == "function":
            yield from _call(span, data.get("name"), data.get("input"), data.get("output"), findings)
        elif kind == "handoff":
            ends = {name: data[name] for name in ("from_agent", "to_agent") if data.get(name) is not None}
            yield from _call(span, "handoff", ends, data.get("to_agent"), findings)
    if silent:
        message = f"{silent} response spans hold an id and no text: what was said is not in the export"
        hint = "Export from a trace processor of your own that adds the input and the response of each span."
        findings.once("responses-left-out", message, hint=hint)


def _call(span: Span, tool: Any, arguments: Any, answer: Any, findings: Findings) -> Iterator[Item]:
    call_id = text(span.get("id"))
    error = _error(span)
    ended = _at(span, "ended_at", findings)
    yield Called(tool=tool, arguments=arguments, source_id=call_id, at=_at(span, "started_at", findings))
    if ended is not None or error is not None:
        content = answer if answer is not None else error or ""
        yield Answered(content=content, source_id=call_id, ok=error is None, at=ended)


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
