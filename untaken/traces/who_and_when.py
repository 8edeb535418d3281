"""Who&When: failed runs of several agents, with the agent and the step that people blame for the failure.

A file is one record {question, history [{role, content, name}], mistake_agent, mistake_step, …}, a list of
such, or a history alone, as AgentRx has it in a file that is named after the question's id. Hand-Crafted
records are Magentic-One logs, whose orchestrator writes its ledger down, then chooses who speaks next: its
choices are the decision points. Algorithm-Generated records are group chats of experts and a terminal, in
which nobody records a choice. Neither time nor cost is recorded, and no plan graph.
AgentRx labelled some Hand-Crafted runs a second time; its label files are joined by question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from untaken.traces.agentrx_labels import AgentRxLabels
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.readings import mapping, objects, text
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile
from untaken.traces.who_and_when_runs import METADATA, write_record

PLACES: Final = Places(
    kept=[
        *(place for place in METADATA if place != "system_prompt"),
        *("system_prompt.**", "question_ID", "is_correct", "history[]"),
        *under("history[].", "name role content.**"),
    ]
)
TEAM: Final = ("orchestrator", "websurfer", "filesurfer", "computerterminal")
"""The agents of Magentic-One. Its assistant is left out: other agents have that name, too."""
_LABELS: Final = ("mistake_agent", "mistake_step", "mistake_reason")


def _recognise(sample: Sample) -> Confidence:
    labelled = any(sample.mentions(name) for name in _LABELS)
    asked = sample.mentions("ground_truth", "question_ID")
    orchestrated = '"Orchestrator (' in sample.text
    known = labelled or asked or orchestrated
    if sample.mentions("trajectory_id", "failures"):  # labels of AgentRx, which tau-bench has, too
        return Confidence.CERTAIN if _blames_the_team(sample.first) else Confidence.NO
    if orchestrated and _is_history(sample.records[:1]):
        return Confidence.LIKELY
    return Confidence.LIKELY if known and sample.records and sample.mentions("history") else Confidence.NO


def _blames_the_team(label: Mapping[str, Any]) -> bool:
    """Whether an AgentRx label is of a run of Magentic-One: tau-bench has other agents."""
    return any(
        (text(one.get("failed_agent")) or "").casefold() in TEAM for one in objects(label.get("failures"))
    )


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    labels = AgentRxLabels()
    for source in labels.read(sources, intake):
        intake.step(source.name)
        _write(source, labels, intake)
    labels.unmet()


def _write(source: Source, labels: AgentRxLabels, intake: Intake) -> None:
    file = TraceFile.opened(source, intake, PLACES)
    if file is None:
        return
    log = file.log
    with intake.contained(log), intake.ledger(file.ledger) as write:
        for number, value in enumerate(_records(file, labels)):
            record, held = file.tidier.record(value, "")
            log.records += 1
            is_record = isinstance(record, dict) and isinstance(record.get("history"), list)
            log.count(held, _kept(record) if is_record else frozenset())
            if not is_record:
                file.refuse(f"record {number} is no Who&When record: it has no history")
                continue
            stem = f"{source.stem}/{number}" if number else source.stem
            if (run := write_record(record, stem, intake, log, labels)) is not None:
                write(run, log)


def _records(file: TraceFile, labels: AgentRxLabels) -> Iterator[Any]:
    """The values of a file; a history alone is made a record, of the question that labels name like it."""
    for value in file.wholes(lambda one: [one] if "history" in mapping(one) else []):
        if isinstance(value, list) and _is_history(value):
            asked = value[0].get("content") if value[0]["role"] == "human" else None
            stem = file.stem if file.stem in labels.by_task else None
            yield {"question_ID": stem, "question": asked, "history": value}
        else:
            yield from value if isinstance(value, list) else [value]


def _is_history(values: Sequence[Any]) -> bool:
    return bool(values) and all({"role", "content"} <= mapping(one).keys() for one in values)


def _kept(record: dict[str, Any]) -> frozenset[str]:
    """Where entries name their speaker, the role beside the name is the chat's technical one, and dropped."""
    named = any(isinstance(entry, dict) and entry.get("name") for entry in record["history"])
    return PLACES.kept - {"history[].role"} if named else PLACES.kept


IMPORTER: Final = importer(
    name="who-and-when",
    title="Who&When failure logs",
    extensions=(".json", ".jsonl"),
    what="Failed multi-agent runs; the orchestrator's choices are decisions, the human label a verdict.",
    recognise=_recognise,
    convert=_convert,
    passes=2,
    joins=True,
    agent=("(set)",),
    task=("question_ID",),
    task_text=("question",),
    target=("ground_truth",),
    outcome=("is_correct",),
)
