"""Spans exported from Braintrust: logs and experiments, one row for each span.

A row is read as the span that it is: what holds for OpenTelemetry holds here. What a scorer did is no part of
the run that it scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces import otel
from untaken.traces.importer import importer
from untaken.traces.losses import Findings
from untaken.traces.otel_kinds import usage_attributes
from untaken.traces.otel_spans import Span, below, score_event, span_of
from untaken.traces.readings import amount, first_text, items, mapping, objects, text
from untaken.traces.sample import Sample
from untaken.traces.spending import usage
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places
from untaken.traces.trace_records import TraceFiles, Traces, trace_converter
from untaken.traces.trace_run import TraceRun

Row = Mapping[str, Any]

KINDS: Final = {"llm": "generation", "tool": "tool"}
SCORERS: Final = frozenset(("score", "scorer"))
USAGE: Final = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
    "cached_tokens": ("prompt_cached_tokens",),
    "cache_creation_tokens": ("prompt_cache_creation_tokens",),
    "reasoning_tokens": ("completion_reasoning_tokens",),
}
VERSIONS: Final = ("agent_version", "version")
COSTS: Final = ("estimated_cost", "cost")
PLACES: Final = Places(
    kept=[
        *("span_id", "root_span_id", "span_parents[]", "span_attributes.name", "span_attributes.type"),
        *("span_attributes.purpose", "created", "input.**", "output.**", "error.**", "scores.**"),
        "origin.id",
        *(f"metadata.{name}" for name in ("model", "task_id", "session_id", "prompt.version")),
        *(f"metadata.{name}" for name in VERSIONS),
        *(f"metrics.{name}" for names in (("start", "end"), COSTS, *USAGE.values()) for name in names),
    ],
    dropped=["metadata.**", "expected.**", "context.**", "facets.**"],
)


def recognise(sample: Sample) -> bool:
    """Rows that name their span, its root, and its parents or attributes."""
    inner = (*objects(sample.first.get("events")), *objects(sample.first.get("data")))
    return any(
        {"span_id", "root_span_id"} <= row.keys() and row.keys() & {"span_parents", "span_attributes"}
        for row in map(mapping, (*sample.records, *inner))
    )


def trace_run(trace: str, rows: Sequence[Row], findings: Findings) -> TraceRun:
    """The run of one trace."""
    own = _without_scorers(rows) or rows  # a trace of scorers alone is theirs
    known = {text(row.get("span_id")) for row in own}
    root = next((row for row in own if _parent(row) not in known), own[0])
    spans = [_span(row, trace, row is root, findings) for row in rows]
    run = otel.trace_run(spans, findings, run_id=f"braintrust/{trace}")
    run.metadata["format"] = "braintrust"
    run.origin = [dict(root), *rows]
    run.metadata |= described(root.get("input"), root.get("expected"))
    return run


def _parent(row: Row) -> str | None:
    return next(filter(None, map(text, items(row.get("span_parents")))), None)


def _is_scorer(about: Mapping[str, Any]) -> bool:
    return not SCORERS.isdisjoint((str(about.get("type")), str(about.get("purpose"))))


def _without_scorers(rows: Sequence[Row]) -> list[Row]:
    """The rows without those of scorers, and of what scorers called."""
    about = {text(row.get("span_id")) or "": (row, mapping(row.get("span_attributes"))) for row in rows}
    scorers = [name for name, (_, each) in about.items() if _is_scorer(each)]
    out = below({name: _parent(row) for name, (row, _) in about.items()}, scorers)
    return [row for row in rows if (text(row.get("span_id")) or "") not in out]


def _span(row: Row, trace: str, is_root: bool, findings: Findings) -> Span:
    about, metrics, metadata = (mapping(row.get(n)) for n in ("span_attributes", "metrics", "metadata"))
    output, error = row.get("output"), row.get("error")
    choices = [each for each in objects(output) if "message" in each]
    costs = (amount(metrics.get(name), findings, f"metrics.{name}") for name in COSTS)
    attributes = {
        "langfuse.observation.type": "evaluator"
        if _is_scorer(about)
        else KINDS.get(str(about.get("type")), "other"),
        "langfuse.observation.input": row.get("input"),
        "langfuse.observation.output": {"choices": choices} if choices else output,
        "gen_ai.agent.name": about.get("name") if is_root else None,
        "gen_ai.request.model": metadata.get("model"),
        "gen_ai.usage.cost": next((cost for cost in costs if cost), None),  # 0 says that no price is known
        "session.id": metadata.get("session_id"),
        "agent.version": first_text([metadata], VERSIONS) if is_root else None,
        "gen_ai.prompt.version": mapping(metadata.get("prompt")).get("version"),
        "task.id": first_text([metadata, {"task_id": mapping(row.get("origin")).get("id")}], ("task_id",)),
        **usage_attributes(usage(metrics, findings, USAGE, place="metrics.")),
    }
    message = (
        first_text([mapping(error)], ("message", "name")) or text(error) or ("it failed" if error else None)
    )
    plain = {
        "trace_id": trace,
        "span_id": row.get("span_id"),
        "parent_id": _parent(row),
        "name": about.get("name"),
        "start_time": metrics.get("start") or row.get("created"),
        "end_time": metrics.get("end"),
        "status": {"code": "error", "message": message} if error else {},
        "attributes": attributes,
        # A score of a part says nothing of the whole run.
        "events": [score_event(*each) for each in mapping(row.get("scores")).items() if is_root],
    }
    return span_of(plain, findings)


def _read(files: TraceFiles) -> Iterator[TraceRun]:
    traces = Traces(files)
    for value in files.values():
        document = mapping(value)
        for each in objects(document.get("events")) or objects(document.get("data")) or [value]:
            row = mapping(files.record(each))
            if "span_id" in row:
                traces.add(first_text([row], ("root_span_id", "span_id")) or files.stem, row)
    if not traces:
        files.refuse("there is no span of a trace in it")
    yield from traces.runs(lambda name, rows: [trace_run(name, rows, files.findings)], "span_id", "span")


IMPORTER: Final = importer(
    name="braintrust",
    title="Braintrust spans",
    what="Rows of logs and experiments, with their scores: one run per trace.",
    left_out=PLACES.dropped,
    recognise=recognise,
    convert=trace_converter(_read, PLACES),
    agent=("span_attributes.name",),
    model=("metadata.model",),
    version=tuple(f"metadata.{name}" for name in VERSIONS),
    prompt_version=("metadata.prompt.version",),
    task=("metadata.task_id",),
    task_text=("input",),
    target=("expected",),
    outcome=("scores.success",),
    tokens=("metrics.prompt_tokens", "metrics.completion_tokens"),
    cost=("metrics.estimated_cost",),
    time=("metrics.start", "metrics.end", "created"),
)
