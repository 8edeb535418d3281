"""OpenTelemetry traces of agents: GenAI semantic conventions (old and new names) and OpenInference.

A trace is a run. Spans of tools are the calls, spans of models what was said; where a trace has no tool
spans, the calls are those that the models' messages name. Where a trace follows both conventions, the GenAI
names are read, and a finding says so. Success is recorded by an evaluation event or not at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from untaken.formats.format_info import FormatInfo
from untaken.formats.importer import Importer
from untaken.formats.literals import written_object
from untaken.formats.losses import Findings
from untaken.formats.messages import MessageTranscript, tool_reply
from untaken.formats.otel_messages import INPUTS, OUTPUTS, SDK_REPLY, span_inputs, span_outputs, tool_event
from untaken.formats.otel_spans import (
    Span,
    SpanEvent,
    is_jaeger,
    is_span,
    plain_logs,
    plain_spans,
    requests,
    span_of,
)
from untaken.formats.readings import (
    amount,
    cut_name,
    items,
    mapping,
    number,
    objects,
    parsed,
    text,
    truth,
    whole,
)
from untaken.formats.sample import Confidence, Sample
from untaken.formats.tidy import Places
from untaken.formats.trace_file import TraceFile, converter
from untaken.formats.trace_run import Answered, Called, Item, Planned, TraceRun, Utterance, content_text

Kind = Literal["model", "tool", "agent", "plan", "other"]

OPERATIONS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "call_llm", "completion"), "model"),
    "execute_tool": "tool",
    **dict.fromkeys(("invoke_agent", "create_agent", "invoke_workflow"), "agent"),
    "plan": "plan",
}
LIST_MARK: Final = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("llm", "chat", "completion", "generation"), "model"),
    "tool": "tool",
    **dict.fromkeys(("agent", "workflow"), "agent"),
}
"""Kinds of OpenInference, OpenLLMetry and Langfuse."""
KIND_NAMES: Final = (
    "openinference.span.kind",
    "traceloop.span.kind",
    "llm.request.type",
    "langfuse.observation.type",
)
SDK_MODELS: Final = (".doGenerate", ".doStream")
"""How the AI SDK ends the names of the operations that call a model."""
MODEL_NAMES: Final = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id")
AGENT_NAMES: Final = (
    *("gen_ai.agent.name", "agent.name", "agent_name", "graph.node.id"),
    *("ai.telemetry.functionId", "traceloop.workflow.name", "traceloop.entity.name"),
)
SESSION: Final = ("session.id", "gen_ai.conversation.id", "langfuse.session.id")
TASK: Final = ("task.id", "task_id", "gen_ai.task.id", "metadata.task_id", "langfuse.trace.metadata.task_id")
VERSIONS: Final = ("gen_ai.agent.version", "agent.version", "langfuse.version", "langfuse.release")
SERVICE_VERSION: Final = "service.version"
PROMPT_VERSIONS: Final = (
    *("gen_ai.prompt.version", "llm.prompt_template.version", "langfuse.observation.prompt.version"),
    "traceloop.prompt.version",
)
TOOL_NAMES: Final = (
    *("gen_ai.tool.name", "tool.name", "tool_call.function.name", "ai.toolCall.name"),
    "traceloop.entity.name",
)
TOOL_IDS: Final = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
TOOL_INPUTS: Final = (
    *("gen_ai.tool.call.arguments", "gen_ai.tool.args", "tool.parameters", "tool_call.function.arguments"),
    *("tool_arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args", "traceloop.entity.input"),
    *("langfuse.observation.input", "input.value"),
)
TOOL_OUTPUTS: Final = (
    *("gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "gcp.vertex.agent.tool_response"),
    *("traceloop.entity.output", "langfuse.observation.output", "gen_ai.output", "output.value"),
)
TOOL_STATUS: Final = ("gen_ai.tool.status", "tool.status")
SUCCESS: Final = ("success", "task_success", "task_completion", "outcome")
"""Names of evaluations that are taken as the run's success."""
TOKENS: Final = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output_tokens": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
    ),
    "cached_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
    ),
}
COSTS: Final = (
    ("gen_ai.usage.cost", "llm.cost.total", "operation.cost"),
    ("gen_ai.usage.input_cost", "llm.cost.prompt"),
    ("gen_ai.usage.output_cost", "llm.cost.completion"),
)
READ: Final = (
    *("gen_ai.operation.name", "gen_ai.plan", *TOOL_STATUS, "error.type", "ai.operationId", "events"),
    *("untaken.run_id", "untaken.steps", "untaken.input.new", "gen_ai.system_instructions"),
    *(
        *KIND_NAMES,
        *MODEL_NAMES,
        *AGENT_NAMES,
        *SESSION,
        *TASK,
        *VERSIONS,
        *PROMPT_VERSIONS,
        *TOOL_NAMES,
        *TOOL_IDS,
        *TOOL_INPUTS,
    ),
    *(*TOOL_OUTPUTS, *INPUTS, *OUTPUTS, *SDK_REPLY, *(n for names in TOKENS.values() for n in names)),
    *(name for names in COSTS for name in names),
)
"""Every attribute that the importer reads."""
EVENTS: Final = (
    *("content", "message", "role", "id", "tool_calls", "gen_ai.evaluation.name", "gen_ai.event.content"),
    *("gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label", *INPUTS, *OUTPUTS),
)
PLACES: Final = Places(
    kept=[
        *("trace_id", "span_id", "parent_id", "name", "start_time", "end_time", "status.code"),
        *("status.message", "resource.service.name", "resource.service.version", "events[].name"),
        *(f"attributes.{name}.**" for name in READ),
        *(f"events[].attributes.{name}.**" for name in EVENTS),
    ]
)
MARKS: Final = ("gen_ai.*", "openinference.*", "llm.*", "traceloop.*", "ai.operationId", "langfuse.*")
"""Names by which spans of agents are known."""


def recognise(sample: Sample) -> Confidence:
    """OTLP and dumps of spans; more certain if their names mention agents."""
    first = sample.first
    if "resourceLogs" in first:  # the file exporter writes logs and spans as they come
        first = next((each for each in map(mapping, sample.records) if "resourceSpans" in each), first)
    spans = objects(first.get("spans")) or objects(first.get("data"))
    shaped = requests(first) or "resourceSpans" in first or "resource_spans" in first
    if not shaped and not any(is_span(each) or is_jaeger(each) for each in (first, *spans[:1])):
        return Confidence.NO
    agents = any(mark.rstrip("*") in sample.text for mark in MARKS)
    return Confidence.CERTAIN if agents else Confidence.LIKELY


def _kind(span: Span) -> Kind:
    operation = text(span.attributes.get("gen_ai.operation.name"))
    if operation is not None:
        return OPERATIONS.get(operation, "other")
    kind = text(span.first(*KIND_NAMES))
    if kind is not None:
        return KINDS.get(kind.lower(), "other")
    sdk = text(span.first("ai.operationId"))
    if sdk is not None:
        return "tool" if sdk == "ai.toolCall" else "model" if sdk.endswith(SDK_MODELS) else "agent"
    if span.first("gen_ai.tool.name", "tool.name") is not None:
        return "tool"
    if span.first(*MODEL_NAMES) is not None:
        return "model"
    return "agent" if span.first(*AGENT_NAMES) is not None else "other"


def _kinds(spans: Sequence[Span]) -> dict[str, Kind]:
    """The kind of each span; a model's span inside of another one repeats it and is left out."""
    kinds = {span.id: _kind(span) for span in spans}
    repeated: dict[str, Kind] = {
        span.id: "other" for span in spans if kinds[span.id] == kinds.get(span.parent) == "model"
    }
    return kinds | repeated


def trace_run(spans: Sequence[Span], findings: Findings) -> TraceRun:
    """The run of one trace."""
    ordered = sorted(spans, key=lambda span: (span.start is None, span.start or datetime.min, span.id))
    known = {span.id for span in ordered}
    root = next((span for span in ordered if span.parent not in known), ordered[0])
    kinds = _kinds(ordered)
    models = [span for span in ordered if kinds[span.id] == "model"]
    model = next((m for s in (*models, root) if (m := text(s.first(*MODEL_NAMES)))), None)
    agents = [root, *(span for span in ordered if kinds[span.id] == "agent")]
    named = next((name for span in agents if (name := text(span.first(*AGENT_NAMES)))), None)
    _note_conventions(ordered, findings)
    success, metrics = _evaluations(ordered, findings)
    ends = [span.end for span in ordered if span.end is not None]
    session = text(root.first(*SESSION))
    return TraceRun(
        run_id=text(root.first("untaken.run_id")) or f"otel/{root.trace or 'trace'}",
        agent=named
        or text(root.resource.get("service.name"))
        or _agent_span(ordered, kinds)
        or "unknown-agent",
        task_id=next((t for span in agents if (t := text(span.first(*TASK)))), None) or root.trace or "trace",
        record=[(span.id, span.attributes) for span in ordered],
        model=model,
        version=next((v for span in agents if (v := text(span.first(*VERSIONS)))), None)
        or text(root.resource.get(SERVICE_VERSION)),
        prompt_version=next((v for s in ordered if (v := text(s.first(*PROMPT_VERSIONS)))), None),
        items=list(_items(root, ordered, kinds)),
        started=root.start or ordered[0].start,
        finished=max(ends) if ends else None,
        success=success,
        cost=_cost(root, models, findings),
        steps=whole(root.first("untaken.steps"), findings, "untaken.steps") or len(models) or None,
        error=(root.message or "the root span has the status error") if root.status == "error" else None,
        metrics={**(_tokens(models, findings) or _tokens([root], findings)), **metrics},
        metadata={"format": "otel", "trace": root.trace, **({"session": session} if session else {})},
    )


def _agent_span(spans: Sequence[Span], kinds: Mapping[str, Kind]) -> str | None:
    """The name of the first span of an agent, where nothing else names it."""
    names = (span.name.removeprefix("invoke_agent ") for span in spans if kinds[span.id] == "agent")
    return next(names, None)


def _note_conventions(spans: Sequence[Span], findings: Findings) -> None:
    both = any(
        "gen_ai.operation.name" in s.attributes and "openinference.span.kind" in s.attributes for s in spans
    )
    if both:
        message = "spans follow the GenAI conventions and OpenInference; the GenAI names are read"
        findings.once("two-conventions", message, severity="note")


def _evaluations(spans: Sequence[Span], findings: Findings) -> tuple[bool | None, dict[str, float | bool]]:
    """Evaluation events: a score is a metric; one that names success is the outcome."""
    success: bool | None = None
    metrics: dict[str, float | bool] = {}
    for event in (event for span in spans for event in span.events):
        if event.name != "gen_ai.evaluation.result":
            continue
        name = text(event.attributes.get("gen_ai.evaluation.name")) or "evaluation"
        value = number(event.attributes.get("gen_ai.evaluation.score.value"), findings, "evaluation")
        label = text(event.attributes.get("gen_ai.evaluation.score.label"))
        if value is not None:
            metrics[f"evaluation:{name}"] = value
        if name.lower() in SUCCESS:
            success = _passed(value, label, findings)
    return success, metrics


def _passed(value: float | None, label: str | None, findings: Findings) -> bool | None:
    if label is not None and label.lower() in ("pass", "passed", "fail", "failed"):
        return label.lower().startswith("pass")
    if label is not None and label != "unscored":
        return truth(label, findings, "gen_ai.evaluation.score.label")
    return bool(value) if value in (0, 1) else None


def _tokens(models: Sequence[Span], findings: Findings) -> dict[str, float | bool]:
    found: dict[str, float | bool] = {}
    for name, attributes in TOKENS.items():
        each = [number(span.first(*attributes), findings, name) for span in models]
        if known := [value for value in each if value is not None]:
            found[name] = sum(known)
    return found


def _cost(root: Span, models: Sequence[Span], findings: Findings) -> float | None:
    """What the spans of models cost, else what the root says: agents between them repeat the sum.

    Totals where spans have them, else input and output.
    """
    total, *parts = COSTS
    for among in (models, [root]):
        for names in ((total,), parts):
            each = [amount(span.first(*name), findings, name[0]) for span in among for name in names]
            known = [value for value in each if value is not None]
            if known:
                return sum(known)
    return None


def _items(root: Span, spans: Sequence[Span], kinds: Mapping[str, Kind]) -> Iterator[Item]:
    transcript = MessageTranscript(calls="tool" not in kinds.values())
    if "model" not in kinds.values():
        yield from transcript.of(span_inputs(root), root.start)
    for span in spans:
        match kinds[span.id]:
            case "model":
                fresh = span.first("untaken.input.new") is True  # others repeat what was said
                yield from (transcript.reply if fresh else transcript.of)(span_inputs(span), span.start)
                yield from transcript.reply(span_outputs(span), span.end)
            case "tool":
                yield from _tool_items(span)
            case "plan":
                if steps := _plan_steps(span):
                    yield Planned(sub_goals=steps, at=span.start)
            case _:
                pass
    if "model" not in kinds.values():
        yield from transcript.of(span_outputs(root), root.end)


def _plan_steps(span: Span) -> tuple[str, ...]:
    """The steps of a plan: a list of texts, or the lines of a text or of what the model said."""
    listed = parsed(span.first("gen_ai.plan", "gen_ai.output.messages", "output.value"))
    if steps := tuple(step for each in items(listed) if (step := text(each))):
        return steps
    reply = MessageTranscript(calls=False).reply(span_outputs(span), span.end)
    texts = [content_text(one.content) for one in reply if isinstance(one, Utterance)]
    written = [listed] if isinstance(listed, str) else [one for one in texts if isinstance(one, str)]
    lines = (LIST_MARK.sub("", line).strip() for one in written for line in one.splitlines())
    return tuple(cut_name(line) for line in lines if line)


def _tool_items(span: Span) -> Iterator[Item]:
    tool = span.first(*TOOL_NAMES) or span.name.removeprefix("execute_tool ")
    call_id = text(span.first(*TOOL_IDS)) or span.id
    given = parsed(span.first(*TOOL_INPUTS) or tool_event(span, "gen_ai.tool.message", "content"))
    given = written_object(given)  # the tracers of LangChain write it as Python does
    if isinstance(given, dict) and given.keys() == {"args", "kwargs"} and not given["args"]:
        given = given["kwargs"]
    if given is not None and not isinstance(given, dict):
        given = {"input": given}
    yield Called(tool=tool, arguments=given, source_id=call_id, at=span.start)
    result = span.first(*TOOL_OUTPUTS)
    if result is None:
        result = tool_event(span, "gen_ai.choice", "message")
    worked = {"ok": True, "error": False}.get(span.status)
    if worked is None:
        worked = {"success": True, "error": False}.get(str(span.first(*TOOL_STATUS)))
    if worked is None and span.first("error.type") is not None:
        worked = False
    content = content_text(parsed(result)) if result is not None else span.message or ""
    content, worked = tool_reply(parsed(result), content, ok=worked)
    if result is not None or worked is not None or span.end is not None:
        yield Answered(content=content, source_id=call_id, ok=worked, at=span.end)


def _with_events(spans: Sequence[Span], logs: Sequence[Span]) -> list[Span]:
    """The spans with the events that were recorded as logs; those of no known span are of the first one."""
    known = {span.id for span in spans}
    home = spans[0].id
    events: dict[str, list[SpanEvent]] = defaultdict(list)
    for log in logs:
        events[log.id if log.id in known else home].extend(log.events)
    return [replace(span, events=(*span.events, *events.pop(span.id, ()))) for span in spans]


def _read(file: TraceFile) -> Iterator[TraceRun]:
    traces: dict[str, list[Span]] = defaultdict(list)
    events: dict[str, list[Span]] = defaultdict(list)
    for value in file.values():
        for span in plain_spans(value):
            found = span_of(file.record(span), file.findings)
            traces[found.trace].append(found)
        for log in plain_logs(value):
            found = span_of(file.record(log), file.findings)
            events[found.trace].append(found)
    for trace in traces.keys() & events.keys():
        traces[trace] = _with_events(traces[trace], events[trace])
    agents = [spans for spans in traces.values() if any(_kind(span) != "other" for span in spans)]
    if not agents:
        file.refuse(f"there is no span of an agent in it; looked for {', '.join(MARKS)}")
    elif others := len(traces) - len(agents):
        message = f"{others} traces have no span of an agent, a model or a tool; left out"
        file.findings.once("not-of-an-agent", message, severity="note")
    return (trace_run(spans, file.findings) for spans in agents)


IMPORTER: Final = Importer(
    info=FormatInfo(
        name="otel",
        title="OpenTelemetry traces",
        extensions=(".json", ".jsonl"),
        what="OTLP JSON and SDK dumps with GenAI or OpenInference names: one run per trace.",
    ),
    recognise=recognise,
    convert=converter(_read, PLACES),
)
