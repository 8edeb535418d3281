"""Calls exported from W&B Weave: each a call of an op, with its inputs and its output.

A call is read as the span that it is: what holds for OpenTelemetry holds here. In an evaluation, each example
that was predicted and scored is a run of its own, without what its scorers did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces import otel
from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.messages import is_message, message_items, replied, tokens_of
from untaken.traces.otel_kinds import usage_attributes
from untaken.traces.otel_spans import Span, below, score_event, span_of
from untaken.traces.readings import first_text, mapping, objects, text, totals
from untaken.traces.sample import Sample
from untaken.traces.spending import added
from untaken.traces.task_texts import ANSWERS, described
from untaken.traces.tidy import Places
from untaken.traces.trace_records import TraceFiles, Traces, trace_converter
from untaken.traces.trace_run import Called, TraceRun

Call = Mapping[str, Any]

EXAMPLE: Final = "Evaluation.predict_and_score"
"""The op of an evaluation that predicts one example and has it scored."""
ASKED: Final = ("messages", "input", "contents")
COSTS: Final = ("prompt_tokens_total_cost", "completion_tokens_total_cost")
STATES: Final = {"success": "ok", "error": "error"}
PLACES: Final = Places(
    kept=[
        *("id", "op_name", "display_name", "trace_id", "parent_id", "started_at", "ended_at", "exception"),
        *("inputs.**", "output.**", "attributes.weave.kind", "attributes.task_id", "thread_id"),
        *("summary.usage.**", "summary.weave.status", "summary.weave.costs.**"),
    ],
    dropped=["attributes.**", "summary.**"],
)


def recognise(sample: Sample) -> bool:
    """Calls that name their op and their trace."""
    calls = map(mapping, (*sample.records, *objects(sample.first.get("calls"))))
    return any({"op_name", "trace_id", "started_at"} <= call.keys() for call in calls)


def _name(value: Any) -> str:
    """The name of an op or an object, out of its address: ``weave:///entity/project/op/NAME:digest``."""
    return (text(value) or "").rpartition("/")[2].partition(":")[0]


def trace_run(trace: str, calls: Sequence[Call], findings: Findings) -> TraceRun:
    """The run of one trace, or of one example of an evaluation."""
    above = _above(calls)
    root = next((call for call in calls if text(call.get("parent_id")) not in above), calls[0])
    scores = (
        mapping(mapping(root.get("output")).get("scores")) if _name(root.get("op_name")) == EXAMPLE else {}
    )
    scorers = [
        call.get("id") for call in calls if _name(call.get("op_name")).removesuffix(".score") in scores
    ]
    out = below(above, filter(None, map(text, scorers)))
    own = [call for call in calls if text(call.get("id")) not in out]
    models = _models(own, above) | _models([call for call in calls if text(call.get("id")) in out], above)
    tools = {text(item.tool) for call in own if text(call.get("id")) in models for item in _replies(call)}
    spans = []
    for call in calls:
        kind = text(mapping(mapping(call.get("attributes")).get("weave")).get("kind"))
        # An op without a kind is a tool where a model asked for a tool of its name.
        is_tool = kind == "tool" or (kind is None and _name(call.get("op_name")) in tools)
        kind = "generation" if text(call.get("id")) in models else "tool" if is_tool else "other"
        kind = "evaluator" if call.get("id") in scorers else kind
        spans.append(_span(call, trace, kind, findings, root=call is root))
    run = otel.trace_run(spans, findings, run_id=f"weave/{trace}")
    run.metadata["format"] = "weave"
    run.origin = [dict(root), *calls]
    inputs = mapping(root.get("inputs"))
    example = mapping(inputs.get("example")) or inputs
    run.metadata |= described(example, {name: example[name] for name in ANSWERS if name in example})
    return run


def _above(calls: Sequence[Call]) -> dict[str, str | None]:
    return {name: text(call.get("parent_id")) for call in calls if (name := text(call.get("id")))}


def _models(calls: Sequence[Call], above: Mapping[str, str | None]) -> set[str]:
    """The calls of models: those of that kind, or that were given messages and called no such call."""
    found: set[str] = set()
    likely: set[str] = set()
    for call in calls:
        inputs = mapping(call.get("inputs"))
        given = any(is_message(each) for name in ASKED for each in objects(inputs.get(name)))
        kind = mapping(mapping(call.get("attributes")).get("weave")).get("kind")
        if (name := text(call.get("id"))) and (kind == "llm" or (given and kind is None)):
            (found if kind == "llm" else likely).add(name)
    outer: set[str] = set()
    for model in found | likely:
        at = above.get(model)
        while at is not None and at not in outer:  # a ring ends it, too
            outer.add(at)
            at = above.get(at)
    return found | (likely - outer)  # what is around another such call is its frame


def _replies(call: Call) -> Iterator[Called]:
    """The calls of tools that a model asked for."""
    for message in replied(call.get("output")):
        yield from (item for item in message_items(message) if isinstance(item, Called))


def _span(call: Call, trace: str, kind: str, findings: Findings, *, root: bool) -> Span:
    name, inputs, output = _name(call.get("op_name")), mapping(call.get("inputs")), call.get("output")
    summary = mapping(call.get("summary"))
    about, failed = mapping(summary.get("weave")), text(call.get("exception"))
    used = [{"usage": each} for each in mapping(summary.get("usage")).values()]
    # Without a summary, the reply itself may say.
    replies = used or ([mapping(output)] if kind == "generation" else [])
    tokens = added(tokens_of(replies, findings))
    prices = [mapping(each) for each in mapping(about.get("costs")).values()]
    costs = totals(prices, dict.fromkeys(COSTS, "cost"), findings)
    is_example = name == EXAMPLE and root
    example, given = inputs.get("example"), mapping(output)
    attributes = {
        "langfuse.observation.type": kind,
        "langfuse.observation.input": example if is_example else call.get("inputs"),
        "langfuse.observation.output": given.get("output", given.get("model_output"))
        if is_example
        else output,
        "gen_ai.request.model": first_text([inputs, given], ("model",)) if kind == "generation" else None,
        "gen_ai.usage.cost": costs.get("cost"),
        **usage_attributes(tokens),
    }
    if root:
        # The row of a data set: its own id, or the end of its address.
        row = text(mapping(example).get("id")) or (text(example) or "").rpartition("/")[2]
        task = first_text([mapping(call.get("attributes")), {"task_id": row}], ("task_id",))
        address = text(inputs.get("model") if is_example else call.get("op_name")) or ""
        version = address.rpartition("/")[2].partition(":")[2] or None
        agent = _name(inputs.get("model")) if is_example else text(call.get("display_name"))
        attributes |= {
            "gen_ai.agent.name": agent or name,
            "agent.version": version,
            "task.id": task,
            "session.id": call.get("thread_id"),
        }
    plain = {
        "trace_id": trace,
        "span_id": call.get("id"),
        "parent_id": call.get("parent_id"),
        "name": name,
        "start_time": call.get("started_at"),
        "end_time": call.get("ended_at"),
        "status": {"code": "error" if failed else STATES.get(str(about.get("status"))), "message": failed},
        "attributes": attributes,
        "events": list(_scores(given)) if is_example else [],
    }
    return span_of(plain, findings)


def _scores(output: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What the scorers gave: a value each, or several under names."""
    for scorer, given in mapping(output.get("scores")).items():
        values = {f"{scorer}.{name}": value for name, value in mapping(given).items()} or {scorer: given}
        for name, value in values.items():
            if isinstance(value, bool | int | float):
                yield score_event(name, float(value))


def _runs(calls: Sequence[Call], stem: str) -> dict[str, list[Call]]:
    """The calls of each run: of an example, or of a trace without examples."""
    examples = [call for call in calls if _name(call.get("op_name")) == EXAMPLE]
    evaluated = {text(call.get("trace_id")) for call in examples}
    home = _homes(_above(calls), filter(None, (text(call.get("id")) for call in examples)))
    runs: dict[str, list[Call]] = {}
    for call in calls:
        trace = text(call.get("trace_id")) or stem
        name = home.get(text(call.get("id")) or "") or (trace if trace not in evaluated else None)
        if name is not None:
            runs.setdefault(name, []).append(call)
    return runs


def _homes(above: Mapping[str, str | None], examples: Iterable[str]) -> dict[str, str | None]:
    """The example that each call is below, or is itself."""
    home: dict[str, str | None] = {name: name for name in examples}
    for start in above:
        path: dict[str, None] = {}
        at: str | None = start
        # Parents may go in a ring.
        while at is not None and at in above and at not in home and at not in path:
            path[at] = None
            at = above[at]
        home |= dict.fromkeys(path, home.get(at or ""))
    return home


def _read(files: TraceFiles) -> Iterator[TraceRun]:
    traces = Traces(files)
    for value in files.values():
        for each in objects(mapping(value).get("calls")) or [value]:
            call = mapping(files.record(each))
            if "op_name" in call:
                traces.add(text(call.get("trace_id")) or files.stem, call)
    if not traces:
        files.refuse("there is no call of an op in it")
    yield from traces.runs(
        lambda trace, calls: (trace_run(*each, files.findings) for each in _runs(calls, trace).items()),
        "id",
        "call",
    )


IMPORTER: Final = importer(
    name="weave",
    title="W&B Weave calls",
    what="Calls of ops with their scores: one run per trace, or per example of an evaluation.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=trace_converter(_read, PLACES),
    agent=("display_name", "op_name"),
    model=("inputs.model",),
    version=("(the digest of) op_name",),
    task=("attributes.task_id",),
    task_text=("inputs.*",),
    target=("inputs.expected",),
    outcome=("(of an example) output.scores",),
    tokens=("summary.usage.*.prompt_tokens", "summary.usage.*.completion_tokens"),
    cost=(
        "summary.weave.costs.*.prompt_tokens_total_cost",
        "summary.weave.costs.*.completion_tokens_total_cost",
    ),
    time=("started_at", "ended_at"),
)
