"""tau-bench results: a JSON list of records {task_id, trial, reward, info, traj}, or one record per line.

Success is a reward of 1 (within 1e-6). The expected actions of the task become sub-goals without
dependencies: one reference path, not a requirement; `respond` is talk, not an action. One is met by a call
of the same tool with exactly equal arguments, and one call may serve several. The agent's cost is not
recorded (`user_cost` is that of the simulated user), nor is any time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from untaken.ledger import RunFinished, RunStarted
from untaken.plans import PlanGraph
from untaken.traces.agentrx_labels import AgentRxLabels
from untaken.traces.graphs import Expected, action_graph
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog, Findings, clip
from untaken.traces.readings import amount, cut_name, mapping, number, objects, text
from untaken.traces.recording import TICK, Conversation, RunDraft, synthetic_start, tool_name, trial_number
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, Tidier, under
from untaken.traces.trace_file import TraceFile

SUCCESS_WITHIN: Final = 1e-6
TALK: Final = "respond"
"""An expected "action" that is a message to the user."""
DOMAINS: Final = ("airline", "retail", "telecom")
_NAMED: Final = re.compile(rf"(?:^|[^a-z])({'|'.join(DOMAINS)})(?:[^a-z]|$)", re.IGNORECASE)
_RANGE: Final = re.compile(r"_range_\d+")
_POLICY: Final = re.compile(r"\s*#+\s*([A-Za-z][\w -]{0,40}?) agent policy", re.IGNORECASE)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFile:
    """What a file's name says: tau-bench records neither agent nor domain."""

    agent: str
    domain: str | None
    named: bool


@dataclass(slots=True)
class Survey:
    """What must be known of all files before the first run is written.

    Attributes:
        tools: per task, every tool that any of its runs called.
        graphs: per task, the plan graph of the first record that says what was expected.
    """

    tools: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    graphs: dict[str, PlanGraph] = field(default_factory=dict)

    def add(self, record: dict[str, Any], file: NamedFile) -> None:
        """Takes a record into account."""
        task_id = task_id_of(record, file)
        for message in objects(record.get("traj")):
            self.tools[task_id].update(tool_name(called.get("name")) for _, called in _calls(message))
        if task_id not in self.graphs:
            # Faults are named when the run is written.
            graph = _expected_graph(task_id, record, Findings(None))
            self.graphs.update({task_id: graph} if graph else {})


class TauRecords:
    """Turns the records of one file into runs."""

    def __init__(
        self, file: NamedFile, survey: Survey, *, intake: Intake, log: FileLog, tidier: Tidier
    ) -> None:
        self._file = file
        self._agent = intake.agent_name(intake.agent or file.agent, log)
        self._survey = survey
        self._intake = intake
        self._log = log
        self._tidier = tidier
        self._trials: Counter[str] = Counter()
        self._expecting_nothing: set[str] = set()
        self.places: list[int] = []
        """Of the last run: for each message of its trajectory, the `seq` of the first event after the one
        before it."""

    def run(self, record: dict[str, Any]) -> RunDraft | None:
        """The run of one record; ``None`` for one that is there already."""
        log = self._log
        task_id = task_id_of(record, self._file)
        trial = trial_number(record.get("trial"), self._trials, task_id, log, "[].trial")
        source_task = text(record["task_id"])
        base = f"tau-bench/{self._agent}/{_domain(record, self._file)}/{source_task}/{trial}"
        run_id = self._intake.claim(base, record, log)
        if run_id is None:
            return None
        # A record may leave out what another one of its task says.
        graph = _expected_graph(task_id, record, log.findings) or self._survey.graphs.get(task_id)
        run = RunDraft(run_id=run_id, origin=record)
        start = synthetic_start(trial)
        log.synthesised["RUN_STARTED.agent"] += 1
        run.add(
            RunStarted,
            start,
            agent=self._agent,
            task_id=task_id,
            task_repeat=trial,
            graph=self._graph(graph, task_id, run_id),
            metadata={
                "format": "tau-bench",
                "timestamps": "synthesised",
                "source_task_id": source_task,
                **described(mapping(mapping(record.get("info")).get("task")).get("instruction")),
            },
        )
        chat = Conversation(
            run,
            task_id=task_id,
            tools=self._survey.tools[task_id],
            log=log,
            tidier=self._tidier,
            now=start + TICK,
        )
        steps, self.places = _write_messages(record, chat, log)
        self._finish(run, record, chat, steps)
        return run

    def conclude(self) -> None:
        """Notes what is true of the file as a whole."""
        findings = self._log.findings
        if not self._log.runs:
            return
        if not (self._file.named or self._intake.agent):
            message = f"the file name has no agent; assuming {clip(self._agent)!r}"
            findings.add("unknown-agent", message, hint="Name the agent, or the file <agent>-<domain>.json.")
        if self._file.domain is None:
            message = "the file name has no domain; taken from the agent's instructions if possible"
            findings.add("unknown-domain", message, hint="Name the file <agent>-<domain>.json.")
        message = "no times are recorded; generated so that trials follow one another"
        findings.add("synthetic-timestamps", message, severity="note")

    def _graph(self, graph: PlanGraph | None, task_id: str, run_id: str) -> str | None:
        """The id under which the plan graph is kept."""
        findings = self._log.findings
        if graph is None:
            message = "no record of the task has expectations; no plan graph"
            findings.add("no-expected-actions-recorded", message, run=run_id)
            return None
        if not graph.sub_goals and task_id not in self._expecting_nothing:
            self._expecting_nothing.add(task_id)
            message = f"nothing was expected of {clip(task_id)}; its runs are unscored"
            findings.add("nothing-expected", message, severity="note")
        return self._intake.graphs.add(graph, self._log)

    def _finish(self, run: RunDraft, record: dict[str, Any], chat: Conversation, steps: int) -> None:
        findings, info = self._log.findings, mapping(record.get("info"))
        reward = number(record.get("reward"), findings, "[].reward")
        if reward is None:
            findings.add("missing-reward", "no reward is recorded; success is unknown", run=run.run_id)
        if "reward_info" in info and info["reward_info"] is None:
            message = "reward_info is null: the benchmark did not check this run; its reward is kept"
            findings.add("missing-reward-info", message, run=run.run_id)
        self._log.defaulted["RUN_FINISHED.cost"] += 1
        run.add(
            RunFinished,
            chat.now,
            success=None if reward is None else abs(reward - 1) < SUCCESS_WITHIN,
            cost=None,
            steps=steps,
            metrics=_metrics(info, reward, findings),
            error=text(info.get("error")),
        )


def _write_messages(record: dict[str, Any], chat: Conversation, log: FileLog) -> tuple[int, list[int]]:
    """Puts the trajectory down; returns the number of the agent's messages, and where each message begins."""
    if not isinstance(record.get("traj"), list):
        log.findings.add("missing-trajectory", "there is no trajectory", run=chat.run.run_id)
    steps, places = 0, []
    for message in objects(record.get("traj")):
        places.append(len(chat.run.drafts))
        role = text(message.get("role")) or "unknown"
        if role == "tool":
            content = message.get("content")
            # Errors of tau-bench's tools begin so.
            ok = not (isinstance(content, str) and content.startswith("Error"))
            chat.answer(text(message.get("tool_call_id")), content, ok=ok)
            continue
        steps += role == "assistant"
        chat.say(role, message.get("content"))
        for call_id, called in _calls(message):
            chat.call(call_id, called.get("name"), called.get("arguments"))
    return steps, places


def _calls(message: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    for call in objects(message.get("tool_calls")):
        yield text(call.get("id")), mapping(call.get("function"))


def _metrics(info: dict[str, Any], reward: float | None, findings: Findings) -> dict[str, float]:
    parts = mapping(mapping(info.get("reward_info")).get("info"))
    read = {
        "reward": reward,
        "user_cost": amount(info.get("user_cost"), findings, "[].info.user_cost"),
        "r_actions": number(parts.get("r_actions"), findings, "r_actions"),
        "r_outputs": number(parts.get("r_outputs"), findings, "r_outputs"),
    }
    return {key: value for key, value in read.items() if value is not None}


def _expected_graph(task_id: str, record: dict[str, Any], findings: Findings) -> PlanGraph | None:
    """What the record says was expected; ``None`` where it says nothing."""
    task = mapping(mapping(record.get("info")).get("task"))
    if not isinstance(task.get("actions"), list):
        return None
    actions = []
    for action in task["actions"]:
        named = text(mapping(action).get("name"))
        if named is None:
            findings.add("malformed-action", f"{clip(task_id)} expects an action without a name; left out")
        elif named != TALK:  # words to the user are no call that could be checked
            actions.append(Expected(name=tool_name(named), arguments=mapping(action.get("kwargs"))))
    stated = {key: task[key] for key in ("instruction", "user_id", "outputs") if task.get(key)}
    name = task_id.removeprefix("tau-bench-")  # `task_id_of` has the domain next
    metadata = {"format": "tau-bench", **stated}
    return action_graph(
        task_id, f"tau-bench {name}", actions, "exact", metadata, domain=name.partition("-")[0]
    )


def task_id_of(record: dict[str, Any], file: NamedFile) -> str:
    """The id of a record's task: the same in every file of its domain."""
    return cut_name(f"tau-bench-{_domain(record, file)}-{text(record['task_id'])}")


def _domain(record: dict[str, Any], file: NamedFile) -> str:
    """The domain in the file's name, else in the agent's instructions."""
    if file.domain:
        return file.domain
    first = next(iter(objects(record.get("traj"))), {})
    content = first.get("content")
    found = _POLICY.match(content) if isinstance(content, str) else None
    return found.group(1).strip().lower() if found else "unknown"


def named_file(stem: str) -> NamedFile:
    """Agent and domain by the file names in use.

    ``gpt-4o-airline`` and ``airline-gpt-4o``; ``tool-calling-gpt-4o-0.0_range_0-115_user-gpt-4o-llm_0612``.
    """
    domain = _NAMED.search(stem)
    cut = domain or _RANGE.search(stem)
    # What is before the domain, else what is after it.
    agent = (stem[: cut.start(domain is not None)] or (stem[cut.end(1) :] if domain else "")) if cut else ""
    agent = agent.strip(" -_.")
    return NamedFile(
        agent=agent or stem, domain=domain.group(1).lower() if domain else None, named=bool(agent)
    )


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
