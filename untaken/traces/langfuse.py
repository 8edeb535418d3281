"""Traces exported from Langfuse: a trace with its observations and scores, or observations alone.

An observation is read as the span that it is: what holds for OpenTelemetry holds here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces import otel, spending
from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.otel_kinds import usage_attributes
from untaken.traces.otel_spans import Span, score_event, span_of
from untaken.traces.readings import amount, first_text, mapping, objects, parsed, text
from untaken.traces.sample import Sample
from untaken.traces.spending import Amounts
from untaken.traces.task_texts import ANSWERS, described
from untaken.traces.tidy import Places
from untaken.traces.trace_records import TraceFiles, Traces, trace_converter
from untaken.traces.trace_run import TraceRun

KINDS: Final = frozenset(
    (
        *("GENERATION", "TOOL", "AGENT", "SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING"),
        "GUARDRAIL",
    )
)
NAMES: Final = {
    "traceId": ("traceId", "trace_id"),
    "parentObservationId": ("parentObservationId", "parent_observation_id"),
    "startTime": ("startTime", "start_time"),
    "endTime": ("endTime", "end_time"),
    "statusMessage": ("statusMessage", "status_message"),
    "model": ("model", "providedModelName", "provided_model_name"),
    "details": ("usageDetails", "usage_details"),
    "costs": ("costDetails", "cost_details"),
    "cost": ("totalCost", "total_cost", "calculatedTotalCost"),
    "sessionId": ("sessionId", "session_id"),
    "promptVersion": ("promptVersion", "prompt_version"),
    "stringValue": ("stringValue", "string_value"),
    "traceName": ("traceName", "trace_name"),
}
"""What is read, by the names that the API and the exports of the pages give it."""
USAGE: Final = {
    "input_tokens": ("input", "inputUsage", "input_usage", *spending.USAGE["input_tokens"]),
    "output_tokens": ("output", "outputUsage", "output_usage", *spending.USAGE["output_tokens"]),
}
"""Sums as the pages and older versions of Langfuse give them."""
SUMS: Final = ("inputUsage", "input_usage", "outputUsage", "output_usage")
_TRACE: Final = (
    *("id", "name", "version", "release", "timestamp", "input.**", "output.**", "metadata.**"),
    *NAMES["sessionId"],
)
_OBSERVATION: Final = (
    *("id", "type", "name", "level", "input.**", "output.**", "metadata.**", "usage.**", *SUMS),
    *(
        name if key not in ("details", "costs") else f"{name}.**"
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


def recognise(sample: Sample) -> bool:
    """Observations of a known type that say their trace, or are in one."""
    for record in (*sample.records, *objects(sample.first.get("data"))):
        document = mapping(record)
        inner = objects(document.get("observations"))
        if any(str(each.get("type")) in KINDS and _first(each, "startTime") for each in inner):
            return True
        if str(document.get("type")) in KINDS and "level" in document and _first(document, "traceId"):
            return True
    return False


def trace_run(
    trace: Mapping[str, Any], trace_id: str, observations: Sequence[Mapping[str, Any]], findings: Findings
) -> TraceRun:
    """The run of one trace."""
    spans = [_span(each, trace_id, findings) for each in observations]
    known = {span.id for span in spans}
    tops = [span for span in observations if (text(_first(span, "parentObservationId")) or "") not in known]
    root = _root(trace, trace_id, tops, findings)
    run = otel.trace_run([root, *spans], findings, run_id=f"langfuse/{trace_id}")
    run.metadata["format"] = "langfuse"
    run.metadata |= described(trace.get("input"), _expected(trace))
    run.origin = {**trace, "observations": list(observations)}
    return run


def _first(record: Mapping[str, Any], key: str) -> Any:
    return next((record[name] for name in NAMES[key] if record.get(name) is not None), None)


def _expected(trace: Mapping[str, Any]) -> dict[str, Any]:
    """The answer that the metadata of a trace records as right."""
    about = mapping(parsed(trace.get("metadata")))
    return {name: about[name] for name in ANSWERS if name in about}


def _root(
    trace: Mapping[str, Any], trace_id: str, tops: Sequence[Mapping[str, Any]], findings: Findings
) -> Span:
    """The trace as the span above all others."""
    about = mapping(parsed(trace.get("metadata")))
    starts = sorted(start for each in tops if (start := text(_first(each, "startTime"))))
    # A run may go on after the error of a tool.
    failed = next((e for e in tops if e.get("level") == "ERROR" and e.get("type") != "TOOL"), None)
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": text(trace.get("name")) or first_text(tops, NAMES["traceName"]),
        "gen_ai.usage.cost": amount(_first(trace, "cost"), findings, "totalCost") or None,  # 0: no price
        "session.id": _first(trace, "sessionId"),
        "langfuse.version": trace.get("version"),
        "langfuse.release": trace.get("release"),
        "task.id": about.get("task_id"),
        "langfuse.observation.input": trace.get("input"),
        "langfuse.observation.output": trace.get("output"),
    }
    # The name of a call or an event is no agent's.
    plain_tops = [each for each in tops if each.get("type") not in ("GENERATION", "TOOL", "EVENT")]
    plain = {
        "trace_id": trace_id,
        "span_id": trace_id,
        "name": first_text(plain_tops, ("name",)),
        "start_time": starts[0] if starts else trace.get("timestamp"),
        "status": {"code": "error", "message": _first(failed, "statusMessage")} if failed else {},
        "attributes": attributes,
        "events": [_evaluation(score) for score in objects(trace.get("scores"))],
    }
    return span_of(plain, findings)


def _evaluation(score: Mapping[str, Any]) -> dict[str, Any]:
    value, label = score.get("value"), _first(score, "stringValue")
    # Other labels are of categories, and say no outcome; a category is no number.
    known = label if str(label).lower() in ("true", "false") else None
    return score_event(score.get("name"), None if isinstance(value, str) else value, known)


def _span(observation: Mapping[str, Any], trace_id: str, findings: Findings) -> Span:
    costs = mapping(parsed(_first(observation, "costs")))
    cost = amount(costs.get("total", _first(observation, "cost")), findings, "costDetails.total")
    recorded = mapping(mapping(parsed(observation.get("metadata"))).get("attributes"))
    attributes = {
        **recorded,  # as OpenTelemetry wrote them, where it did
        "langfuse.observation.type": str(observation.get("type")).lower(),
        "langfuse.observation.input": observation.get("input"),
        "langfuse.observation.output": observation.get("output"),
        "gen_ai.request.model": _first(observation, "model"),
        "langfuse.observation.prompt.version": _first(observation, "promptVersion"),
        "gen_ai.usage.cost": cost,
        **usage_attributes(_usage(observation, findings)),
    }
    plain = {
        "trace_id": trace_id,
        "span_id": observation.get("id"),
        # The trace is the span above all.
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


def _usage(observation: Mapping[str, Any], findings: Findings) -> Amounts:
    """The tokens of an observation: its details, which are disjoint, else sums of input and output."""
    details = {
        key: value
        for key, each in mapping(parsed(_first(observation, "details"))).items()
        if (value := amount(each, findings, "usageDetails")) is not None
    }
    wholes: dict[str, float] = {}
    parts: dict[str, float] = {}
    extra = 0.0
    for key, value in details.items():
        if key in ("input", "output"):
            wholes[f"{key}_tokens"] = value
        elif (figure := _figure(key)) is not None:
            whole, part = figure
            extra += value
            wholes[whole], parts[part] = wholes.get(whole, 0), parts.get(part, 0) + value
    if not wholes:
        older = mapping(parsed(observation.get("usage")))
        sums = {name: observation[name] for name in SUMS if name in observation}
        return spending.usage({**sums, **older, **details}, findings, {**spending.USAGE, **USAGE})
    # Where the total is that of input and output alone, a program counted the parts inside of these.
    disjoint = not (extra and details.get("total") == sum(wholes.values()))
    for key, value in details.items() if disjoint else ():
        if key not in ("input", "output") and (figure := _figure(key)) is not None:
            wholes[figure[0]] += value
    return {**wholes, **{part: value for part, value in parts.items() if part in spending.PARTS}}


def _figure(key: str) -> tuple[str, str] | None:
    """The whole that a detail is of, and the part of it that it is; ``None`` for a total or a count."""
    if key.startswith("output") or "reasoning" in key:
        return "output_tokens", "reasoning_tokens" if "reasoning" in key else key
    if not key.startswith("input") and "cache" not in key:
        return None
    if "cache" not in key:
        return "input_tokens", key
    written = "creation" in key or "write" in key
    return "input_tokens", "cache_creation_tokens" if written else "cached_tokens"


def _read(files: TraceFiles) -> Iterator[TraceRun]:
    about: dict[str, dict[str, Any]] = {}
    traces = Traces(files)
    for value in files.values():
        for each in objects(mapping(value).get("data")) or [value]:
            record = mapping(files.record(each))
            trace = {**record, **mapping(record.get("trace"))}
            inner = objects(record.get("observations"))
            if inner:
                trace_id = text(trace.get("id")) or text(_first(inner[0], "traceId")) or files.stem
                about[trace_id] = {**about.get(trace_id, {}), **trace}
                traces.add(trace_id, *inner)
            elif str(record.get("type")) in KINDS:
                traces.add(text(_first(record, "traceId")) or files.stem, record)
    if not traces:
        files.refuse("there is no observation of a trace in it")
    yield from traces.runs(
        lambda name, each: [trace_run(about.get(name, {}), name, each, files.findings)], "id", "observation"
    )


IMPORTER: Final = importer(
    name="langfuse",
    title="Langfuse traces",
    what="Traces with their observations and scores, or observations alone: one run per trace.",
    recognise=recognise,
    convert=trace_converter(_read, PLACES),
    agent=("name",),
    model=("observations[].model",),
    version=("version", "release"),
    prompt_version=("observations[].promptVersion",),
    task=("metadata.task_id",),
    task_text=("input",),
    target=("metadata.expected_output",),
    outcome=("scores[].value",),
    tokens=("observations[].usageDetails.input", "observations[].usageDetails.output"),
    cost=("observations[].costDetails.total",),
    time=("observations[].startTime", "observations[].endTime"),
)
