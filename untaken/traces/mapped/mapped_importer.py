"""The importer that a mapping file makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from untaken.traces.importer import Importer
from untaken.traces.losses import Findings
from untaken.traces.mapped.mapping_file import SUFFIX, FormatMapping, read_mapping
from untaken.traces.mapped.terms import Scope
from untaken.traces.message_transcript import with_answers
from untaken.traces.outcome_fields import outcome_from
from untaken.traces.readings import amount, mapping, moment, number, text, whole
from untaken.traces.sample import Confidence, Sample
from untaken.traces.spending import Amounts, Spending, spend, usage, with_cost
from untaken.traces.tables import TABLES, is_table, table_rows
from untaken.traces.task_texts import described
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import UNKNOWN_TASK, Item, TraceRun, Utterance

UNKNOWN_AGENT: Final = "unknown-agent"
BUILT_IN: Final = Path(__file__).parent / "built_in"
HYBRID: Final = Path(__file__).parent / "parts"
"""Mapping files of importers that complete in Python what a mapping cannot say."""


def built_in_mappings() -> list[Importer]:
    """The importers of the mapping files that come with the program."""
    return [mapped_importer(read_mapping(path)) for path in sorted(BUILT_IN.glob(f"*{SUFFIX}"))]


def mapped_importer(
    format: FormatMapping, complete: Callable[[TraceRun, TraceFile], None] | None = None
) -> Importer:
    """An importer of the format that a mapping describes; `complete` adds what a mapping cannot say."""
    # Any chat in JSON has names such as role and content: a format of tables asks for a table.
    tables_only = set(format.info.extensions) <= set(TABLES)

    def recognise(sample: Sample) -> Confidence:
        if tables_only and not is_table(sample.name, TABLES):
            return Confidence.NO
        return max(
            (each.of(sample, members=format.members) for each in format.recognisers), default=Confidence.NO
        )

    def read(file: TraceFile) -> Iterator[TraceRun]:
        number = 0
        for record in _records(format, file):
            here = _listed(format, record) if format.lists else record
            scope = Scope(here=here, root=record, findings=file.findings, file=file.stem)
            for element in (scope,) if format.each is None else format.each(scope):
                if isinstance(element.here, dict | list):
                    run = mapped_run(format, replace(element, number=number))
                    if complete is not None:
                        complete(run, file)
                    yield run
                    number += 1
        if not number:
            file.refuse(f"no run of {format.info.name} is in it")

    return Importer(info=format.info, recognise=recognise, convert=converter(read, format.places))


def _records(format: FormatMapping, file: TraceFile) -> Iterator[Any]:
    """The records of a file: its values, or those of each run together."""
    values = table_rows(file.source, file.findings) if is_table(file.source.name) else file.values()
    if format.by is not None:
        groups: dict[str, list[Any]] = {}
        for value in values:
            key = text(format.by(Scope(here=value, root=value, findings=file.findings, file=file.stem)))
            groups.setdefault(key or "", []).append(value)
        yield from map(file.record, groups.values())
    elif format.members:
        yield from (file.record(each) for value in values for each in mapping(value).values())
    elif format.lists:
        yield from map(file.record, file.wholes(lambda value: _listed(format, value)))
    elif format.lines:
        if together := list(values):
            yield file.record(together)
    else:
        yield from map(file.record, values)


def _listed(format: FormatMapping, record: Any) -> list[Any]:
    """The list that a run is: the record, or what it has under one of the names."""
    if isinstance(record, list):
        return record
    found = (mapping(record).get(name) for name in format.lists)
    return next((each for each in found if isinstance(each, list) and each), [])


def mapped_run(format: FormatMapping, scope: Scope) -> TraceRun:
    """The run of one element."""
    findings = scope.findings

    def one(name: str) -> Any:
        term = format.terms.get(name)
        return None if term is None else term(scope)

    found = list(_prompted_once(with_answers(format.items(scope) or ())))
    times = [item.at for item in found if item.at is not None]
    session = text(one("session"))
    run_id = text(one("id")) or f"{scope.file}/{scope.number}"
    success, named = outcome_from(one("success"), findings, run_id)
    spent = _spent(format, scope, one("cost"), run_id)
    given = {name: term(scope) for name, term in format.metrics.items()}
    figures = {name: v if isinstance(v, bool) else number(v, findings, name) for name, v in given.items()}
    metrics = {name: value for name, value in figures.items() if value is not None}
    given = {name: term(scope) for name, term in format.metadata.items()}
    metadata = {name: value for name, value in given.items() if value is not None}
    return TraceRun(
        run_id=run_id,
        agent=text(one("agent")) or UNKNOWN_AGENT,
        task_id=text(one("task")) or UNKNOWN_TASK,
        task_repeat=whole(one("repeat"), findings, "repeat"),
        record=scope.here,
        origin=scope.root if format.lists else scope.here,  # the record around a list may say how it ended
        model=text(one("model")),
        version=text(one("version")),
        prompt_version=text(one("prompt_version")),
        items=found,
        started=moment(one("started"), findings, "started") or min(times, default=None),
        finished=moment(one("finished"), findings, "finished") or max(times, default=None),
        success=success,
        outcome_named=named,
        cost=spent.cost,
        steps=whole(one("steps"), findings, "steps"),
        error=text(one("error")),
        limit=text(one("limit")),
        session_id=(session or "") if "session" in format.terms else None,
        metrics={**spent.tokens, **metrics},
        metadata={"format": format.info.name, **metadata, **described(one("task_text"), one("target"))},
    )


def _prompted_once(found: Iterable[Item]) -> Iterator[Item]:
    """The items, without a prompt of the system that is repeated, as with each call of a model."""
    prompt = None
    for item in found:
        if isinstance(item, Utterance) and item.role == "system":
            if item.content == prompt:
                continue
            prompt = item.content
        yield item


def _spent(format: FormatMapping, scope: Scope, cost: Any, run: str) -> Spending:
    """What the calls of a model spent, given what is recorded of the whole."""
    findings = scope.findings
    total = _used(format.usage(scope) if format.usage else None, cost, findings)
    parts: Iterable[Amounts] = ()
    if format.calls is not None:
        each, used_by, cost_of = format.calls
        parts = (_used(used_by(element), cost_of(element), findings) for element in each(scope))
    return spend(list(parts), total, run=run, findings=findings)


def _used(counts: Any, cost: Any, findings: Findings) -> Amounts:
    return with_cost(usage(mapping(counts), findings), amount(cost, findings, "cost"))
