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
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from untaken.plans import PlanGraph
from untaken.traces.agentrx_labels import AgentRxLabels
from untaken.traces.graphs import Expected, action_graph
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.losses import FileLog, Findings, clip
from untaken.traces.readings import amount, cut_name, mapping, number, objects, text
from untaken.traces.recording import tool_name, trial_number
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, under
from untaken.traces.trace_file import TraceFile
from untaken.traces.trace_run import Answered, Called, Item, TraceRun, Utterance, write_traces

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
    # What must be known of all files before the first run is written: of each task the tools that any of its
    # runs called, and the plan graph of the first record that says what was expected.
    tools: defaultdict[str, set[str]] = defaultdict(set)
    graphs: dict[str, PlanGraph] = {}
    for source in sources:
        if labels is None:  # else a first look was taken for these
            intake.step(source.name)
        log = FileLog(source.name)  # a first look reports nothing
        file = TraceFile.opened(source, intake, PLACES, log)
        with intake.contained(log):
            for record in _records(file) if file else ():
                task_id = task_id_of(record, named_file(source.stem))
                calls = (call for each in objects(record.get("traj")) for call in _calls(each))
                tools[task_id].update(tool_name(called.get("name")) for _, called in calls)
                if task_id not in graphs and (graph := _expected_graph(task_id, record, Findings(None))):
                    graphs[task_id] = graph  # faults are named when the run is written
    for source in sources:
        intake.step(source.name)
        if (file := TraceFile.opened(source, intake, PLACES)) is not None:
            named = named_file(source.stem)
            agent = intake.agent_name(intake.agent or named.agent, file.log)
            with intake.contained(file.log):
                runs = _runs(file, replace(named, agent=agent), graphs, intake, labels)
                write_traces(runs, file.ledger, intake=intake, log=file.log, tools=tools)
            if file.log.runs:
                _note_names(named, agent, file.findings, intake)


def _note_names(named: NamedFile, agent: str, findings: Findings, intake: Intake) -> None:
    if not (named.named or intake.agent):
        message = f"the file name has no agent; assuming {clip(agent)!r}"
        findings.add("unknown-agent", message, hint="Name the agent, or the file <agent>-<domain>.json.")
    if named.domain is None:
        message = "the file name has no domain; taken from the agent's instructions if possible"
        findings.add("unknown-domain", message, hint="Name the file <agent>-<domain>.json.")


def _records(file: TraceFile) -> Iterator[dict[str, Any]]:
    """The records, counted; what is none is named and left out."""
    refusal = "record {} is no tau-bench result: it names no task"
    return file.records_that(lambda record: text(record.get("task_id")) is not None, refusal, "[]")


class NamedFile(Struct, frozen=True, kw_only=True):
    """What a file's name says: tau-bench records neither agent nor domain."""

    agent: str
    domain: str | None
    named: bool


def _runs(
    file: TraceFile,
    named: NamedFile,
    graphs: dict[str, PlanGraph],
    intake: Intake,
    labels: AgentRxLabels | None,
) -> Iterator[TraceRun]:
    """The runs of the records of one file, without those that are there already."""
    log, findings = file.log, file.findings
    trials: Counter[str] = Counter()
    expecting_nothing: set[str] = set()
    for record in _records(file):
        task_id = task_id_of(record, named)
        trial = trial_number(record.get("trial"), trials, task_id, log, "[].trial")
        source_task = text(record["task_id"])
        base = f"tau-bench/{named.agent}/{_domain(record, named)}/{source_task}/{trial}"
        run_id = intake.claim(base, record, log)
        if run_id is None:
            continue
        # A record may leave out what another one of its task says.
        graph = _expected_graph(task_id, record, findings) or graphs.get(task_id)
        log.synthesised["RUN_STARTED.agent"] += 1
        if graph is None:
            message = "no record of the task has expectations; no plan graph"
            findings.add("no-expected-actions-recorded", message, run=run_id)
        elif not graph.sub_goals and task_id not in expecting_nothing:
            expecting_nothing.add(task_id)
            message = f"nothing was expected of {clip(task_id)}; its runs are unscored"
            findings.add("nothing-expected", message, severity="note")
        log.run_id = run_id
        if not isinstance(record.get("traj"), list):
            findings.add("missing-trajectory", "there is no trajectory", run=run_id)
        parts = [list(_items(message)) for message in objects(record.get("traj"))]
        info = mapping(record.get("info"))
        reward = number(record.get("reward"), findings, "[].reward")
        if reward is None:
            findings.add("missing-reward", "no reward is recorded; success is unknown", run=run_id)
        if "reward_info" in info and info["reward_info"] is None:
            message = "reward_info is null: the benchmark did not check this run; its reward is kept"
            findings.add("missing-reward-info", message, run=run_id)
        log.defaulted["RUN_FINISHED.cost"] += 1
        run = TraceRun(
            run_id=run_id,
            agent=named.agent,
            record=record,
            task_id=task_id,
            task_repeat=trial,
            graph=graph,
            items=[item for part in parts for item in part],
            success=None if reward is None else abs(reward - 1) < SUCCESS_WITHIN,
            steps=sum(text(each.get("role")) == "assistant" for each in objects(record.get("traj"))),
            metrics=_metrics(info, reward, findings),
            error=text(info.get("error")),
            metadata={
                "format": "tau-bench",
                "timestamps": "synthesised",
                "source_task_id": source_task,
                **described(mapping(info.get("task")).get("instruction")),
            },
            claimed=True,
        )
        if labels is not None:
            places = [sum(map(len, parts[:place])) for place in range(len(parts))]
            labels.add_to(run, source_task, places, log)
        yield run


def _items(message: dict[str, Any]) -> Iterator[Item]:
    role, content = text(message.get("role")) or "unknown", message.get("content")
    if role == "tool":
        # Errors of tau-bench's tools begin so.
        ok = not (isinstance(content, str) and content.startswith("Error"))
        yield Answered(content=content, source_id=text(message.get("tool_call_id")), ok=ok)
        return
    yield Utterance(role=role, content=content)
    for call_id, called in _calls(message):
        yield Called(tool=called.get("name"), arguments=called.get("arguments"), source_id=call_id)


def _calls(message: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    for call in objects(message.get("tool_calls")):
        yield text(call.get("id")), mapping(call.get("function"))


def _metrics(info: dict[str, Any], reward: float | None, findings: Findings) -> dict[str, float | bool]:
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
