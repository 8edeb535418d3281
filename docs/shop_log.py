"""Logs of the shop's agent: one file per run, one JSON line per step."""

from collections.abc import Iterator

from untaken.traces import Confidence, FormatInfo, Importer, Sample
from untaken.traces.losses import Findings
from untaken.traces.readings import mapping, moment, text, truth
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile, converter
from untaken.traces.trace_run import Answered, Called, Item, TraceRun

PLACES = Places(kept=["shop_log", "agent", "order", "at", "tool", "args.**", "answer.**", "failed", "solved"])


def recognise(sample: Sample) -> Confidence:
    """How surely a file is a log of the shop: every log begins with this name."""
    return Confidence.CERTAIN if "shop_log" in sample.first else Confidence.NO


def read(file: TraceFile) -> Iterator[TraceRun]:
    """The run of a log."""
    records = [mapping(record) for record in file.records()]
    if not records or "shop_log" not in records[0]:
        file.refuse("the first line is no header of a shop log")
        return
    agent, task = text(records[0].get("agent")) or "shop-agent", text(records[0].get("order")) or "unknown"
    yield TraceRun(
        run_id=f"shop-log/{agent}/{task}",
        agent=agent,
        task_id=task,
        record=records,
        items=[item for record in records for item in step(record, file.findings)],
        started=moment(records[0].get("at"), file.findings, "at"),
        success=truth(records[-1].get("solved"), file.findings, "solved"),
    )


def step(record: dict, findings: Findings) -> Iterator[Item]:
    """A call and its answer; nothing for the header and the last line."""
    if text(record.get("tool")):
        at, failed = moment(record.get("at"), findings, "at"), truth(record.get("failed"), findings, "failed")
        yield Called(tool=record["tool"], arguments=record.get("args"), at=at)
        yield Answered(content=record.get("answer"), ok=None if failed is None else not failed, at=at)


IMPORTER = Importer(
    info=FormatInfo(
        name="shop-log",
        title="Shop agent logs",
        extensions=(".jsonl",),
        what="One run per file, with its calls, answers and outcome.",
    ),
    recognise=recognise,
    convert=converter(read, PLACES),
)
