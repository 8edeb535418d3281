"""Traces exported from Langfuse: a trace with its observations and scores, or observations alone.

An observation is read as the span that it is: what holds for OpenTelemetry holds here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.formats import otel
from untaken.formats.format_info import FormatInfo
from untaken.formats.importer import Importer
from untaken.formats.losses import Findings
from untaken.formats.otel_spans import Span, span_of
from untaken.formats.readings import amount, mapping, objects, parsed, text
from untaken.formats.sample import Confidence, Sample
from untaken.formats.tidy import Places
from untaken.formats.trace_file import TraceFile, converter
from untaken.formats.trace_run import TraceRun

KINDS: Final = {
    "GENERATION": "generation",
    "TOOL": "tool",
    "AGENT": "agent",
    **dict.fromkeys(("SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"), "other"),
}
NAMES: Final = {
    "traceId": ("traceId", "trace_id"),
    "parentObservationId": ("parentObservationId", "parent_observation_id"),
    "startTime": ("startTime", "start_time"),
    "endTime": ("endTime", "end_time"),
    "statusMessage": ("statusMessage", "status_message"),
    "model": ("model", "providedModelName", "provided_model_name"),
    "usage": ("usageDetails", "usage_details", "usage"),
    "costs": ("costDetails", "cost_details"),
    "cost": ("totalCost", "total_cost", "calculatedTotalCost"),
    "sessionId": ("sessionId", "session_id"),
    "promptVersion": ("promptVersion", "prompt_version"),
    "stringValue": ("stringValue", "string_value"),
}
"""What is read, by the names that the API and the exports of the pages give it."""
USAGE: Final = {
    "gen_ai.usage.input_tokens": ("input", "promptTokens", "inputTokens"),
    "gen_ai.usage.output_tokens": ("output", "completionTokens", "outputTokens"),
    "gen_ai.usage.cache_read.input_tokens": ("input_cached_tokens", "cache_read_input_tokens"),
}
_TRACE: Final = (
    "id",
    "name",
    "version",
    "release",
    "timestamp",
    "input.**",
    "output.**",
    "metadata.**",
    *NAMES["sessionId"],
)
_OBSERVATION: Final = (
    *("id", "type", "name", "level", "input.**", "output.**", "metadata.**"),
    *(
        name if key not in ("usage", "costs") else f"{name}.**"
        for key, names in NAMES.items()
        for name in names
    ),
)
_SCORE: Final = ("name", "value", *NAMES["stringValue"])
PLACES: Final = Places(
    kept=[
        *_OBSERVATION,
        *(f"observations[].{name}" for name in _OBSERVATION),
        *(f"{home}{name}" for home in ("", "trace.") for name in (*_TRACE, *NAMES["cost"])),
        *(f"{home}scores[].{name}" for home in ("", "trace.") for name in _SCORE),
    ]
)


def recognise(sample: Sample) -> Confidence:
    """Observations of a known type that say their trace, or are in one."""
    for record in (*sample.records, *objects(sample.first.get("data"))):
        document = mapping(record)
        inner = objects(document.get("observations"))
        if any(str(each.get("type")) in KINDS and _first(each, "startTime") for each in inner):
            return Confidence.CERTAIN
        if str(document.get("type")) in KINDS and "level" in document and _first(document, "traceId"):
            return Confidence.CERTAIN
    return Confidence.NO


def trace_run(
    trace: Mapping[str, Any], trace_id: str, observations: Sequence[Mapping[str, Any]], findings: Findings
) -> TraceRun:
    """The run of one trace."""
    spans = [_span(each, trace_id, findings) for each in observations]
    known = {span.id for span in spans}
    tops = [span for span in observations if (text(_first(span, "parentObservationId")) or "") not in known]
    root = _root(trace, trace_id, tops, findings)
    run = otel.trace_run([root, *spans], findings)
    run.run_id, run.metadata["format"] = f"langfuse/{trace_id}", "langfuse"
    return run


def _first(record: Mapping[str, Any], key: str) -> Any:
    return next((record[name] for name in NAMES[key] if record.get(name) is not None), None)


def _root(
    trace: Mapping[str, Any], trace_id: str, tops: Sequence[Mapping[str, Any]], findings: Findings
) -> Span:
    """The trace as the span above all others."""
    about = mapping(parsed(trace.get("metadata")))
    starts = sorted(start for each in tops if (start := text(_first(each, "startTime"))))
    failed = next((e for e in tops if e.get("level") == "ERROR" and e.get("type") != "TOOL"), None)
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": trace.get("name"),
        "gen_ai.usage.cost": amount(_first(trace, "cost"), findings, "totalCost") or None,
        "session.id": _first(trace, "sessionId"),
        "langfuse.version": trace.get("version"),
        "langfuse.release": trace.get("release"),
        "task.id": about.get("task_id"),
        "langfuse.observation.input": trace.get("input"),
        "langfuse.observation.output": trace.get("output"),
    }
    plain = {
        "trace_id": trace_id,
        "span_id": trace_id,
        "start_time": starts[0] if starts else trace.get("timestamp"),
        "status": {"code": "error", "message": _first(failed, "statusMessage")} if failed else {},
        "attributes": attributes,
        "events": [_evaluation(score) for score in objects(trace.get("scores"))],
    }
    return span_of(plain, findings)


def _evaluation(score: Mapping[str, Any]) -> dict[str, Any]:
    value, label = score.get("value"), _first(score, "stringValue")
    about = {
        "gen_ai.evaluation.name": score.get("name"),
        "gen_ai.evaluation.score.value": None if isinstance(value, str) else value,
        "gen_ai.evaluation.score.label": label if str(label).lower() in ("true", "false") else None,
    }
    return {"name": "gen_ai.evaluation.result", "attributes": about}


def _span(observation: Mapping[str, Any], trace_id: str, findings: Findings) -> Span:
    usage, costs = (mapping(parsed(_first(observation, key))) for key in ("usage", "costs"))
    cost = amount(costs.get("total", _first(observation, "cost")), findings, "costDetails.total")
    recorded = mapping(mapping(parsed(observation.get("metadata"))).get("attributes"))
    attributes = {
        **recorded,
        "langfuse.observation.type": KINDS.get(str(observation.get("type"))),
        "langfuse.observation.input": observation.get("input"),
        "langfuse.observation.output": observation.get("output"),
        "gen_ai.request.model": _first(observation, "model"),
        "langfuse.observation.prompt.version": _first(observation, "promptVersion"),
        "gen_ai.usage.cost": cost or None,
        **{name: next((usage[k] for k in keys if k in usage), None) for name, keys in USAGE.items()},
    }
    plain = {
        "trace_id": trace_id,
        "span_id": observation.get("id"),
        "parent_id": _first(observation, "parentObservationId") or trace_id,
        "name": observation.get("name"),
        "start_time": _first(observation, "startTime"),
        "end_time": _first(observation, "endTime"),
        "status": {
            "code": "error" if observation.get("level") == "ERROR" else None,
            "message": _first(observation, "statusMessage"),
        },
        "attributes": attributes,
    }
    return span_of(plain, findings)


def _read(file: TraceFile) -> Iterator[TraceRun]:
    about: dict[str, dict[str, Any]] = {}
    found: dict[str, list[dict[str, Any]]] = {}
    for value in file.values():
        for each in objects(mapping(value).get("data")) or [value]:
            record = mapping(file.record(each))
            trace = {**record, **mapping(record.get("trace"))}
            inner = objects(record.get("observations"))
            if inner:
                trace_id = text(trace.get("id")) or text(_first(inner[0], "traceId")) or file.stem
                about[trace_id] = trace
                found.setdefault(trace_id, []).extend(inner)
            elif str(record.get("type")) in KINDS:
                found.setdefault(text(_first(record, "traceId")) or file.stem, []).append(record)
    if not found:
        file.refuse("there is no observation of a trace in it")
    return (trace_run(about.get(name, {}), name, each, file.findings) for name, each in found.items())


IMPORTER: Final = Importer(
    info=FormatInfo(
        name="langfuse",
        title="Langfuse traces",
        extensions=(".json", ".jsonl"),
        what="Traces with their observations and scores, or observations alone: one run per trace.",
    ),
    recognise=recognise,
    convert=converter(_read, PLACES),
)
