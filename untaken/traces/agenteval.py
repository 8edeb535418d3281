"""AgentEval's maths logs: one JSON file a problem, as AutoGen's agents solved it.

A file is one record {problem, messages [{role, content}], is_correct, round, time, …}, named by the number of
its problem, in a folder of its category. Success is as recorded. A message that reports an exit code answers
the code written before it: the call and its observation. Neither moments nor cost are recorded, only how long
the run took; and no plan graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from itertools import groupby
from typing import Any, Final

from untaken.ledger import Message
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog
from untaken.traces.readings import amount, cut_name, objects, text, truth, whole
from untaken.traces.recording import EPOCH, TICK
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import Answered, Called, Item, Recorded, TraceRun, write_traces
from untaken.traces.who_and_when_texts import code_in, exit_code

AGENT: Final = "autogen"
METADATA: Final = (
    *("problem", "level", "type", "solution", "correct_ans", "problem_id", "response_with_ans"),
    *("check_result", "trial"),
)
"""Parts of a record kept, as they are, in RUN_STARTED.metadata."""
PLACES: Final = Places(
    kept=[
        *METADATA,
        *("is_correct", "round", "time", "messages[]", "messages[].role", "messages[].content.**"),
    ]
)
TOOL: Final = "python"
_AGENTS: Final = "assistant"
_LONGEST: Final = 10 * 365 * 24 * 3600.0
"""Seconds of a recorded duration that are believed."""


def _recognise(sample: Sample) -> Confidence:
    asked = sample.mentions("problem", "correct_ans", "messages")
    return Confidence.LIKELY if asked and sample.shape == "object" else Confidence.NO


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    for _, group in groupby(sources, key=lambda source: source.folders):
        read = [one for source in group if (one := _read(source, intake)) is not None]
        if not read:
            continue
        digest = sha256("".join(file.log.sha256 for file, _ in read).encode()).hexdigest()
        first, record = read[0]
        stem = f"{_category(record, first.source)}-{digest[:8]}"
        write_traces(_runs(read, intake), stem, intake=intake, log=first.log, tools={})


def _read(source: Source, intake: Intake) -> tuple[TraceFile, dict[str, Any]] | None:
    """The record of one file; ``None``, with a finding, if there is none."""
    intake.step(source.name)
    file = TraceFile.opened(source, intake, PLACES)
    if file is None:
        return None
    refusal = "not a problem record: no messages"
    record = next(file.records_that(lambda one: isinstance(one.get("messages"), list), refusal), None)
    return None if record is None else (file, record)


def _category(record: Mapping[str, Any], source: Source) -> str:
    """The kind of problem, as the folders of the logs spell it."""
    words = text(record.get("type")) or (source.folders[-1] if source.folders else "")
    return re.sub(r"\W+", "_", words.casefold()).strip("_")[:64] or "problem"


def _runs(read: Sequence[tuple[TraceFile, Mapping[str, Any]]], intake: Intake) -> Iterator[TraceRun]:
    for file, record in read:
        with intake.contained(file.log):
            if (run := _run(file, record, intake)) is not None:
                yield run


def _run(file: TraceFile, record: Mapping[str, Any], intake: Intake) -> TraceRun | None:
    """The run of one record; ``None`` for one that is there already."""
    log, findings = file.log, file.findings
    agent = intake.agent_name(intake.agent or AGENT, log)
    number = text(record.get("problem_id")) or file.source.stem
    task_id = cut_name(f"{_category(record, file.source)}/{number}")
    run_id = intake.claim(f"agenteval/{agent}/{task_id}", record, log)
    if run_id is None:
        return None
    log.synthesised["RUN_STARTED.agent"] += not intake.agent
    log.defaulted["RUN_FINISHED.cost"] += 1
    trial = whole(record.get("trial"), findings, "trial")
    messages = objects(record["messages"])
    if not messages:
        findings.add("missing-trajectory", "there are no messages", run=run_id)
    success = truth(record.get("is_correct"), findings, "is_correct")
    if success is None:
        findings.add("missing-reward", "is_correct is not recorded; success is unknown", run=run_id)
    took, rounds = amount(record.get("time"), findings, "time"), whole(record.get("round"), findings, "round")
    message = "only the length of a run is recorded; event times are generated in sequence"
    intake.findings.once("synthetic-timestamps", message, severity="note")
    metrics: dict[str, float | bool] = {} if rounds is None else {"round": float(rounds)}
    return TraceRun(
        run_id=run_id,
        agent=agent,
        task_id=task_id,
        task_repeat=trial if trial is not None and trial >= 0 else None,
        record=record,
        items=list(_items(messages, log)),
        started=EPOCH,
        finished=EPOCH + timedelta(seconds=took) if took is not None and took < _LONGEST else None,
        success=success,
        steps=sum(text(each.get("role")) == _AGENTS for each in messages),
        metrics=metrics | ({} if took is None else {"time": took}),
        metadata={
            "format": "agenteval",
            "timestamps": "synthesised",
            **{key: record[key] for key in METADATA if record.get(key) is not None},
            **described(record.get("problem"), record.get("correct_ans")),
        },
        files=[log],
        claimed=True,
    )


def _items(messages: Sequence[Mapping[str, Any]], log: FileLog) -> Iterator[Item]:
    code: str | None = None
    for place, message in enumerate(messages, start=1):
        now, call_id = EPOCH + place * TICK, f"call-{place}"
        role, content = text(message.get("role")) or "unknown", message.get("content")
        output = content if isinstance(content, str) else ""
        # An assistant may quote an exit code; only what ran the code reports one.
        ended = None if role == _AGENTS else exit_code(output)
        if ended is not None:
            arguments = {"run_by": role} | ({"code": code} if code else {})
            yield Called(tool=TOOL, arguments=arguments, source_id=call_id, chosen=False, at=now)
            yield Answered(content=content, source_id=call_id, ok=ended == 0, at=now)
            log.synthesised["TOOL_CALL"] += 1
        elif content is not None:  # an empty turn lets the assistant go on: it is a round, too
            yield Recorded(Message, {"role": role, "content": content}, now)
        if role == _AGENTS:
            code = code_in(output) or code


IMPORTER: Final = importer(
    name="agenteval",
    title="AgentEval maths logs",
    extensions=(".json",),
    what="Maths problems solved by AutoGen agents, one file each, with outcome, rounds and seconds.",
    recognise=_recognise,
    convert=_convert,
    agent=("(always autogen)",),
    task=("type", "problem_id"),
    task_text=("problem",),
    target=("correct_ans",),
    outcome=("is_correct",),
)
