"""tau-bench results: a JSON list of records {task_id, trial, reward, info, traj}, or one record a line.

Success is a reward of 1 (within 1e-6). The expected actions of the task become sub-goals without dependencies: one
reference path, not a requirement; `respond` is talk, not an action. One is met by a call of the same tool with exactly
equal arguments, and one call may serve several. The agent's cost is not recorded (`user_cost` is the simulated
user's), nor is any time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from untaken.formats.graphs import Expected, action_graph
from untaken.formats.importer import Importer
from untaken.formats.intake import Intake
from untaken.formats.jsontext import JsonReader
from untaken.formats.losses import FileLog, Findings, clip
from untaken.formats.model import FormatInfo
from untaken.formats.readings import amount, cut_name, mapping, number, objects, text, whole
from untaken.formats.recording import TICK, Conversation, RunDraft, synthetic_start, tool_name
from untaken.formats.sources import Source
from untaken.formats.tidy import Places, Tidier
from untaken.ledger import RunFinished, RunStarted
from untaken.plans.model import PlanGraph

SUCCESS_WITHIN: Final = 1e-6
TALK: Final = "respond"
"""An expected "action" that is a message to the user."""
DOMAINS: Final = ("airline", "retail", "telecom")
_NAMED: Final = re.compile(rf"(?:^|[^a-z])({'|'.join(DOMAINS)})(?:[^a-z]|$)", re.IGNORECASE)
_RANGE: Final = re.compile(r"_range_\d+")
_POLICY: Final = re.compile(r"\s*#+\s*([A-Za-z][\w -]{0,40}?) agent policy", re.IGNORECASE)

PLACES: Final = Places(
    kept=[
        "[].task_id",
        "[].trial",
        "[].reward",
        "[].info.error",
        "[].info.task.user_id",
        "[].info.task.instruction",
        "[].info.task.outputs.**",
        "[].info.task.actions",
        "[].info.task.actions[].name",
        "[].info.task.actions[].kwargs.**",
        "[].info.user_cost",
        "[].info.reward_info.info.r_actions",
        "[].info.reward_info.info.r_outputs",
        "[].traj[].role",
        "[].traj[].content.**",
        "[].traj[].tool_call_id",
        "[].traj[].tool_calls[].id",
        "[].traj[].tool_calls[].function.name",
        "[].traj[].tool_calls[].function.arguments.**",
    ],
    dropped=["[].info.reward_info.actions.**", "[].info.reward_info.info.outputs.**"],
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """What a file's name says: tau-bench records neither agent nor domain."""

    agent: str
    domain: str | None
    named: bool


@dataclass(slots=True)
class _Survey:
    """What must be known of all files before the first run is written."""

    tools: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    graphs: dict[str, PlanGraph] = field(default_factory=dict)


def _recognises(_: str, head: bytes) -> bool:
    record = all(key in head for key in (b'"task_id"', b'"reward"', b'"info"'))
    traced = any(key in head for key in (b'"traj"', b'"instruction"', b'"traceback"'))
    return record and traced and b'"simulations"' not in head and head.lstrip()[:1] in (b"[", b"{")


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    survey = _Survey()
    for source in sources:
        intake.step(source.name)
        _look(source, intake, survey)
    for source in sources:
        intake.step(source.name)
        _write(source, intake, survey)


def _look(source: Source, intake: Intake, survey: _Survey) -> None:
    unsaid = FileLog(source.name)
    reader = intake.reader(source, unsaid)
    file = _told(source.stem)
    for record in _records(reader, unsaid) if reader else ():
        task_id = _task_id(record, file)
        survey.tools[task_id].update(tool_name(called.get("name")) for _, called in _calls(record))
        if task_id not in survey.graphs and (graph := _graph(task_id, record, unsaid)) is not None:
            survey.graphs[task_id] = graph


def _write(source: Source, intake: Intake, survey: _Survey) -> None:
    log = intake.open(source)
    reader = intake.reader(source, log)
    if reader is None:
        return
    one = _Records(source.stem, intake, log, survey)
    with intake.ledger(f"{source.stem}-{log.sha256[:8]}") as write:
        for record in _records(reader, log):
            if (run := one.run(record)) is not None:
                write(run, log)
    one.conclude()


def _records(reader: JsonReader, log: FileLog) -> Iterator[dict[str, Any]]:
    tidier = Tidier(PLACES, log.findings)
    for element in reader.values():
        record, held = tidier.record(element.value, "[]")
        is_record = isinstance(record, dict) and text(record.get("task_id")) is not None
        log.records += 1
        log.count(held.items(), PLACES.kept if is_record else frozenset())
        if is_record:
            yield record
        else:
            message = f"record {element.index} is no tau-bench result: it names no task"
            log.findings.add("not-this-format", message, severity="error")


class _Records:
    """Turns the records of one file into runs."""

    def __init__(self, stem: str, intake: Intake, log: FileLog, survey: _Survey) -> None:
        self._file = _told(stem)
        self._agent = intake.agent_name(intake.agent or self._file.agent, log)
        self._intake = intake
        self._log = log
        self._survey = survey
        self._trials: Counter[str] = Counter()
        self._expecting_nothing: set[str] = set()
        self._tidier = Tidier(PLACES, log.findings)

    def run(self, record: dict[str, Any]) -> RunDraft | None:
        """The run of one record; ``None`` for one that is there already."""
        log = self._log
        task_id = _task_id(record, self._file)
        trial = self._trial(record, task_id)
        source_task = text(record["task_id"])
        base = f"tau-bench/{self._agent}/{_domain(record, self._file)}/{source_task}/{trial}"
        run_id = self._intake.claim(base, record, log)
        if run_id is None:
            return None
        graph = _graph(task_id, record, log) or self._survey.graphs.get(task_id)
        run = RunDraft(run_id=run_id)
        start = synthetic_start(trial)
        self._start(run, task_id, trial, graph, {"source_task_id": source_task}, start)
        chat = Conversation(
            run,
            task_id=task_id,
            tools=self._survey.tools[task_id],
            log=log,
            tidier=self._tidier,
            now=start + TICK,
        )
        steps = _tell(record, chat, log)
        self._finish(run, record, chat, steps)
        return run

    def conclude(self) -> None:
        """Notes what is true of the file as a whole."""
        findings = self._log.findings
        if not self._log.runs:
            return
        if not (self._file.named or self._intake.agent):
            message = f"the file's name says no agent; taken to be {clip(self._agent)!r}"
            findings.add(
                "unknown-agent", message, hint="Name the agent, or the file like <agent>-airline.json."
            )
        message = "no times are recorded; made up, so that every trial lies before the next"
        findings.add("synthetic-timestamps", message, severity="note")

    def _trial(self, record: dict[str, Any], task_id: str) -> int:
        trial = whole(record.get("trial"), self._log.findings, "[].trial")
        expected = self._trials[task_id]
        self._trials[task_id] += 1
        if trial is not None and trial >= 0:
            return trial
        message = "records say no trial; they are counted in the order of the file"
        self._log.findings.once("missing-trial", message)
        self._log.synthesised["RUN_STARTED.task_repeat"] += 1
        return expected

    def _start(
        self,
        run: RunDraft,
        task_id: str,
        trial: int,
        graph: PlanGraph | None,
        metadata: dict[str, Any],
        start: datetime,
    ) -> None:
        log = self._log
        kept = self._intake.graphs.add(graph, log) if graph is not None else None
        if graph is None:
            message = "no record of the task says what was expected; it has no plan graph"
            log.findings.add("no-expected-actions-recorded", message, run=run.run_id)
        elif not graph.sub_goals and task_id not in self._expecting_nothing:
            self._expecting_nothing.add(task_id)
            message = f"nothing was expected of {clip(task_id)}; its runs are unscored"
            log.findings.add("nothing-expected", message, severity="note")
        log.synthesised["RUN_STARTED.agent"] += 1
        run.add(
            RunStarted,
            start,
            agent=self._agent,
            task_id=task_id,
            task_repeat=trial,
            graph=kept,
            metadata={"format": "tau-bench", "timestamps": "synthesised", **metadata},
        )

    def _finish(self, run: RunDraft, record: dict[str, Any], chat: Conversation, steps: int) -> None:
        findings, info = self._log.findings, mapping(record.get("info"))
        reward = number(record.get("reward"), findings, "[].reward")
        if reward is None:
            findings.add("missing-reward", "no reward is recorded; success is unknown", run=run.run_id)
        if "reward_info" in info and info["reward_info"] is None:
            message = "reward_info is null: the benchmark never checked this run; its reward stands"
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


def _tell(record: dict[str, Any], chat: Conversation, log: FileLog) -> int:
    """Puts the trajectory down; returns the number of the agent's messages."""
    if not isinstance(record.get("traj"), list):
        log.findings.add("missing-trajectory", "there is no trajectory", run=chat.run.run_id)
    steps = 0
    for message in objects(record.get("traj")):
        role = text(message.get("role")) or "unknown"
        if role == "tool":
            content = message.get("content")
            ok = not (isinstance(content, str) and content.startswith("Error"))
            chat.answer(text(message.get("tool_call_id")), content, ok=ok)
            continue
        steps += role == "assistant"
        chat.say(role, message.get("content"))
        for call_id, called in _message_calls(message):
            chat.call(call_id, called.get("name"), called.get("arguments"))
    return steps


def _calls(record: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    for message in objects(record.get("traj")):
        yield from _message_calls(message)


def _message_calls(message: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
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


def _graph(task_id: str, record: dict[str, Any], log: FileLog) -> PlanGraph | None:
    """What the record says was expected; ``None`` where it says nothing."""
    task = mapping(mapping(record.get("info")).get("task"))
    if not isinstance(task.get("actions"), list):
        return None
    actions = []
    for action in task["actions"]:
        named = text(mapping(action).get("name"))
        if named is None:
            log.findings.add(
                "malformed-action", f"{clip(task_id)} expects an action without a name; left out"
            )
        elif named != TALK:
            actions.append(Expected(name=tool_name(named), arguments=mapping(action.get("kwargs"))))
    said = {key: task[key] for key in ("instruction", "user_id", "outputs") if task.get(key)}
    title = f"tau-bench {task_id.removeprefix('tau-bench-')}"
    return action_graph(task_id, title, actions, "exact", {"format": "tau-bench", **said})


def _task_id(record: dict[str, Any], file: _File) -> str:
    return cut_name(f"tau-bench-{_domain(record, file)}-{text(record['task_id'])}")


def _domain(record: dict[str, Any], file: _File) -> str:
    """From the file's name, else from the agent's instructions."""
    if file.domain:
        return file.domain
    first = next(iter(objects(record.get("traj"))), {})
    said = first.get("content")
    found = _POLICY.match(said) if isinstance(said, str) else None
    return found.group(1).strip().lower() if found else "unknown"


def _told(stem: str) -> _File:
    """Agent and domain by the file names in use: ``gpt-4o-airline``, ``tool-calling-gpt-4o-0.0_range_0-115_user…``."""
    domain = _NAMED.search(stem)
    cut = domain or _RANGE.search(stem)
    agent = stem[: cut.start()].strip(" -_.") if cut else ""
    return _File(agent=agent or stem, domain=domain.group(1).lower() if domain else None, named=bool(agent))


IMPORTER: Final = Importer(
    info=FormatInfo(
        name="tau-bench",
        title="τ-bench results",
        extensions=(".json", ".jsonl"),
        what="Customer-service runs with a reward; the expected actions of each task become its plan graph.",
    ),
    recognises=_recognises,
    convert=_convert,
    passes=2,
)
