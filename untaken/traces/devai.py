"""DevAI: task instances, verdicts on their requirements by people and judges, and recorded trajectories.

A task instance is a plan graph: its requirements are sub-goals, their prerequisites dependencies. A run is
one agent's go at one task; the files about it are joined by folder and file name (the name inside a record
is not reliable), verdicts by requirement id. Success is `executed_successfully` of the human sheet. The
verdicts of each judge are kept apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from untaken.traces.devai_model import CONSENSUS, UNRECORDED, Hint, Sheet, hint_of, plan_graph, read_sheet
from untaken.traces.devai_runs import Bundle, Judgment, run_of
from untaken.traces.importer import importer
from untaken.traces.intake import Intake
from untaken.traces.jsontext import JsonReader
from untaken.traces.losses import FileLog, Findings, Held, clip
from untaken.traces.readings import cut_name, text
from untaken.traces.sample import Confidence, Sample
from untaken.traces.sources import Source
from untaken.traces.tidy import Places, Tidier, under
from untaken.traces.trace_run import write_traces

_VERDICTS: Final = frozenset(
    {
        *under("requirements[].", "requirement_id satisfied criteria"),
        *("executed_successfully", "satisfied_all_requirements", "satisfied_all_preferences"),
    }
)
_PLAN: Final = frozenset(
    {
        *("query", "tags[]", "hint", "is_kaggle_api_needed", "is_training_needed"),
        *("is_web_navigation_needed", "preferences[].criteria"),
        *under("requirements[].", "requirement_id prerequisites[] criteria category"),
    }
)
_SHEET: Final = Places(kept=_PLAN | _VERDICTS)
UNKNOWN_AGENT: Final = "unknown-agent"


class _TaskRecords(Struct):
    """What the files held, sorted: plans by task, bundles by agent and task."""

    intake: Intake
    plans: dict[str, Sheet] = msgspec.field(default_factory=dict)
    bundles: defaultdict[str, defaultdict[str, list[Bundle]]] = msgspec.field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add_plan(self, sheet: Sheet, held: Held) -> None:
        """Keeps a plan; another one of the same task is named and left."""
        log, known = sheet.log, self.plans.setdefault(sheet.task, sheet)
        if known.log is log:
            log.count(held, _PLAN)
            return
        log.count(held, frozenset())
        if known.digest == sheet.digest:
            log.findings.add("duplicate-file", f"the same record as {clip(known.log.name)}; read once")
        else:
            message = f"another plan of this task is in {clip(known.log.name)}; that one is used"
            log.findings.add("graph-differs", message)

    def add_judgment(self, judgment: Judgment, agent: str) -> None:
        """Puts a verdict sheet into the first bundle of its run that lacks one by its judge."""
        task = judgment.sheet.task
        for bundle in self.bundles[agent][task]:
            known = bundle.judgments.get(judgment.by)
            if known is None:
                bundle.judgments[judgment.by] = judgment
                return
            if known.sheet.digest == judgment.sheet.digest:
                message = f"the same record as {clip(known.sheet.log.name)}; read once"
                judgment.sheet.log.findings.add("duplicate-file", message)
                judgment.sheet.log.count(judgment.held, frozenset())
                return
        self._another(agent, task, judgment.sheet.log).judgments[judgment.by] = judgment

    def add_trajectory(self, source: Source, log: FileLog, agent: str, task: str) -> None:
        """Puts a trajectory into the first bundle of its run that has none."""
        for bundle in self.bundles[agent][task]:
            if bundle.trajectory is None:
                bundle.trajectory = source, log
                return
            _, known = bundle.trajectory
            if known.sha256 == log.sha256:
                log.findings.add("duplicate-file", f"the same bytes as {clip(known.name)}; read once")
                return
        self._another(agent, task, log).trajectory = source, log

    def agent(self, hint: Hint, log: FileLog) -> str:
        """The agent of a file's run: by its folder, else as the caller says."""
        if hint.agent is None:
            log.synthesised["RUN_STARTED.agent"] += 1
            if self.intake.agent is None:
                log.findings.add(
                    "unknown-agent",
                    "no folder names the agent of this run",
                    hint="Name the agent, or give the folder: judgment/<Agent>/human_as_a_judge/….",
                )
        return self.intake.agent_name(hint.agent or self.intake.agent or UNKNOWN_AGENT, log)

    def _another(self, agent: str, task: str, log: FileLog) -> Bundle:
        bundles = self.bundles[agent][task]
        bundle = Bundle(agent=agent, task=task, number=len(bundles) + 1)
        bundles.append(bundle)
        if bundle.number > 1:
            message = "another run of this agent and task exists; kept with a suffix"
            log.findings.add("duplicate-run", message, run=bundle.run_id)
        return bundle


def _recognise(sample: Sample) -> Confidence:
    if sample.mentions("requirements", "requirement_id") or sample.mentions("requirements", "prerequisites"):
        return Confidence.LIKELY
    steps = sample.shape == "array" and sample.mentions("step", "agent", "thought", "action")
    return Confidence.LIKELY if steps else Confidence.NO


def _convert(sources: Sequence[Source], intake: Intake) -> None:
    tasks_found = _TaskRecords(intake)
    for source in sources:
        intake.step(source.name)
        log = intake.open(source)
        content = intake.text(source, log)
        if content is not None:
            with intake.contained(log):
                _sort(source, content, log, tasks_found)
    _take_missing_plans(tasks_found)
    graphs = {
        task: intake.graphs.add(plan_graph(plan, plan.log.findings), plan.log)
        for task, plan in sorted(tasks_found.plans.items())
    }
    for agent, tasks in sorted(tasks_found.bundles.items()):
        runs = (
            run_of(bundle, tasks_found.plans.get(task), graphs.get(task), intake)
            for task, bundles in sorted(tasks.items())
            for bundle in bundles
        )
        log = next(iter(tasks.values()))[0].logs()[0]
        write_traces(runs, f"devai-{agent}", intake=intake, log=log, tools={})


def _sort(source: Source, content: str, log: FileLog, tasks_found: _TaskRecords) -> None:
    """Puts the records of one file where they belong."""
    hint = hint_of(source.folders)
    if _holds_steps(content, hint):
        tasks_found.add_trajectory(source, log, tasks_found.agent(hint, log), cut_name(source.stem))
        return
    records = [element.value for element in JsonReader(content, log.findings).values()]
    tidier = Tidier(_SHEET, log.findings)
    for value in records:
        record, held = tidier.record(value, "")
        log.records += 1
        if isinstance(record, dict) and isinstance(record.get("requirements"), list):
            sheet = read_sheet(record, _task(record, source, log, alone=len(records) == 1), log)
            if hint.kind == "plan" or (hint.kind is None and not sheet.is_judged):  # no verdicts: a plan
                tasks_found.add_plan(sheet, held)
            else:
                by = hint.by or _judge(sheet, log)
                tasks_found.add_judgment(Judgment(sheet, by, held), tasks_found.agent(hint, log))
        else:
            log.findings.add("not-this-format", "a record lists no requirements", severity="note")
            log.count(held, frozenset())


def _holds_steps(content: str, hint: Hint) -> bool:
    reader = JsonReader(content, Findings(None))  # faults are named when it is read
    if reader.peek() != "[":
        return False
    first = next((element.value for element in reader.values()), None)
    if not isinstance(first, dict):
        return hint.kind == "trajectory"  # nothing in it says so, perhaps its folder does
    return "requirements" not in first and ("agent" in first or "step" in first)


def _task(record: dict[str, Any], source: Source, log: FileLog, *, alone: bool) -> str:
    """The task of a record: the file's name, the one inside is not reliable; in a list, the one inside."""
    name = text(record.get("name")) or ""
    if not alone:
        return cut_name(name.removesuffix(".json") or source.stem)
    if name and name != source.stem:
        message = f"the record calls itself {clip(name)!r}; the file name is used"
        log.findings.add("record-name-differs", message)
    return cut_name(source.stem)


def _judge(sheet: Sheet, log: FileLog) -> str:
    """Who judged, where no folder says so: only people's sheets hold flags on the run as a whole."""
    log.synthesised["VERDICT.by"] += 1
    if sheet.is_human:
        return CONSENSUS
    log.findings.add("unknown-judge", f"no folder names the judge; assuming {UNRECORDED}")
    return UNRECORDED


def _take_missing_plans(tasks_found: _TaskRecords) -> None:
    """Takes the first verdict sheet as the plan if no instance was given, and counts what the sheets held."""
    for _, tasks in sorted(tasks_found.bundles.items()):
        for task, bundles in sorted(tasks.items()):
            for judgment in (one for bundle in bundles for one in bundle.judgments.values()):
                missing = task not in tasks_found.plans
                if missing:
                    tasks_found.plans[task] = judgment.sheet
                    message = f"no task instance of {clip(task)} was given; the plan is taken from this sheet"
                    judgment.sheet.log.findings.add("plan-from-verdicts", message)
                kept = _VERDICTS | _PLAN if missing else _VERDICTS
                judgment.sheet.log.count(judgment.held, kept)


IMPORTER: Final = importer(
    name="devai",
    title="DevAI (agent-as-a-judge)",
    what="Development tasks whose requirements form a DAG, with verdicts by people and judges.",
    recognise=_recognise,
    convert=_convert,
    joins=True,
    agent=("(folder)",),
    model=("(trajectory) step_usage.model",),
    task=("(file name)",),
    task_text=("query",),
    outcome=("executed_successfully",),
    tokens=("(trajectory) step_usage.input_tokens", "(trajectory) step_usage.output_tokens"),
    cost=("(trajectory) accumulated_usage.accumulated_cost",),
)
