"""OpenTelemetry traces of agents: GenAI semantic conventions (old and new names) and OpenInference.

A trace is a run. Spans of tools are the calls, spans of models what was said; where a trace has no tool
spans, the calls are those that the models' messages name. Where a trace follows both conventions, the GenAI
names are read, and a finding says so. Success is recorded by an evaluation event or not at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

from untaken.formats.importer import Importer
from untaken.formats.losses import Findings
from untaken.formats.model import FormatInfo
from untaken.formats.otel_spans import Span, is_span, parsed, spans_of, unflattened, with_text_ids
from untaken.formats.readings import amount, items, mapping, number, objects, text, truth, whole
from untaken.formats.sample import Confidence, Sample
from untaken.formats.tidy import Places
from untaken.formats.trace_file import TraceFile, converter
from untaken.formats.trace_run import (
    Answered,
    Called,
    Item,
    Planned,
    TraceRun,
    Utterance,
    content_text,
)

Kind = Literal["model", "tool", "agent", "plan", "other"]

OPERATIONS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "call_llm", "completion"), "model"),
    "execute_tool": "tool",
    **dict.fromkeys(("invoke_agent", "create_agent", "invoke_workflow"), "agent"),
    "plan": "plan",
}
OPENINFERENCE: Final[Mapping[str, Kind]] = {"LLM": "model", "TOOL": "tool", "AGENT": "agent"}
TASK: Final = ("task.id", "task_id", "gen_ai.task.id", "metadata.task_id", "langfuse.trace.metadata.task_id")
SUCCESS: Final = ("success", "task_success", "task_completion", "outcome")
"""Names of evaluations that are taken as the run's success."""
TOKENS: Final = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output_tokens": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
    ),
}
COSTS: Final = (
    ("gen_ai.usage.cost", "llm.cost.total", "langfuse.observation.cost_details"),
    ("gen_ai.usage.input_cost", "llm.cost.prompt"),
    ("gen_ai.usage.output_cost", "llm.cost.completion"),
)
PLACES: Final = Places(
    kept=[f"{root}.**" for root in ("resourceSpans", "resource_spans", "spans[]", "attributes", "events[]")]
    + ["name", "traceId", "spanId", "parentSpanId", "context.trace_id", "context.span_id", "parent_id"]
    + ["start_time", "end_time", "startTimeUnixNano", "endTimeUnixNano", "status.**", "resource.**"],
)


def recognise(sample: Sample) -> Confidence:
    """OTLP and dumps of spans; more certain if their names mention agents."""
    first = sample.first
    spans = objects(first.get("spans"))
    shaped = "resourceSpans" in first or "resource_spans" in first or is_span(first)
    if not shaped and not (spans and is_span(spans[0])):
        return Confidence.NO
    agents = any(mark in sample.text for mark in ("gen_ai.", "openinference.", "llm."))
    return Confidence.CERTAIN if agents else Confidence.LIKELY


def _kind(span: Span) -> Kind:
    operation = text(span.attributes.get("gen_ai.operation.name"))
    if operation is not None:
        return OPERATIONS.get(operation, "other")
    kind = text(span.attributes.get("openinference.span.kind"))
    if kind is not None:
        return OPENINFERENCE.get(kind.upper(), "other")
    if span.first("gen_ai.tool.name", "tool.name") is not None:
        return "tool"
    return "model" if span.first("gen_ai.request.model", "llm.model_name") is not None else "other"


def _trace(spans: Sequence[Span], findings: Findings) -> TraceRun:
    ordered = sorted(spans, key=lambda span: (span.start is None, span.start or datetime.min, span.id))
    known = {span.id for span in ordered}
    root = next((span for span in ordered if span.parent not in known), ordered[0])
    kinds = {span.id: _kind(span) for span in ordered}
    agent = next(
        (s for s in (root, *ordered) if kinds[s.id] == "agent" and s.first("gen_ai.agent.name")), root
    )
    models = [span for span in ordered if kinds[span.id] == "model"]
    model = next(
        (m for s in (*models, root) if (m := text(s.first("gen_ai.request.model", "llm.model_name")))), None
    )
    named = agent.first("gen_ai.agent.name", "agent.name", "graph.node.id") or root.resource.get(
        "service.name"
    )
    _note_conventions(ordered, findings)
    success, metrics = _evaluations(ordered, findings)
    ends = [span.end for span in ordered if span.end is not None]
    session = text(root.first("session.id", "gen_ai.conversation.id", "langfuse.session.id"))
    return TraceRun(
        run_id=text(root.first("untaken.run_id")) or f"otel/{root.trace or 'trace'}",
        agent=text(named) or "unknown-agent",
        task_id=next((t for s in (root, agent) if (t := text(s.first(*TASK)))), None)
        or root.trace
        or "trace",
        record=[(span.id, span.attributes) for span in ordered],
        model=model,
        items=_items(ordered, kinds),
        started=root.start or ordered[0].start,
        finished=max(ends) if ends else None,
        success=success,
        cost=_cost(root, ordered, findings),
        steps=whole(root.first("untaken.steps"), findings, "untaken.steps") or len(models) or None,
        error=(root.message or "the root span has the status error") if root.status == "error" else None,
        metrics={**_tokens(models, findings), **metrics},
        metadata={"format": "otel", "trace": root.trace, **({"session": session} if session else {})},
    )


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


def _cost(root: Span, spans: Sequence[Span], findings: Findings) -> float | None:
    """What the spans of models cost, else what the root says: agents between them repeat the sum.

    Totals where spans have them, else input and output.
    """
    models = [span for span in spans if _kind(span) == "model"]
    whole_cost, *parts = COSTS
    for among in (models, [root]):
        for names in ((whole_cost,), parts):
            each = [amount(span.first(*name), findings, name[0]) for span in among for name in names]
            known = [value for value in each if value is not None]
            if known:
                return sum(known)
    return None


def _items(spans: Sequence[Span], kinds: Mapping[str, Kind]) -> list[Item]:
    tools = [span for span in spans if kinds[span.id] == "tool"]
    found: list[Item] = []
    asked = False
    for span in spans:
        match kinds[span.id]:
            case "model":
                new = not asked or span.first("untaken.input.new") is True  # others repeat what was said
                found += _model_items(span, first=new, calls=not tools)
                asked = True
            case "tool":
                found += _tool_items(span)
            case "plan":
                steps = parsed(span.first("gen_ai.plan", "gen_ai.output.messages", "output.value"))
                if names := tuple(step for each in items(steps) if (step := text(each))):
                    found.append(Planned(sub_goals=names, at=span.start))
            case _:
                pass
    return found


def _tool_items(span: Span) -> Iterator[Item]:
    name = span.first("gen_ai.tool.name", "tool.name", "tool_call.function.name") or span.name
    call_id = text(span.first("gen_ai.tool.call.id", "tool_call.id", "tool.id")) or span.id
    arguments = span.first(
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.args",
        "tool.parameters",
        "tool_call.function.arguments",
        "input.value",
    )
    given = parsed(arguments)
    if given is not None and not isinstance(given, dict):
        given = {"input": given}
    yield Called(tool=name, arguments=given, source_id=call_id, at=span.start)
    result = span.first("gen_ai.tool.call.result", "gen_ai.output", "output.value")
    ok = {"ok": True, "error": False}.get(span.status)
    yield Answered(
        content=parsed(result) if result is not None else span.message or "",
        source_id=call_id,
        ok=ok,
        at=span.end,
    )


def _model_items(span: Span, *, first: bool, calls: bool) -> Iterator[Item]:
    for message in _inputs(span) if first or calls else ():
        yield from _spoken(message, span.start, calls=False) if first else ()
    for message in _outputs(span):
        yield from _spoken(message, span.end, calls=calls)


def _inputs(span: Span) -> list[dict[str, Any]]:
    """What the model was asked: attributes old and new, events, OpenInference."""
    instructions = parsed(span.first("gen_ai.system_instructions"))
    system = (
        [{"role": "system", "parts": instructions if isinstance(instructions, list) else [instructions]}]
        if instructions
        else []
    )
    given = parsed(span.first("gen_ai.input.messages", "gen_ai.prompt"))
    if isinstance(given, list):
        return [*system, *objects(given)]
    if isinstance(given, str):
        return [*system, {"role": "user", "content": given}]
    flat = [_openinference(each) for each in unflattened(span.attributes, "llm.input_messages")]
    events = [
        {"role": event.name.split(".")[1], **event.attributes}
        for event in span.events
        if event.name.startswith("gen_ai.") and event.name.endswith(".message")
    ]
    return [*system, *(flat or events)]


def _outputs(span: Span) -> list[dict[str, Any]]:
    given = parsed(span.first("gen_ai.output.messages", "gen_ai.completion"))
    if isinstance(given, list):
        return objects(given)
    if isinstance(given, str):
        return [{"role": "assistant", "content": given}]
    flat = [_openinference(each) for each in unflattened(span.attributes, "llm.output_messages")]
    if flat:
        return flat
    choices = [e.attributes for e in span.events if e.name == "gen_ai.choice"]
    if choices:
        return [{"role": "assistant", **mapping(parsed(each.get("message")) or each)} for each in choices]
    plain = parsed(span.first("gen_ai.output", "output.value"))
    if isinstance(plain, str):
        return [{"role": "assistant", "content": plain}]
    called = [each for each in objects(plain) if text(each.get("tool.name"))]
    return [
        {
            "role": "assistant",
            "tool_calls": [{"name": c["tool.name"], "arguments": c.get("tool.args")} for c in called],
        }
    ]


def _openinference(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = [
        {
            "id": each.get("tool_call.id"),
            "name": each.get("tool_call.function.name"),
            "arguments": each.get("tool_call.function.arguments"),
        }
        for each in unflattened(message, "message.tool_calls")
    ]
    return {
        "role": message.get("message.role"),
        "content": message.get("message.content"),
        "tool_call_id": message.get("message.tool_call_id"),
        "tool_calls": calls,
    }


def _spoken(message: Mapping[str, Any], at: datetime | None, *, calls: bool) -> Iterator[Item]:
    role = text(message.get("role")) or "unknown"
    parts = objects(message.get("parts"))
    content = message.get("content")
    if parts:
        texts = [text(p.get("content")) for p in parts if p.get("type") in ("text", None)]
        content = "\n".join(each for each in texts if each)
    if role == "tool":
        if calls:
            yield Answered(content=content_text(content), source_id=text(message.get("tool_call_id")), at=at)
        return
    yield Utterance(role=role, content=content_text(content), at=at)
    if not calls:
        return
    named = [p for p in parts if p.get("type") == "tool_call"] or objects(message.get("tool_calls"))
    for call in named:
        function = mapping(call.get("function")) or call
        yield Called(
            tool=function.get("name"),
            arguments=function.get("arguments"),
            source_id=text(call.get("id")),
            at=at,
        )


def _read(file: TraceFile) -> Iterator[TraceRun]:
    traces: dict[str, list[Span]] = defaultdict(list)
    for value in file.values():
        for span in spans_of(file.record(with_text_ids(value)), file.findings):
            traces[span.trace].append(span)
    if not traces:
        file.refuse("there is no span in it")
    return (_trace(spans, file.findings) for spans in traces.values())


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
