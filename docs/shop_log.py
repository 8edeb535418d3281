"""Logs of the shop's agent: one file per run, one JSON line per step."""

from collections.abc import Sequence

from untaken.ledger import RunFinished, RunStarted
from untaken.traces import Confidence, FormatInfo, Importer, Intake, RunDraft, Sample, Source
from untaken.traces.losses import FileLog
from untaken.traces.readings import mapping, moment, text, truth
from untaken.traces.recording import EPOCH, Conversation
from untaken.traces.tidy import Places, Tidier

PLACES = Places(
    kept=[
        "[].shop_log",
        "[].agent",
        "[].order",
        "[].at",
        "[].tool",
        "[].args.**",
        "[].answer.**",
        "[].failed",
        "[].solved",
    ]
)


def recognise(sample: Sample) -> Confidence:
    """How surely a file is a log of the shop: every log begins with this name."""
    return Confidence.CERTAIN if "shop_log" in sample.first else Confidence.NO


def convert(sources: Sequence[Source], intake: Intake) -> None:
    """Writes the run of each log to a ledger of its own."""
    for source in sources:
        intake.step(source.name)
        log = intake.open(source)
        reader = intake.reader(source, log)
        if reader is None:  # unreadable, empty or read before: a finding says which
            continue
        tidier = Tidier(PLACES, log.findings)
        records = []
        for element in reader.values():
            record, held = tidier.record(element.value, "[]")
            log.records += 1
            log.count(held, PLACES.kept)
            records.append(mapping(record))
        if not records or "shop_log" not in records[0]:
            log.findings.add("not-this-format", "the first line is no header of a shop log", severity="error")
            continue
        if (run := build_run(records, intake, log, tidier)) is not None:
            with intake.ledger(source.stem) as write:
                write(run, log)


def build_run(records: list[dict], intake: Intake, log: FileLog, tidier: Tidier) -> RunDraft | None:
    """The run of a log, unless it was read before."""
    header, steps = records[0], [record for record in records if text(record.get("tool"))]
    agent = intake.agent_name(intake.agent or text(header.get("agent")) or "shop-agent", log)
    task = text(header.get("order")) or "unknown"
    run_id = intake.claim(f"shop-log/{agent}/{task}", records, log)
    if run_id is None:  # the same run came before
        return None
    run = RunDraft(run_id=run_id)
    start = moment(header.get("at"), log.findings, "at") or EPOCH
    run.add(RunStarted, start, agent=agent, task_id=task)
    tools = {str(step["tool"]) for step in steps}
    chat = Conversation(run, task_id=task, tools=tools, log=log, tidier=tidier, now=start)
    for step in steps:
        chat.at(moment(step.get("at"), log.findings, "at"))
        chat.call(None, step["tool"], step.get("args"))
        failed = truth(step.get("failed"), log.findings, "failed")
        chat.answer(None, step.get("answer"), ok=None if failed is None else not failed)
    solved = truth(records[-1].get("solved"), log.findings, "solved")
    run.add(RunFinished, chat.now, success=solved, cost=None, steps=len(steps))
    return run


IMPORTER = Importer(
    info=FormatInfo(
        name="shop-log",
        title="Shop agent logs",
        extensions=(".jsonl",),
        what="One run per file, with its calls, answers and outcome.",
    ),
    recognise=recognise,
    convert=convert,
)
