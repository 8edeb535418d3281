"""MLflow traces: ``info`` and the spans under ``data``, version 3 and the older one with a ``request_id``.

A trace is a run. Spans of tools are the calls, spans of models what was said; where a trace has no tool
spans, the calls are those that the messages name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from untaken.traces import otel
from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.otel import SUCCESS, TASK
from untaken.traces.otel_kinds import spoken_attributes, usage_attributes
from untaken.traces.otel_spans import Span, attributes_of, spans_of
from untaken.traces.outcome_fields import agreed
from untaken.traces.readings import amount, first_text, mapping, number, objects, parsed, text
from untaken.traces.sample import Sample
from untaken.traces.spending import Amounts, usage, with_cost
from untaken.traces.task_texts import ANSWERS, described
from untaken.traces.tidy import Places, under
from untaken.traces.trace_records import TraceFiles, Traces, read_once, trace_converter
from untaken.traces.trace_run import TraceRun

SERVED: Final = ("app_name", "endpoint_name", "served_entity_name")
"""Names that a table of responses of Databricks has for what answered."""
MODELS: Final = ("CHAT_MODEL", "LLM")
KINDS: Final = {
    **dict.fromkeys(MODELS, "generation"),
    "TOOL": "tool",
    "AGENT": "agent",
    "EVALUATOR": "evaluator",
}
"""What a span is, and what Langfuse calls it."""
PARTS: Final = ("trace_metadata", "request_metadata", "tags")
"""Where the attributes of a trace are, in the present form and the older one."""
KIND: Final = "mlflow.spanType"
INPUTS: Final = "mlflow.spanInputs"
OUTPUTS: Final = "mlflow.spanOutputs"
TOKENS: Final = "mlflow.chat.tokenUsage"
COST: Final = "mlflow.llm.cost"
MODEL: Final = "mlflow.llm.model"
TRACE: Final = "mlflow.traceRequestId"
TRACES: Final = ("trace_id", "request_id", TRACE)
VERSIONS: Final = ("mlflow.source.git.commit", "mlflow.modelId")
"""The commit of the code that was traced, or the logged model that is a version of the agent."""
PROMPTS: Final = "mlflow.linkedPrompts"
_SPAN: Final = (
    *("name", "trace_id", "span_id", "parent_span_id", "parent_id", "context.span_id", "context.trace_id"),
    *("start_time_unix_nano", "end_time_unix_nano", "start_time", "end_time", "status.**", "status_code"),
    "status_message",
    *(f"attributes.{name}.**" for name in (KIND, INPUTS, OUTPUTS, TOKENS, COST, MODEL, TRACE)),
)
PLACES: Final = Places(
    kept=[
        *under("info.", "trace_id request_id"),
        *under("info.assessments[].", "assessment_name feedback.value expectation.value valid"),
        *(f"info.{part}.{name}" for part in PARTS for name in (*TASK, "mlflow.trace.tokenUsage")),
        *(f"info.{part}.{name}" for part in PARTS for name in ("mlflow.trace.cost", "mlflow.trace.session")),
        *(f"info.{part}.{name}" for part in PARTS for name in (*VERSIONS, PROMPTS)),
        *(f"data.spans[].{name}" for name in _SPAN),
    ],
    dropped=["data.spans[].events.**", "data.spans[].links.**"],
)


def recognise(sample: Sample) -> bool:
    """A trace with its info and its spans; or the spans alone, as an artifact keeps them."""
    for record in map(_traced, sample.records):
        if any(KIND in mapping(span.get("attributes")) for span in objects(mapping(record).get("spans"))):
            return True
        info, data = mapping(mapping(record).get("info")), mapping(mapping(record).get("data"))
        if ("trace_id" in info or "request_id" in info) and (
            "spans" in data or "trace_location" in info or "experiment_id" in info
        ):
            return True
    return False


def _traced(record: Any) -> dict[str, Any]:
    """The trace in a record: itself, what a server answers, or what Databricks puts into a response."""
    document = mapping(record)
    for part in (document, mapping(parsed(document.get("response")))):
        trace = mapping(parsed(mapping(part.get("databricks_output")).get("trace")))
        if mapping(trace.get("data")).get("spans"):
            return {"databricks_request": document, **trace}
    answered = mapping(document.get("trace"))
    if "trace_info" in answered:  # the server writes it so, where the client writes `info` and `data`
        return {"info": answered["trace_info"], "data": {"spans": answered.get("spans")}}
    return answered if "info" in answered else document


def decoded(record: Any) -> Any:
    """The trace with its spans as OpenTelemetry names their fields, and the JSON in their attributes read."""
    document = _traced(record)
    data = mapping(document.get("data")) or {"spans": document.get("spans")}
    rest = {name: value for name, value in document.items() if name != "spans"}
    return {**rest, "data": {**data, "spans": [_span(span) for span in objects(data.get("spans"))]}}


def _span(span: Mapping[str, Any]) -> dict[str, Any]:
    attributes = {name: _json(value) for name, value in attributes_of(span.get("attributes")).items()}
    kept = {name: value for name, value in span.items() if not name.endswith("_unix_nano")}
    for name in ("start_time", "end_time"):
        if f"{name}_unix_nano" in span:
            kept[name] = span[f"{name}_unix_nano"]
    if "status" not in span:
        kept["status"] = {"code": span.get("status_code"), "message": span.get("status_message")}
    return {**kept, "attributes": attributes}


def _json(value: Any) -> Any:
    """A value that MLflow writes as JSON text, whatever its kind; other text as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def trace_run(document: Mapping[str, Any], name: str, findings: Findings) -> TraceRun | None:
    """The run of one trace; ``None`` where it has no spans."""
    info = mapping(document.get("info"))
    spans = list(spans_of({"spans": mapping(document.get("data")).get("spans")}, findings))
    if not spans:
        return None
    about = {name: value for part in PARTS for name, value in mapping(info.get(part)).items()}
    # Those without a time come last.
    ordered = sorted(spans, key=lambda span: (span.start is None, span.start or datetime.min))
    root = next((span for span in ordered if not span.parent), ordered[0])
    trace = first_text([info, root.attributes], TRACES) or name
    run = otel.trace_run(
        [_otel_span(span, findings) for span in spans],
        findings,
        run_id=f"mlflow/{trace}",
        total=_spent(about.get("mlflow.trace.tokenUsage"), about.get("mlflow.trace.cost"), findings),
        root_speaks="reply",
    )
    served = first_text([mapping(document.get("databricks_request"))], SERVED)
    run.agent = served or next((span.name for span in ordered if _kind(span) == "AGENT"), root.name)
    run.task_id = first_text([about], TASK) or trace
    run.record = document
    run.version = first_text([about], VERSIONS)
    run.prompt_version = first_text(objects(parsed(about.get(PROMPTS))), ("version",))
    (run.success, run.outcome_named), judged = _assessments(info, findings)
    run.metrics |= judged
    session = text(about.get("mlflow.trace.session"))
    run.metadata = {
        "format": "mlflow",
        **({"session": session} if session else {}),
        **described(root.attributes.get(INPUTS), _expected(info)),
    }
    return run


def _otel_span(span: Span, findings: Findings) -> Span:
    """The span under the names of OpenTelemetry."""
    kind, given = _kind(span), span.attributes.get(INPUTS)
    model = text(span.attributes.get(MODEL)) or text(mapping(given).get("model"))
    attributes = {
        **spoken_attributes(KINDS.get(kind, "other"), given, span.attributes.get(OUTPUTS)),
        "gen_ai.request.model": model if kind in MODELS else None,
        **usage_attributes(_spent(span.attributes.get(TOKENS), span.attributes.get(COST), findings)),
    }
    return replace(span, attributes=attributes)


def _spent(tokens: Any, cost: Any, findings: Findings) -> Amounts:
    """The tokens and the cost that a span or a trace records."""
    priced = amount(mapping(parsed(cost)).get("total_cost"), findings, "total_cost")
    return with_cost(usage(mapping(parsed(tokens)), findings), priced)


def _expected(info: Mapping[str, Any]) -> dict[str, Any]:
    """The answers that people recorded as right, by the names of their expectations."""
    found = {text(each.get("assessment_name")): mapping(each.get("expectation")).get("value")
             for each in objects(info.get("assessments"))}  # fmt: skip
    return {name: value for name, value in found.items() if name in ANSWERS}


def _kind(span: Span) -> str:
    return text(span.attributes.get(KIND)) or ""


def _assessments(
    info: Mapping[str, Any], findings: Findings
) -> tuple[tuple[bool | None, bool], dict[str, float]]:
    """Feedback that is a number, or true or false, is a metric; one that names success is the outcome."""
    found: dict[str, float] = {}
    outcomes: list[tuple[str, bool]] = []
    for assessment in objects(info.get("assessments")):
        name = text(assessment.get("assessment_name")) or "assessment"
        value = mapping(assessment.get("feedback")).get("value")
        # Not valid: overridden later.
        if assessment.get("valid") is False or not isinstance(value, bool | int | float):
            continue
        found[f"assessment:{name}"] = float(number(value, findings, "feedback.value") or 0)
        if name.lower() in SUCCESS and value in (0, 1):
            outcomes.append((name, bool(value)))
    return agreed(outcomes, findings), found


def _read(files: TraceFiles) -> Iterator[TraceRun]:
    traces = Traces(files)
    for number_, value in enumerate(files.values()):
        document = files.record(decoded(value))
        if mapping(document.get("data")).get("spans"):
            traces.add(_trace_id(document) or f"{files.stem}/{number_}", document)
        else:
            files.refuse("there is no span of a trace in it")
    for name, documents in traces.items():
        spans = [span for each in documents for span in objects(mapping(each["data"]).get("spans"))]
        spans = read_once(spans, lambda span: text(span.get("span_id")), "span", files.findings)
        data = {**mapping(documents[0]["data"]), "spans": spans}
        run = trace_run({**documents[0], **documents[-1], "data": data}, name, files.findings)
        if run is not None:
            run.files = traces.logs(name)
            yield run


def _trace_id(document: Mapping[str, Any]) -> str | None:
    """The id of a trace: that of its info, or of its first span where an artifact keeps the spans alone."""
    info, spans = mapping(document.get("info")), objects(mapping(document.get("data")).get("spans"))
    return first_text([info, *(mapping(each.get("attributes")) for each in spans[:1])], TRACES)


IMPORTER: Final = importer(
    name="mlflow",
    title="MLflow traces",
    what="Traces of MLflow with their spans and assessments: one run per trace.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=trace_converter(_read, PLACES),
    agent=("(name of the first span of an agent)", "data.spans[].name"),
    model=("data.spans[].attributes.mlflow.spanInputs.model",),
    version=tuple(f"info.trace_metadata.{name}" for name in VERSIONS),
    prompt_version=("(version of the first of mlflow.linkedPrompts)",),
    task=("info.trace_metadata.task_id",),
    task_text=("data.spans[].attributes.mlflow.spanInputs",),
    target=("info.assessments[].expectation.value",),
    outcome=("info.assessments[].feedback.value",),
    tokens=("data.spans[].attributes.mlflow.chat.tokenUsage.input_tokens",),
    cost=("info.trace_metadata.mlflow.trace.cost.total_cost",),
    time=("data.spans[].start_time_unix_nano", "data.spans[].end_time_unix_nano"),
)
