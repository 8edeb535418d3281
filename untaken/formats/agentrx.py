"""AgentRx: tau-bench runs, and people's labels of the steps at which failed ones went wrong.

The runs are tau-bench records; a label names one by its `task_id`. Its steps count the messages of the
trajectory, the system's first, as the `index` of the records does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from untaken.formats import tau_bench
from untaken.formats.agentrx_labels import AgentRxLabels
from untaken.formats.importer import Importer
from untaken.formats.intake import Intake
from untaken.formats.losses import FileLog
from untaken.formats.model import FormatInfo
from untaken.formats.readings import text
from untaken.formats.sample import Confidence, Sample
from untaken.formats.sources import Source
from untaken.formats.tau_bench_runs import Survey, TauRecords, named_file
from untaken.formats.tidy import Tidier


def _recognise(sample: Sample) -> Confidence:
    if sample.mentions("trajectory_id", "failures"):
        return Confidence.LIKELY
    numbered = sample.mentions("task_id", "reward", "traj", "index") and not sample.mentions("simulations")
    return Confidence.LIKELY if numbered and sample.records else Confidence.NO


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    labels, survey, runs = AgentRxLabels(), Survey(), []
    for source in sources:
        intake.step(source.name)
        if not labels.read(source, intake):
            runs.append(source)
    for source in runs:
        for record in _records(source, intake):
            survey.add(record, named_file(source.stem))
    for source in sources:
        intake.step(source.name)
        if source in runs:
            _write(source, survey, labels, intake)
    labels.unmet()


def _records(source: Source, intake: Intake) -> Iterator[dict[str, Any]]:
    ignored = FileLog(source.name)
    reader = intake.reader(source, ignored)
    return (
        tau_bench.records(reader, Tidier(tau_bench.PLACES, ignored.findings), ignored) if reader else iter(())
    )


def _write(source: Source, survey: Survey, labels: AgentRxLabels, intake: Intake) -> None:
    log = intake.open(source)
    reader = intake.reader(source, log)
    if reader is None:
        return
    tidier = Tidier(tau_bench.PLACES, log.findings)
    records = TauRecords(named_file(source.stem), survey, intake=intake, log=log, tidier=tidier)
    with intake.ledger(f"{source.stem}-{log.sha256[:8]}") as write:
        for record in tau_bench.records(reader, tidier, log):
            if (run := records.run(record)) is not None:
                labels.add_to(run, text(record["task_id"]), records.places, log)
                write(run, log)
    records.conclude()


IMPORTER: Final = Importer(
    info=FormatInfo(
        name="agentrx",
        title="AgentRx failure labels",
        extensions=(".json", ".jsonl"),
        what="τ-bench runs with people's labels of failing steps: root causes as verdicts, kinds as modes.",
    ),
    recognise=_recognise,
    convert=_convert,
    passes=2,
    joins=True,
)
