"""LangSmith run trees: a root with its ``child_runs``, or the same runs one after the other.

A trace is a run. Runs of tools are the calls, runs of models what was said; where a trace has no tool runs,
the calls are those that the messages name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from untaken.traces.importer import importer
from untaken.traces.literals import written_object
from untaken.traces.losses import Findings, clip
from untaken.traces.message_transcript import MessageTranscript
from untaken.traces.messages import asked, is_message, message_items, replied, tokens_of
from untaken.traces.model_calls import CallSpan, ModelCalls, spans_apart, spent_apart
from untaken.traces.otel import SUCCESS
from untaken.traces.outcome_fields import agreed
from untaken.traces.readings import first_text, mapping, moment, number, objects, parsed, text
from untaken.traces.sample import Confidence, Sample
from untaken.traces.spending import USAGE, added, usage
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, under
from untaken.traces.trace_records import TraceFiles, Traces, read_once, trace_converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun

Node = Mapping[str, Any]

UUID_CHARS: Final = 36
MODELS: Final = ("llm", "chat_model")
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
    whose = _apart(ordered)
    own = [node for node in ordered if text(node.get("id")) not in whose]
    others, apart = spent_apart(_by_whose(ordered, whose))
    calls = ModelCalls([_call_span(node, findings) for node in own])
    models = [own[place] for place in calls.heads]
    run_id = f"langsmith/{trace}"
    # A call is no total of calls.
    total = {} if root.get("run_type") in MODELS else usage(root, findings, TOKENS)
    spent = calls.spent(total, run=run_id, findings=findings, apart=apart)
    (success, named), feedback = _feedback(root, findings)
    session = first_text([_metadata(root)], ("thread_id", "session_id"))
    task = text(_metadata(root).get("task_id")) or text(root.get("reference_example_id"))
    return TraceRun(
        run_id=run_id,
        agent=text(root.get("name")) or "unknown-agent",
        task_id=task or trace,
        record=ordered,
        model=next((m for node in models if (m := _model(node))), None),
        version=first_text(map(_metadata, ordered), VERSIONS),
        prompt_version=first_text(map(_metadata, ordered), PROMPT_VERSIONS),
        items=list(_items(root, own, {id(node) for node in models}, findings)),
        started=_at(root, "start_time", findings),
        finished=_at(root, "end_time", findings),
        success=success,
        outcome_named=named,
        cost=spent.cost,
        steps=len(models) or None,
        error=_error(root),
        metrics={**spent.tokens, **others, **feedback},
        metadata={
            "format": "langsmith",
            **({"session": session} if session else {}),
            **described(root.get("inputs"), root.get("reference_outputs")),
        },
    )


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


def _apart(runs: Sequence[Node]) -> dict[str, str]:
    """Whose the runs are that are not the agent's."""
    ids = [(text(node.get("id")) or "", text(node.get("parent_run_id"))) for node in runs]
    chains = {
        text(node.get("id")) or "": text(node.get("name")) or ""
        for node in runs
        if node.get("run_type") == "chain"
    }
    return spans_apart(ids, (), chains)


def _by_whose(runs: Sequence[Node], whose: Mapping[str, str]) -> dict[str, list[CallSpan]]:
    found: dict[str, list[CallSpan]] = {}
    for node in runs:
        if (who := whose.get(text(node.get("id")) or "")) is not None:
            found.setdefault(who, []).append(_call_span(node, Findings(None)))
    return found


def _call_span(node: Node, findings: Findings) -> CallSpan:
    kind, output = node.get("run_type"), mapping(node.get("outputs"))
    used = usage(node, findings, TOKENS)
    if kind in MODELS:  # of what is around them, the outputs are those of the model
        replies = tokens_of(replied(output), findings) or tokens_of([output], findings)
        used = {**added(replies), **used}  # what the run says of itself goes first
    return CallSpan(
        id=text(node.get("id")) or "",
        parent=text(node.get("parent_run_id")) or "",
        role="model" if kind in MODELS else "tool" if kind == "tool" else "other",
        start=_at(node, "start_time", findings),
        end=_at(node, "end_time", findings),
        maker=("", text(node.get("name")) or ""),
        model=_model(node),
        speaks=bool(node.get("inputs") or output),
        failed=_error(node) is not None,
        usage=used,
        words=lambda: (asked(node.get("inputs")), replied(output)),
    )


def _items(root: Node, ordered: Sequence[Node], calls: Collection[int], findings: Findings) -> Iterator[Item]:
    """What was said and done; of the runs of models, only those of `calls` are read."""
    transcript = MessageTranscript(calls=not any(node.get("run_type") == "tool" for node in ordered))
    yield from transcript.of(asked(root.get("inputs")), _at(root, "start_time", findings))
    for node in ordered:
        began, ended = _at(node, "start_time", findings), _at(node, "end_time", findings)
        if id(node) in calls:
            yield from transcript.of(asked(node.get("inputs")), began)
            yield from transcript.reply(replied(node.get("outputs")), ended)
        elif node.get("run_type") == "tool":
            call_id = text(node.get("id"))
            yield Called(tool=node.get("name"), arguments=_given(node), source_id=call_id, at=began)
            if ended is not None or node.get("error") is not None:  # else the call was under way
                yield _answer(node, call_id, ended)
    # Mostly the words of the last model once more; an agent may also put them together itself.
    yield from transcript.of(replied(root.get("outputs")), _at(root, "end_time", findings))


def _given(node: Node) -> Any:
    """What a tool was called with; the tracer of LangChain writes it as text, as Python does."""
    inputs = node.get("inputs")
    written = inputs.get("input") if isinstance(inputs, dict) and len(inputs) == 1 else None
    return mapping(written_object(written)) or inputs


def _answer(node: Node, call_id: str | None, ended: datetime | None) -> Answered:
    """What a tool gave back: text, an object, or a message with a status of its own."""
    error = _error(node)
    outputs = mapping(node.get("outputs"))
    given = outputs.get("output", outputs)
    message = next(message_items(given), None) if is_message(given) else None
    reply = message if isinstance(message, Answered) else Answered(content=given)
    failed = error is not None or node.get("status") == "error" or reply.ok is False
    content = error if error is not None and not outputs else reply.content
    return Answered(content=content, source_id=call_id, ok=not failed, at=ended)


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
