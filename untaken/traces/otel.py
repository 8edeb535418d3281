"""OpenTelemetry traces of agents: GenAI semantic conventions (old and new names) and OpenInference.

A trace is a run. Spans of tools are the calls, spans of models what was said; where a trace has no tool
spans, the calls are those that the models' messages name. Where a trace follows both conventions, the GenAI
names are read, and a finding says so. Success is recorded by an evaluation event or not at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, Literal

from msgspec.structs import replace

from untaken.ledger import Plan
from untaken.traces.importer import importer
from untaken.traces.literals import written_object
from untaken.traces.losses import Findings
from untaken.traces.message_transcript import MessageTranscript
from untaken.traces.messages import tool_message, tool_reply
from untaken.traces.model_calls import own_spans
from untaken.traces.otel_kinds import (
    AGENT_NAMES,
    COSTS,
    INPUTS,
    KIND_NAMES,
    MODEL_NAMES,
    OUTPUTS,
    SDK_REPLY,
    TOKENS,
    TOOL_IDS,
    TOOL_NAMES,
    TOOL_OUTPUTS,
    KnownSpans,
    kind_of,
    span_inputs,
    span_outputs,
    speaks,
    tool_event,
)
from untaken.traces.otel_spans import (
    UNNAMED,
    Span,
    SpanEvent,
    is_jaeger,
    is_span,
    plain_logs,
    plain_spans,
    requests,
    span_of,
    unflattened,
)
from untaken.traces.outcome_fields import agreed
from untaken.traces.readings import cut_name, items, mapping, number, objects, parsed, text, truth, whole
from untaken.traces.sample import Confidence, Sample
from untaken.traces.span_rows import deepeval_spans, span_rows
from untaken.traces.spending import Amounts
from untaken.traces.tidy import Places
from untaken.traces.trace_records import TraceFiles, Traces, read_once, trace_converter
from untaken.traces.trace_run import Answered, Called, Item, Recorded, TraceRun, Utterance, content_text

LIST_MARK: Final = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
SESSION: Final = (*("session.id", "gen_ai.conversation.id", "langfuse.session.id", "scope.agentic.session"),)
TASK: Final = ("task.id", "task_id", "gen_ai.task.id", "metadata.task_id", "langfuse.trace.metadata.task_id")
VERSIONS: Final = ("gen_ai.agent.version", "agent.version", "langfuse.version", "langfuse.release")
SERVICE_VERSION: Final = "service.version"
PROMPT_VERSIONS: Final = (
    *("gen_ai.prompt.version", "llm.prompt_template.version", "langfuse.observation.prompt.version"),
    "traceloop.prompt.version",
)
TOOL_INPUTS: Final = (
    *("gen_ai.tool.call.arguments", "gen_ai.tool.args", "tool.parameters", "tool_call.function.arguments"),
    *("tool_arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args", "traceloop.entity.input"),
    *("langfuse.observation.input", "input.value"),
)
WORKED: Final = {"success": True, "error": False, "failure": False}
TOOL_STATUS: Final = ("gen_ai.tool.status", "tool.status", "gen_ai.task.status")
LANGCHAIN_MODEL: Final = "traceloop.association.properties.ls_model_name"
"""Where OpenLLMetry names a model of LangChain, which it calls unknown."""
SUCCESS: Final = ("success", "task_success", "task_completion", "outcome")
"""Names of evaluations that are taken as the run's success."""
ANNOTATIONS: Final = ("trace.annotations", "annotations")
"""Attributes that Phoenix writes the annotations of a trace and of a span with, numbered."""
READ: Final = (
    *("gen_ai.operation.name", "gen_ai.plan", *TOOL_STATUS, "error.type", "ai.operationId", "events"),
    *("gen_ai.response.id", "untaken.run_id", "untaken.steps", "untaken.input.new"),
    "gen_ai.system_instructions",
    *KIND_NAMES,
    *(*MODEL_NAMES, LANGCHAIN_MODEL),
    *AGENT_NAMES,
    *SESSION,
    *TASK,
    *VERSIONS,
    *PROMPT_VERSIONS,
    *TOOL_NAMES,
    *TOOL_IDS,
    *TOOL_INPUTS,
    *(*TOOL_OUTPUTS, *INPUTS, *OUTPUTS, *SDK_REPLY, *(n for names in TOKENS.values() for n in names)),
    *(name for names in COSTS for name in names),
)
"""Every attribute that the importer reads."""
CREATED: Final = "create_agent"
"""An operation that makes an agent, which does nothing yet."""
UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
RootSpeaks = Literal["", "reply", "both"]
"""What of a root is said besides: what it gave, or also what it was given."""
_FRAMES: Final = 20
"""How many spans around the calls of models are asked for what was said."""
EVENTS: Final = (
    *("content", "message", "role", "id", "tool_calls", "gen_ai.evaluation.name", "gen_ai.event.content"),
    *("gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label", *INPUTS, *OUTPUTS),
)
PLACES: Final = Places(
    kept=[
        *("trace_id", "span_id", "parent_id", "name", "start_time", "end_time", "status.code"),
        *("status.message", "resource.service.name", "resource.service.version", "scope.name"),
        "events[].name",
        *(f"attributes.{name}.**" for name in READ),
        *(f"attributes.{name}.{number}.**" for name in ANNOTATIONS for number in range(10)),
        *(f"events[].attributes.{name}.**" for name in EVENTS),
    ]
)
MLFLOW: Final = "mlflow.spanType"
"""What tells a list of MLflow's spans, which have the ids of OpenTelemetry, from others."""
MARKS: Final = ("gen_ai.*", "openinference.*", "llm.*", "traceloop.*", "ai.operationId", "langfuse.*")
"""Names by which spans of agents are known."""


def recognise(sample: Sample) -> Confidence:
    """OTLP and dumps of spans; more certain if their names mention agents."""
    first = sample.first or next((each for trace in sample.records for each in objects(trace)), {})
    if "resourceLogs" in first:  # the file exporter writes logs and spans as they come
        first = next((each for each in map(mapping, sample.records) if "resourceSpans" in each), first)
    traced = [first, mapping(parsed(first.get("trace"))), *objects(first.get("traces"))[:1]]
    spans = [span for trace in traced for span in objects(trace.get("spans"))]
    spans = spans or objects(first.get("data")) or list(span_rows(first))
    if next(deepeval_spans(first), None) is not None:
        return Confidence.CERTAIN
    shaped = requests(first) or "resourceSpans" in first or "resource_spans" in first
    if not shaped and not any(is_span(each) or is_jaeger(each) for each in (first, *spans[:1])):
        return Confidence.NO
    agents = any(mark.rstrip("*") in sample.text for mark in MARKS) and MLFLOW not in sample.text
    return Confidence.CERTAIN if agents else Confidence.LIKELY


def trace_run(
    spans: Sequence[Span],
    findings: Findings,
    *,
    run_id: str = "",
    total: Amounts | None = None,
    root_speaks: RootSpeaks = "",
) -> TraceRun:
    """The run of one trace.

    Args:
        spans: of the trace.
        findings: of the file.
        run_id: by default what the root says that it is.
        total: what the trace spent, where its spans are not what says it.
        root_speaks: what the root was given and gave that is said in the run, whatever its models said.
    """
    ordered = sorted(spans, key=lambda span: (span.start is None, span.start or datetime.min, span.id))
    known = {span.id for span in ordered}
    roots = [span for span in ordered if span.parent not in known] or ordered[:1]  # parents may form a ring
    root, trace = roots[0], roots[0].trace or "trace"
    run_id = run_id or text(root.first("untaken.run_id")) or f"otel/{trace}"
    own, spent = own_spans(ordered, roots, run_id, findings, total)
    models = [span for span, kind in own if kind == "model"]
    written = (text(s.first(name)) for s in (*models, root) for name in (*MODEL_NAMES, LANGCHAIN_MODEL))
    model = next((name for name in written if name and name != "unknown"), None)
    agents = [root, *(span for span, kind in own if kind == "agent")]
    names = (text(span.attributes.get(name)) for span in agents for name in AGENT_NAMES)
    named = next((name for name in names if name and not is_id(name)), None)
    _note_conventions(ordered, findings)
    (success, named_outcome), metrics = _evaluations(ordered, findings)
    ends = [span.end for span in ordered if span.end is not None]
    session = text(root.first(*SESSION))
    return TraceRun(
        run_id=run_id,
        agent=named or _service(root) or _agent_span(own) or _top(root, own) or model or "unknown-agent",
        task_id=next((t for span in agents if (t := text(span.first(*TASK)))), None) or trace,
        record=[(span.id, span.attributes) for span in ordered],
        model=model,
        version=next((v for span in agents if (v := text(span.first(*VERSIONS)))), None)
        or text(root.resource.get(SERVICE_VERSION)),
        prompt_version=next((v for s in ordered if (v := text(s.first(*PROMPT_VERSIONS)))), None),
        items=list(_items(root, own, root_speaks)),
        started=root.start or ordered[0].start,
        finished=max(ends) if ends else None,
        success=success,
        outcome_named=named_outcome,
        cost=spent.cost,
        steps=whole(root.first("untaken.steps"), findings, "untaken.steps") or len(models) or None,
        error=(root.message or "the root span has the status error") if root.status == "error" else None,
        metrics={**spent.tokens, **metrics},
        metadata={"format": "otel", "trace": root.trace, **({"session": session} if session else {})},
    )


def _service(root: Span) -> str | None:
    """The name of the service; an SDK that was not given one calls it unknown."""
    name = text(root.resource.get("service.name"))
    return None if name is None or name.startswith("unknown_service") else name


def _top(root: Span, own: KnownSpans) -> str | None:
    """The name of the root, where it is no call of a model or a tool."""
    plain = any(span is root and kind == "other" for span, kind in own)
    return root.name if plain and root.name != UNNAMED and not is_id(root.name) else None


def _agent_span(own: KnownSpans) -> str | None:
    """The name of the first span of an agent, where nothing else names it."""
    names = (span.name for span, kind in own if kind == "agent" and span.name != UNNAMED)
    return next((name.removeprefix("invoke_agent ") for name in names if not is_id(name)), None)


def is_id(name: str) -> bool:
    """Whether a name is made for one run: some frameworks name an agent by its id."""
    return UUID.search(name) is not None


def _note_conventions(spans: Sequence[Span], findings: Findings) -> None:
    both = any(
        "gen_ai.operation.name" in s.attributes and "openinference.span.kind" in s.attributes for s in spans
    )
    if both:
        message = "spans follow the GenAI conventions and OpenInference; the GenAI names are read"
        findings.once("two-conventions", message, severity="note")


def _evaluations(
    spans: Sequence[Span], findings: Findings
) -> tuple[tuple[bool | None, bool], dict[str, float | bool]]:
    """Evaluation events and annotations of Phoenix are metrics; one that names success is the outcome."""
    outcomes: list[tuple[str, bool]] = []
    metrics: dict[str, float | bool] = {}
    for about in (each for span in spans for each in _scores(span)):
        name = text(about.get("name")) or "evaluation"
        value = number(about.get("score.value", about.get("score")), findings, "evaluation")
        label = text(about.get("score.label", about.get("label")))
        if value is not None:
            metrics[f"evaluation:{name}"] = value
        if name.lower() in SUCCESS and (success := _passed(value, label, findings)) is not None:
            outcomes.append((name, success))
    return agreed(outcomes, findings), metrics


def _scores(span: Span) -> Iterator[dict[str, Any]]:
    """What was said about a span, or in its root about the trace, by the ends of their names."""
    for event, attributes in span.events:
        if event == "gen_ai.evaluation.result":
            yield {name.removeprefix("gen_ai.evaluation."): value for name, value in attributes.items()}
    for prefix in ANNOTATIONS:
        for each in (*unflattened(span.attributes, prefix), *objects(parsed(span.attributes.get(prefix)))):
            yield {name.removeprefix("annotation."): value for name, value in each.items()}


def _passed(value: float | None, label: str | None, findings: Findings) -> bool | None:
    if label is not None and label.lower() in ("pass", "passed", "fail", "failed"):
        return label.lower().startswith("pass")
    if label is not None and label != "unscored":
        return truth(label, findings, "gen_ai.evaluation.score.label")
    return bool(value) if value in (0, 1) else None  # anything between is not decided


def _items(root: Span, own: KnownSpans, root_speaks: RootSpeaks) -> Iterator[Item]:
    kinds = {kind for _, kind in own}
    tools = {str(tool) for span, kind in own if kind == "tool" and (tool := span.first(*TOOL_NAMES))}
    transcript = MessageTranscript(calls="tool" not in kinds, tools=tools)
    found = list(transcript.of(span_inputs(root), root.start)) if root_speaks == "both" else []
    roles = {item.role for item in found if isinstance(item, Utterance)}
    for span, kind in own:
        match kind:
            case "model":
                fresh = span.first("untaken.input.new") is True  # others repeat what was said
                asked = list((transcript.reply if fresh else transcript.of)(span_inputs(span), span.start))
                gave = list(transcript.reply(span_outputs(span), span.end))
                roles |= {item.role for item in asked if isinstance(item, Utterance)}
                roles |= {"assistant"} if gave or speaks(span) else set()
                found += [*asked, *gave]
            case "tool":
                found += _tool_items(span)
            case "plan":
                if steps := _plan_steps(span):
                    found.append(Recorded(Plan, {"sub_goals": list(steps)}, span.start))
    if "user" not in roles:  # the spans of models may have no content, or there are none
        yield from transcript.of(_around(root, own, span_inputs), root.start)
    yield from found
    if "assistant" not in roles:
        yield from transcript.of(_around(root, own, span_outputs), root.end)
    elif root_speaks:  # mostly the words of the last model once more
        yield from transcript.of(span_outputs(root), root.end)


def _around(
    root: Span, own: KnownSpans, messages: Callable[[Span], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """What the root was given or gave, or the first span of an agent or a chain that has it."""
    around = {span.parent for span, _ in own}
    frames = (s for s, kind in own if kind in ("agent", "frame") or (kind == "other" and s.id in around))
    spans = [root, *frames] if kind_of(root) != "tool" else [*frames]  # arguments are no words
    return next(filter(None, map(messages, spans[:_FRAMES])), [])


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


def _called_with(given: Any) -> Any:
    """What a tool was called with, without what OpenLLMetry and the tracers of LangChain put around it."""
    given = written_object(given)  # some write it as Python does
    if isinstance(given, dict) and "input_str" in given:
        inputs = given.get("inputs")
        given = inputs if isinstance(inputs, dict) else written_object(given["input_str"])
    if isinstance(given, dict) and given.keys() == {"args", "kwargs"} and not given["args"]:
        given = given["kwargs"]
    return {"input": given} if given is not None and not isinstance(given, dict) else given


def _gave_back(result: Any) -> Any:
    """What a tool gave back, without what OpenLLMetry puts around it."""
    wrapped = mapping(parsed(result))
    if wrapped.keys() == {"output", "kwargs"} or tool_message(wrapped.get("output")) is not None:
        return wrapped["output"]
    return result


def _tool_items(span: Span) -> Iterator[Item]:
    tool = span.first(*TOOL_NAMES) or span.name.removeprefix("execute_tool ")
    result = _gave_back(span.first(*TOOL_OUTPUTS))
    reply = tool_message(parsed(result))
    call_id = text(span.first(*TOOL_IDS)) or (reply.source_id if reply else None) or span.id
    given = span.first(*TOOL_INPUTS)  # of a call without arguments, an empty object
    if given in (None, ""):
        given = tool_event(span, "gen_ai.tool.message", "content")
    given = _called_with(parsed(given))
    yield Called(tool=tool, arguments=given, source_id=call_id, at=span.start)
    if result is None:
        result = tool_event(span, "gen_ai.choice", "message")
    worked = {"ok": True, "error": False}.get(span.status)
    if worked is None:
        worked = WORKED.get(str(span.first(*TOOL_STATUS)))
    if worked is None and span.first("error.type") is not None:
        worked = False
    content = content_text(parsed(result)) if result is not None else span.message or ""
    content, worked = tool_reply(parsed(result), content, ok=worked)
    if result is not None or worked is not None or span.end is not None:  # else it was still under way
        yield Answered(content=content, source_id=call_id, ok=worked, at=span.end)


def _with_events(spans: Sequence[Span], logs: Sequence[Span]) -> list[Span]:
    """The spans with the events that were recorded as logs; those of no known span are of the first one."""
    known = {span.id for span in spans}
    home = spans[0].id
    events: dict[str, list[SpanEvent]] = defaultdict(list)
    for log in logs:
        events[log.id if log.id in known else home].extend(log.events)
    return [replace(span, events=(*span.events, *events.pop(span.id, ()))) for span in spans]


def _read(files: TraceFiles) -> Iterator[TraceRun]:
    spans, logs = Traces(files), Traces(files)
    for value in files.values():
        for each in plain_spans(value):
            span = mapping(files.record(each))
            spans.add(text(span.get("trace_id")) or "", span)
        for each in plain_logs(value):
            log = mapping(files.record(each))
            logs.add(text(log.get("trace_id")) or "", log)
    events = dict(logs.items())
    others = 0
    found = False
    for trace, records in spans.items():
        once = read_once(records, lambda span: text(span.get("span_id")), "span", files.findings)
        own = [span_of(each, files.findings) for each in once]
        if trace in events:
            own = _with_events(own, [span_of(each, files.findings) for each in events[trace]])
        if any(kind_of(span) != "other" and span.first("gen_ai.operation.name") != CREATED for span in own):
            found = True
            run = trace_run(own, files.findings)
            run.files = spans.logs(trace)
            yield run
        else:
            others += 1
    if not found:
        files.refuse(f"there is no span of an agent in it; looked for {', '.join(MARKS)}")
    elif others:
        message = f"{others} traces have no span of an agent, a model or a tool; left out"
        files.findings.once("not-of-an-agent", message, severity="note")


IMPORTER: Final = importer(
    name="otel",
    title="OpenTelemetry traces",
    what="OTLP JSON and SDK dumps with GenAI or OpenInference names: one run per trace.",
    recognise=recognise,
    convert=trace_converter(_read, PLACES),
    agent=(
        *(f"attributes.{name}" for name in AGENT_NAMES),
        "resource.attributes.service.name",
        "(name of the first span of an agent, else of the root)",
        "(else the model)",
    ),
    model=tuple(f"attributes.{name}" for name in MODEL_NAMES),
    version=(*(f"attributes.{name}" for name in VERSIONS), f"resource.attributes.{SERVICE_VERSION}"),
    prompt_version=tuple(f"attributes.{name}" for name in PROMPT_VERSIONS),
    task=tuple(f"attributes.{name}" for name in TASK),
    outcome=("events[].attributes.gen_ai.evaluation.score.value",),
    tokens=("attributes.gen_ai.usage.input_tokens", "attributes.gen_ai.usage.output_tokens"),
    cost=("attributes.gen_ai.usage.cost",),
    time=("start_time", "end_time"),
)
