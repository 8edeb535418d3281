"""tau-bench results: a JSON list of records {task_id, trial, reward, info, traj}, or one record per line.

Success is a reward of 1 (within 1e-6). The expected actions of the task become sub-goals without
dependencies: one reference path, not a requirement; `respond` is talk, not an action. One is met by a call
of the same tool with exactly equal arguments, and one call may serve several. The agent's cost is not
recorded (`user_cost` is that of the simulated user), nor is any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from untaken.traces.agentrx_labels import AgentRxLabels
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog
from untaken.traces.readings import text
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source
from untaken.traces.tau_bench_runs import Survey, TauRecords, named_file
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile

PLACES: Final = Places(
    kept=[
        *under("[].", "task_id trial reward"),
        *under("[].info.", "error user_cost reward_info.info.r_actions reward_info.info.r_outputs"),
        *under("[].info.task.", "user_id instruction outputs.** actions actions[].name actions[].kwargs.**"),
        *under("[].traj[].", "role content.** tool_call_id"),
        *under("[].traj[].tool_calls[].", "id function.name function.arguments.**"),
    ],
    dropped=["[].info.reward_info.actions.**", "[].info.reward_info.info.outputs.**"],
)


def _recognise(sample: Sample) -> Confidence:
    record = sample.mentions("task_id", "reward", "info") and not sample.mentions("simulations")
    traced = any(sample.mentions(name) for name in ("traj", "instruction", "traceback"))
    return Confidence.LIKELY if record and traced and sample.records else Confidence.NO


def convert(sources: Sequence[Source], intake: Intake, labels: AgentRxLabels | None = None) -> None:
    """Writes the runs of files, with the labels that people gave them."""
    survey = Survey()
    for source in sources:
        if labels is None:  # else a first look was taken for these
            intake.step(source.name)
        log = FileLog(source.name)  # a first look reports nothing
        file = TraceFile.opened(source, intake, PLACES, log)
        with intake.contained(log):
            for record in _records(file) if file else ():
                survey.add(record, named_file(source.stem))
    for source in sources:
        intake.step(source.name)
        _write(source, survey, intake, labels)


def _write(source: Source, survey: Survey, intake: Intake, labels: AgentRxLabels | None) -> None:
    file = TraceFile.opened(source, intake, PLACES)
    if file is None:
        return
    runs = TauRecords(named_file(source.stem), survey, intake=intake, log=file.log, tidier=file.tidier)
    with intake.contained(file.log), intake.ledger(file.ledger) as write_run:
        for record in _records(file):
            if (run := runs.run(record)) is not None:
                if labels is not None:
                    labels.add_to(run, text(record["task_id"]), runs.places, file.log)
                write_run(run, file.log)
    runs.conclude()


def _records(file: TraceFile) -> Iterator[dict[str, Any]]:
    """The records, counted; what is none is named and left out."""
    refusal = "record {} is no tau-bench result: it names no task"
    return file.records_that(lambda record: text(record.get("task_id")) is not None, refusal, "[]")


IMPORTER: Final = importer(
    name="tau-bench",
    title="τ-bench results",
    extensions=(".json", ".jsonl"),
    what="Customer-service runs with a reward; expected actions become plan graphs.",
    left_out=PLACES.dropped,
    recognise=_recognise,
    convert=convert,
    passes=2,
    agent=("(file name)",),
    task=("task_id",),
    task_text=("info.task.instruction",),
    outcome=("reward",),
)
