"""LangSmith run trees: a root with its ``child_runs``, or the same runs one after the other.

A trace is a run. Runs of tools are the calls, runs of models what was said; where a trace has no tool runs,
the calls are those that the messages name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from untaken.traces import otel
from untaken.traces.importer import importer
from untaken.traces.literals import written_object
from untaken.traces.losses import Findings, clip
from untaken.traces.messages import is_message, message_items, replied, tokens_of
from untaken.traces.otel import SUCCESS
from untaken.traces.otel_kinds import spoken_attributes, usage_attributes
from untaken.traces.otel_spans import Span, span_of
from untaken.traces.outcome_fields import agreed
from untaken.traces.readings import first_text, mapping, moment, number, objects, parsed, text
from untaken.traces.sample import Confidence, Sample
from untaken.traces.spending import USAGE, added, usage
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, under
from untaken.traces.trace_records import TraceFiles, Traces, read_once, trace_converter
from untaken.traces.trace_run import Answered, TraceRun

Node = Mapping[str, Any]

UUID_CHARS: Final = 36
MODELS: Final = ("llm", "chat_model")
KINDS: Final = {**dict.fromkeys(MODELS, "generation"), "tool": "tool"}
"""What a run is, and what Langfuse calls it."""
OBJECTS: Final = ("inputs", "outputs", "extra", "feedback_stats", "serialized", "events")
TOKENS: Final = {
    **USAGE,
    "cached_tokens": ("prompt_token_details.cache_read",),
    "cache_creation_tokens": ("prompt_token_details.cache_creation",),
    "reasoning_tokens": ("completion_token_details.reasoning",),
    "cost": ("total_cost",),
}
VERSIONS: Final = ("revision_id", "agent_version", "version")
PROMPT_VERSIONS: Final = ("lc_hub_commit_hash", "prompt_version")
"""Names in the metadata of a run; the first is LangSmith's own."""
PLACES: Final = Places(
    kept=[
        *("id", "run_id", "trace_id", "parent_run_id", "dotted_order", "name", "run_type"),
        *("start_time", "end_time"),
        *("error", "status", "inputs.**", "outputs.**", "reference_example_id", "reference_outputs.**"),
        "feedback_stats.**",
        *under("extra.metadata.", "task_id thread_id session_id"),
        *(f"extra.metadata.{name}" for name in (*VERSIONS, *PROMPT_VERSIONS)),
        *("extra.metadata.ls_model_name", "extra.invocation_params.model"),
        *(key for keys in TOKENS.values() for key in keys),
    ],
    dropped=["serialized.**", "events.**", "extra.runtime.**", "extra.options.**", "manifest.**"],
)


def recognise(sample: Sample) -> Confidence:
    """Runs with a type, that say their place in a tree."""
    marks = ("child_runs", "parent_run_id", "dotted_order", "trace_id")
    for node in (node for record in sample.records for node in _sent(record)):
        if isinstance(node.get("run_type"), str) and any(mark in node for mark in marks):
            return Confidence.CERTAIN if "dotted_order" in node or "child_runs" in node else Confidence.LIKELY
    return Confidence.NO


def _sent(record: Any) -> list[dict[str, Any]]:
    """The runs in a record: a page of them, a batch as a client sends it, or one."""
    document = mapping(record)
    batch = [*objects(document.get("post")), *objects(document.get("patch"))]
    return objects(document.get("runs")) or batch or objects([record])


def nodes(record: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The runs in a record, and updates of some, with the trace they are of; a parent before its children."""
    left = [("", each) for each in reversed(_sent(record))]
    while left:
        above, node = left.pop()
        # LangSmith's command line writes the one; an update may have the other alone, which ends in the id.
        if "id" not in node and (
            name := node.get("run_id") or str(node.get("dotted_order", ""))[-UUID_CHARS:]
        ):
            node = {"id": name, **node}
        trace = text(node.get("trace_id")) or above or text(node.get("id")) or "trace"
        left += [(trace, child) for child in reversed(objects(node.get("child_runs")))]
        if isinstance(node.get("run_type"), str) or "dotted_order" in node:
            # A bulk export writes the parts that are objects as JSON texts.
            parts = {name: parsed(each) if name in OBJECTS else each for name, each in node.items()}
            parts.pop("child_runs", None)
            yield trace, parts


def _at(node: Node, name: str, findings: Findings) -> datetime | None:
    return moment(node.get(name), findings, name)


def _error(node: Node) -> str | None:
    """What went wrong, without the traceback below it."""
    error = text(node.get("error"))
    return error and (error.partition("Traceback (most recent")[0].strip() or error)


def _metadata(node: Node) -> dict[str, Any]:
    return mapping(mapping(node.get("extra")).get("metadata"))


def trace_run(trace: str, runs: Sequence[Node], findings: Findings) -> TraceRun:
    """The run of one trace."""
    # A dotted order begins with that of the parent, and has the times: a parent sorts before its children.
    ordered = sorted(runs, key=lambda n: text(n.get("dotted_order")) or text(n.get("start_time")) or "")
    known = {text(node.get("id")) for node in ordered}
    root = next((node for node in ordered if text(node.get("parent_run_id")) not in known), ordered[0])
    run = otel.trace_run(
        [_span(node, trace, findings) for node in ordered],
        findings,
        run_id=f"langsmith/{trace}",
        # A call is no total of calls.
        total={} if root.get("run_type") in MODELS else usage(root, findings, TOKENS),
        root_speaks="both",
    )
    run.agent = text(root.get("name")) or "unknown-agent"
    run.task_id = text(_metadata(root).get("task_id")) or text(root.get("reference_example_id")) or trace
    run.record = ordered
    run.version = first_text(map(_metadata, ordered), VERSIONS)
    run.prompt_version = first_text(map(_metadata, ordered), PROMPT_VERSIONS)
    run.started, run.finished = _at(root, "start_time", findings), _at(root, "end_time", findings)
    (run.success, run.outcome_named), feedback = _feedback(root, findings)
    run.error = _error(root)
    run.metrics |= feedback
    session = first_text([_metadata(root)], ("thread_id", "session_id"))
    run.metadata = {
        "format": "langsmith",
        **({"session": session} if session else {}),
        **described(root.get("inputs"), root.get("reference_outputs")),
    }
    return run


def _span(node: Node, trace: str, findings: Findings) -> Span:
    """The run of a part as the span that it is."""
    kind, outputs, error = str(node.get("run_type")), mapping(node.get("outputs")), _error(node)
    given, gave = node.get("inputs"), node.get("outputs")
    failed, ended = error is not None or node.get("status") == "error", node.get("end_time") is not None
    used = usage(node, findings, TOKENS)
    if kind in MODELS:  # of what is around them, the outputs are those of the model
        replies = tokens_of(replied(outputs), findings) or tokens_of([outputs], findings)
        used = {**added(replies), **used}  # what the run says of itself goes first
    elif kind == "tool":
        given, gave = _given(node), outputs.get("output", outputs) if outputs or error is None else None
        message = next(message_items(mapping(gave)), None) if is_message(gave) else None
        if isinstance(message, Answered):
            gave, failed = message.content, failed or message.ok is False
    plain = {
        "trace_id": trace,
        "span_id": node.get("id"),
        "parent_id": node.get("parent_run_id"),
        "name": node.get("name"),
        "start_time": node.get("start_time"),
        "end_time": node.get("end_time"),
        # One without an end was under way.
        "status": {"code": "error" if failed else "ok" if ended else None, "message": error},
        "attributes": {
            **spoken_attributes(KINDS.get(kind, "other"), given, gave),
            "gen_ai.request.model": _model(node) if kind in MODELS else None,
            "gen_ai.tool.call.id": node.get("id"),
            **usage_attributes(used),
        },
    }
    return span_of(plain, findings)


def _model(node: Node) -> str | None:
    called = mapping(mapping(node.get("extra")).get("invocation_params"))
    return text(_metadata(node).get("ls_model_name")) or text(called.get("model"))


def _feedback(root: Node, findings: Findings) -> tuple[tuple[bool | None, bool], dict[str, float]]:
    """Averages of feedback are metrics; one that names success, and is 0 or 1, is the outcome."""
    found: dict[str, float] = {}
    for name, stats in mapping(root.get("feedback_stats")).items():
        average = number(mapping(stats).get("avg"), findings, f"feedback_stats.{clip(name, 80)}")
        if average is not None:
            found[f"feedback:{name}"] = average
    named = ((name, found.get(f"feedback:{name}")) for name in SUCCESS)
    return agreed([(name, value == 1) for name, value in named if value in (0, 1)], findings), found


def _given(node: Node) -> Any:
    """What a tool was called with; the tracer of LangChain writes it as text, as Python does."""
    inputs = node.get("inputs")
    written = inputs.get("input") if isinstance(inputs, dict) and len(inputs) == 1 else None
    return mapping(written_object(written)) or inputs


def _read(files: TraceFiles) -> Iterator[TraceRun]:
    read = Traces(files)
    for value in files.values():
        for trace, node in nodes(value):
            read.add(trace, mapping(files.record(node)))
    if not read:
        files.refuse("there is no run with a type in it")
    everything = [node for _, records in read.items() for node in records]
    roots = _roots(
        {node_id: text(node.get("parent_run_id")) for node in everything if (node_id := text(node.get("id")))}
    )
    traces: dict[str, list[str]] = defaultdict(list)
    for trace, _ in read.items():
        traces[roots.get(trace, trace)].append(trace)
    records = dict(read.items())
    for root, parts in traces.items():
        found = [node for trace in parts for node in records[trace]]
        whole = read_once(found, lambda node: text(node.get("id")), "run", files.findings)
        typed = [node for node in whole if isinstance(node.get("run_type"), str)]
        if not typed:
            files.refuse("there is no run with a type in it")
            continue
        run = trace_run(root, typed, files.findings)
        run.files = read.logs(*parts)
        yield run


def _roots(above: Mapping[str, str | None]) -> dict[str, str]:
    """The root of each run, by the parents that are in the file: not every export says the trace."""
    found: dict[str, str] = {}
    for start in above:
        path = {start: None}
        at = above[start]
        while at is not None and at in above and at not in found and at not in path:  # a ring ends it, too
            path[at] = None
            at = above[at]
        root = found[at] if at in found else next(reversed(path))
        found |= dict.fromkeys(path, root)
    return found


IMPORTER: Final = importer(
    name="langsmith",
    title="LangSmith run trees",
    what="Exported runs, nested or flat: one run per trace.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=trace_converter(_read, PLACES),
    agent=("name",),
    model=("extra.metadata.ls_model_name", "extra.invocation_params.model"),
    version=tuple(f"extra.metadata.{name}" for name in VERSIONS),
    prompt_version=tuple(f"extra.metadata.{name}" for name in PROMPT_VERSIONS),
    task=("extra.metadata.task_id",),
    task_text=("inputs",),
    target=("reference_outputs",),
    outcome=("feedback_stats.success.avg",),
    tokens=("prompt_tokens", "completion_tokens"),
    cost=("total_cost",),
    time=("start_time", "end_time"),
)
