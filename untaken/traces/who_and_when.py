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
from hashlib import sha256
from typing import Any, Final

from msgspec import Struct

from untaken.ledger import (
    BLAMED,
    Draft,
    Evidence,
    Message,
    Observation,
    Plan,
    SkillSelection,
    State,
    ToolCall,
    Verdict,
    context_hash,
)
from untaken.traces.agentrx_labels import AgentRxLabels
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog, Findings, clip
from untaken.traces.readings import cut_name, mapping, objects, text, truth, whole
from untaken.traces.recording import EPOCH, TICK, DecisionRoom
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import Item, Recorded, TraceRun, write_traces
from untaken.traces.who_and_when_texts import (
    ORCHESTRATOR,
    UNREAD,
    Progress,
    chosen_by,
    code_in,
    exit_code,
    first_line,
    is_terminal,
    is_update,
    plan_in,
    progress_in,
    speaker_of,
)

HAND_CRAFTED: Final = "hand-crafted"
GENERATED: Final = "algorithm-generated"
BY: Final = "human:who-and-when"
"""Author of the failure labels."""
METADATA: Final = (
    *("question", "ground_truth", "level", "mistake_agent", "mistake_step", "mistake_reason", "mistake_type"),
    *("labels", "is_corrected", "system_prompt"),
)
"""Parts of a record kept, as they are, in RUN_STARTED.metadata."""
_HUMAN: Final = "human"
_LIMITS: Final = ("max ", "replan counter exceeded")
"""How the orchestrator begins to say which limit stopped it."""
_QUOTE_CHARS: Final = 200

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

    def runs() -> Iterator[TraceRun]:
        for number, value in enumerate(_records(file, labels)):
            record, held = file.tidier.record(value, "")
            log.records += 1
            is_record = isinstance(record, dict) and isinstance(record.get("history"), list)
            # The role beside a speaker's name is the chat's technical one, and dropped.
            named = any(mapping(entry).get("name") for entry in record["history"]) if is_record else False
            kept = PLACES.kept - {"history[].role"} if named else PLACES.kept
            log.count(held, kept if is_record else frozenset())
            if not is_record:
                file.refuse(f"record {number} is no Who&When record: it has no history")
                continue
            stem = f"{source.stem}/{number}" if number else source.stem
            if (run := _run(record, stem, intake, log, labels)) is not None:
                yield run

    with intake.contained(log):
        write_traces(runs(), file.ledger, intake=intake, log=log, tools={})


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


class HistoryEntry(Struct, frozen=True, kw_only=True):
    """One entry of a history; `role` is what it is called in the ledger."""

    role: str
    content: Any

    @property
    def speaker(self) -> str:
        """Who said it."""
        return speaker_of(self.role)


def _entry(one: Any) -> HistoryEntry:
    """An entry of a history; one that names nobody is by ``unknown``."""
    if not isinstance(one, dict):
        return HistoryEntry(role="unknown", content=None if isinstance(one, list) else one)
    role = text(one.get("name")) or text(one.get("role")) or "unknown"
    return HistoryEntry(role=role, content=one.get("content"))


def set_of(entries: list[HistoryEntry]) -> str:
    """Which of the two sets a record is of: only Magentic-One has an orchestrator."""
    orchestrated = any(entry.speaker.casefold() == ORCHESTRATOR for entry in entries)
    return HAND_CRAFTED if orchestrated else GENERATED


def decision_context(progress: Progress, last: str | None) -> dict[str, Any]:
    """The situation of a speaker choice: what the orchestrator thought of its progress, and who spoke last.

    No question is asked twice of one team, so the task is not part of it; two choices are in one situation
    when the flags of the ledger before them agree and they come after the same agent, or after the human's
    question. A flag that could not be read is null.
    """
    return {**progress.flags, "last_speaker": last or _HUMAN}


def _run(
    record: Mapping[str, Any], stem: str, intake: Intake, log: FileLog, labels: AgentRxLabels
) -> TraceRun | None:
    """The run of one record with its labels; ``None`` for one that is there already."""
    entries = [_entry(one) for one in record["history"]]
    name = set_of(entries)
    # The other set has its own runs of the same questions.
    asked = text(record.get("question_ID")) if name == HAND_CRAFTED else None
    labelled = any(text(record.get(key)) for key in ("mistake_agent", "mistake_step"))
    again = asked in labels.by_task
    agent = intake.agent_name(intake.agent or name, log)
    run_id = intake.claim(f"who-and-when/{agent}/{stem}", record, log)
    if run_id is None:
        return None
    log.synthesised["RUN_STARTED.agent"] += not intake.agent
    history = _History(run_id, entries, log)
    for entry in entries:
        history.add(entry)
    if not entries:
        log.findings.add("missing-trajectory", "the history is empty", run=run_id)
    log.defaulted["RUN_FINISHED.cost"] += 1
    message = "no times are recorded; generated so that all runs start together"
    intake.findings.once("synthetic-timestamps", message, severity="note")
    run = TraceRun(
        run_id=run_id,
        agent=agent,
        task_id=_task_id(record, stem),
        record=record,
        items=history.items,
        started=EPOCH,
        finished=history.now,
        success=_success(record, run_id, log, labelled=labelled or again),
        steps=history.steps,
        limit=history.limit,
        metadata={
            "format": "who-and-when",
            "set": name,
            "timestamps": "synthesised",
            **{key: record[key] for key in METADATA if record.get(key) is not None},
            **described(record.get("question"), record.get("ground_truth")),
        },
        claimed=True,
    )

    def spelled(name: str) -> str:
        return _spelled(name, entries, run_id, log.findings)

    if labelled:
        run.closing.append(
            lambda _, places: [_label(run, record, entries, [places[at] for at in history.at], log)]
        )
    elif not again:
        log.findings.add("missing-label", "no mistake is labelled", run=run_id)
    labels.add_to(run, asked, history.at, log, spelled=spelled)
    return run


def _task_id(record: Mapping[str, Any], stem: str) -> str:
    """The question's id, else a digest of its words, else the file's name."""
    stated, asked = text(record.get("question_ID")), text(record.get("question"))
    digest = sha256(asked.encode(errors="replace")).hexdigest()[:16] if asked else None
    return cut_name(f"who-and-when-{stated or digest or stem}")


class _History:
    """Puts a history down: entry n becomes the n-th MESSAGE or OBSERVATION of the run.

    Attributes:
        items: the events.
        at: which of them holds each entry.
        steps: entries of agents, in number: neither people's nor a terminal's.
        limit: what made the orchestrator stop, where that was a limit.
    """

    def __init__(self, run_id: str, entries: list[HistoryEntry], log: FileLog) -> None:
        self.items: list[Item] = []
        self.at: list[int] = []
        self.steps = 0
        self.limit: str | None = None
        self.now = EPOCH + TICK
        self._run_id = run_id
        self._log = log
        # Everybody whom the orchestrator chose is the team, until a plan names it.
        self._team = tuple(sorted({cut_name(name) for each in entries if (name := chosen_by(each.role))}))
        self._room = DecisionRoom(log)
        self._progress = UNREAD
        self._last: str | None = None
        self._code: str | None = None
        self._calls = 0

    def add(self, entry: HistoryEntry) -> None:
        """Takes the next entry."""
        content = entry.content if isinstance(entry.content, str) else ""
        chosen = chosen_by(entry.role)
        if chosen is not None:
            self._decide(cut_name(chosen))
        if is_terminal(entry.speaker):
            self._observe(entry, content)
            return
        self.steps += entry.speaker.casefold() != _HUMAN  # a person who asks takes no step of the team
        self._put(Message, role=entry.role, content=entry.content)
        self._code = code_in(content) or self._code
        if entry.speaker.casefold() == ORCHESTRATOR and chosen is None:
            self._consider(content)

    def _add(self, kind: Any, **fields: Any) -> None:
        self.items.append(Recorded(kind, fields, self.now))
        self.now += TICK

    def _put(self, kind: Any, **fields: Any) -> None:
        self.at.append(len(self.items))  # labels count entries of the history, evidence counts events
        self._add(kind, **fields)

    def _consider(self, thought: str) -> None:
        """What a thought of the orchestrator says besides: its ledger, a plan, why it stops."""
        if is_update(thought):
            self._update(thought)
        elif (plan := plan_in(thought)) is not None:
            self._team = plan.team or self._team  # a plan may name none
            facts = [f"Fact sheet: {plan.facts}"] if plan.facts else []
            self._add(Plan, sub_goals=[*plan.steps, *facts], reason=plan.kind)
            self._log.synthesised["PLAN"] += 1
        elif thought.lower().startswith(_LIMITS):
            self.limit = first_line(thought, _QUOTE_CHARS)

    def _update(self, thought: str) -> None:
        progress = progress_in(thought, self._log.findings)
        if progress is None:
            message = f"the ledger in entry {len(self.at) - 1} is broken JSON; its flags are unknown"
            self._log.findings.add("unreadable-progress", message, run=self._run_id)
        self._progress = progress or UNREAD
        patch = {**self._progress.flags, "next_speaker": self._progress.next_speaker}
        self._add(State, state=patch)
        self._log.synthesised["STATE"] += 1

    def _decide(self, chosen: str) -> None:
        named = self._progress.next_speaker
        if named is not None and named.casefold() != chosen.casefold():
            message = f"the ledger names {clip(named)!r}, the orchestrator chose {clip(chosen)!r}"
            self._log.findings.add("choice-differs-from-ledger", message, run=self._run_id)
        if not self._room.takes(self._team):
            return
        context = decision_context(self._progress, self._last)
        self._add(
            SkillSelection,
            selected=chosen,
            alternatives=[name for name in self._team if name != chosen],
            context_hash=context_hash(context),
            context=context,
        )
        self._log.synthesised["SKILL_SELECTION"] += 1
        self._last = chosen

    def _observe(self, entry: HistoryEntry, content: str) -> None:
        """What a terminal answered; with an exit code it ran the code that was written last."""
        code = exit_code(content)
        if code is None:
            self._put(Observation, content=entry.content)
            return
        self._calls += 1
        call_id = f"call-{self._calls}"
        arguments = {"code": self._code} if self._code else {}
        self._add(ToolCall, call_id=call_id, tool=cut_name(entry.role), arguments=arguments)
        self._log.synthesised["TOOL_CALL"] += 1
        self._put(Observation, call_id=call_id, ok=code == 0, content=entry.content)


def _success(record: Mapping[str, Any], run_id: str, log: FileLog, *, labelled: bool) -> bool | None:
    """The recorded outcome; a run has failed if people found the mistake that made it fail."""
    correct = truth(record.get("is_correct"), log.findings, "is_correct")
    if correct is None:
        log.synthesised["RUN_FINISHED.success"] += 1
        return False if labelled else None
    if correct and labelled:
        message = "is_correct says the run succeeded, but a mistake is labelled; both are kept"
        log.findings.add("flag-contradicts-label", message, run=run_id)
    return correct


def _label(
    run: TraceRun, record: Mapping[str, Any], entries: list[HistoryEntry], places: Sequence[int], log: FileLog
) -> Draft:
    """The failing agent and step as a verdict, pointing at the event of the step."""
    findings = log.findings
    blamed = text(record.get("mistake_agent"))
    step = whole(record.get("mistake_step"), findings, "mistake_step")
    inside = step is not None and 0 <= step < len(entries)
    if not inside:
        words = clip(record.get("mistake_step"))
        message = f"mistake_step is {words!r}, no entry of the history (0 to {len(entries) - 1})"
        findings.add("label-out-of-range", message, run=run.run_id)
    blamed = _spelled(blamed, entries, run.run_id, findings) if blamed else None
    evidence = None
    if inside and step is not None:
        entry = entries[step]
        if blamed is not None and entry.speaker.casefold() != blamed.casefold():
            message = f"{clip(blamed)!r} is blamed for step {step}, where {clip(entry.role)!r} speaks"
            findings.add("label-differs-from-speaker", message, run=run.run_id)
        evidence = [Evidence(seq=places[step], quote=first_line(entry.content, _QUOTE_CHARS))]
    verdict = {
        "sub_goal": cut_name(f"{BLAMED}{blamed or 'the team'}"),  # a label may name a step alone
        "passed": False,
        "by": BY,
        "evidence": evidence,
        "reason": text(record.get("mistake_reason")),
    }
    return Draft(Verdict, verdict, (run.finished or EPOCH) + TICK)  # people label a run that is over


def _spelled(blamed: str, entries: list[HistoryEntry], run_id: str, findings: Findings) -> str:
    """The blamed agent as the history spells it."""
    spellings = {entry.speaker.casefold(): entry.speaker for entry in entries}
    known = spellings.get(blamed.casefold())
    if known is not None and known != blamed:
        message = f"the label names {clip(blamed)!r}, the history says {clip(known)!r}; treated as the same"
        findings.add("agent-spelling", message, run=run_id)
    return known or blamed


IMPORTER: Final = importer(
    name="who-and-when",
    title="Who&When failure logs",
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
