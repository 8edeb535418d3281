"""One agent's go at one DevAI task, put together from its verdict sheets and its trajectory, as a run.

Which row of a sheet judges which requirement of the plan is said by id and text, never by guess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from untaken.ledger import Message, Verdict
from untaken.traces.devai_model import DevAIRequirement, Sheet, sub_goal_id
from untaken.traces.intake import Intake
from untaken.traces.jsontext import JsonReader
from untaken.traces.losses import FileLog, Findings, Held, clip
from untaken.traces.readings import amount, cut_name, mapping, number, text
from untaken.traces.recording import EPOCH, TICK
from untaken.traces.sources import Source
from untaken.traces.task_texts import described
from untaken.traces.tidy import Places, Tidier, under
from untaken.traces.trace_run import Answered, Called, Item, Recorded, TraceRun, Utterance

_KIND: Final = re.compile(r"([A-Z][A-Za-z ]{1,40}):\s*(.*)", re.DOTALL)
_LONGEST: Final = 1e9
"""Seconds."""
PLAIN: Final = "action"
"""Tool of an action that does not say what kind it is."""

STEPS = Places(
    kept=[
        *under("[].", "user_message agent.thought agent.action.** environment.**"),
        *under("[].step_usage.", "cost input_tokens output_tokens model"),
        *under("[].step_usage.", "llm_inference_time step_execution_time"),
        *under("[].accumulated_usage.", "accumulated_cost accumulated_time"),
    ]
)


class Judgment(NamedTuple):
    """A verdict sheet; `held` counts its values by place."""

    sheet: Sheet
    by: str
    held: Held


class Bundle(Struct, kw_only=True):
    """The files about one run; that of its steps is read again when the run is written."""

    agent: str
    task: str
    number: int
    judgments: dict[str, Judgment] = msgspec.field(default_factory=dict)
    trajectory: tuple[Source, FileLog] | None = None

    @property
    def run_id(self) -> str:
        """The run's id; a second run of the same agent and task has a suffix."""
        again = f"~{self.number}" if self.number > 1 else ""
        return cut_name(f"devai/{self.agent}/{self.task}") + again

    def logs(self) -> list[FileLog]:
        """The accounts of its files."""
        logs = [one.sheet.log for one in self.judgments.values()]
        return [*logs, self.trajectory[1]] if self.trajectory else logs


def run_of(bundle: Bundle, plan: Sheet | None, graph: str | None, intake: Intake) -> TraceRun:
    """The run of a bundle."""
    log = bundle.logs()[0]
    steps = _steps(bundle.trajectory, intake)
    of_steps = bundle.trajectory[1] if bundle.trajectory else log
    items, end = _happened(steps, of_steps) if steps else ([], 0.0)
    judges = sorted(bundle.judgments, key=lambda by: (not by.startswith("human:"), by))  # people first
    now = items[-1].at or EPOCH if items else EPOCH
    for by in judges:
        for fields in _verdicts(bundle.run_id, bundle.judgments[by], plan) if plan is not None else ():
            now += TICK
            items.append(Recorded(Verdict, fields, now))
    # Judges of DevAI say nothing of a run as a whole.
    human = [one.sheet for one in bundle.judgments.values() if one.by.startswith("human:")]
    figures: dict[str, bool | float | None] = {}
    for name in ("input_tokens", "output_tokens") if steps else ():
        used = (mapping(step.get("step_usage")).get(name) for step in steps)
        figures[name] = _total([number(each, of_steps.findings, name) for each in used])
    if steps:
        figures["total_time"] = end
    for sheet in human:
        flags = {
            "satisfied_all_requirements": sheet.all_requirements,
            "satisfied_all_preferences": sheet.all_preferences,
        }
        figures |= {key: value for key, value in flags.items() if value is not None}
    if not steps:
        log.defaulted["RUN_FINISHED.steps"] += 1
        log.defaulted["RUN_FINISHED.cost"] += 1
    message = "DevAI records no dates; generated from 2000-01-01"
    intake.findings.once("synthetic-timestamps", message, severity="note")
    models = [text(mapping(step.get("step_usage")).get("model")) for step in steps]
    return TraceRun(
        run_id=bundle.run_id,
        agent=bundle.agent,
        task_id=bundle.task,
        record=[judgment.sheet.record for judgment in bundle.judgments.values()],
        graph=graph,
        model=", ".join(sorted({name for name in models if name})) or None,
        items=items,
        started=EPOCH,
        finished=now + TICK,
        success=_success(human, bundle.run_id, log),
        cost=_cost(steps, of_steps.findings) if steps else None,
        steps=len(steps) or None,
        metrics={name: value for name, value in figures.items() if value is not None},
        metadata={
            "format": "devai",
            "timestamps": "synthesised",
            **described(plan.metadata.get("query") if plan else None),
        },
        files=bundle.logs(),
        claimed=True,
    )


def _steps(trajectory: tuple[Source, FileLog] | None, intake: Intake) -> list[dict[str, object]]:
    if trajectory is None:
        return []
    source, log = trajectory
    content = intake.text(source, log)
    tidier = Tidier(STEPS, log.findings)
    steps = []
    for element in JsonReader(content or "", log.findings).values():
        step, held = tidier.record(element.value, "[]")
        log.records += 1
        is_step = isinstance(step, dict)
        log.count(held, STEPS.kept if is_step else frozenset())
        if is_step:
            steps.append(step)
        else:
            log.findings.add("not-this-format", f"step {element.index} is no step", severity="error")
    if not steps:
        log.findings.add("missing-trajectory", "the trajectory holds no step")
    return steps


def _verdicts(run_id: str, judgment: Judgment, plan: Sheet) -> Iterator[dict[str, Any]]:
    """A sheet's verdicts, in the order of the plan."""
    joined = join_by_id_or_text(plan, judgment.sheet, run_id, judgment.sheet.log.findings)
    _compare(joined, plan, run_id, judgment.sheet.log.findings)
    for planned in plan.requirements.values():
        if (given := joined.requirements.get(planned.id)) is not None:
            judged = f"criteria as judged: {given.criteria}"
            yield {
                "sub_goal": sub_goal_id(planned.id),
                "passed": given.passed,
                "by": judgment.by,
                # else the plan's words are not what was judged
                "reason": None if given.criteria == planned.criteria else judged,
            }


def _compare(sheet: Sheet, plan: Sheet, run_id: str, findings: Findings) -> None:
    """Notes where a sheet differs from the plan it is joined with, by requirement id."""

    def note(code: str, what: str, which: list[str]) -> None:
        if which:
            findings.add(code, f"{what}: {clip(', '.join(which))}", run=run_id)

    ours, theirs = plan.requirements, sheet.requirements
    both = [(ours[key], theirs[key]) for key in ours if key in theirs]
    note(
        "verdict-without-sub-goal",
        "verdicts on what the plan does not hold",
        [k for k in theirs if k not in ours],
    )
    unjudged = [key for key in ours if key not in theirs or theirs[key].passed is None]
    note("missing-verdicts", "requirements without a verdict", unjudged)
    note("criteria-differ", "criteria worded differently than in the plan", _differing(both, "criteria"))
    note("prerequisites-differ", "prerequisites that differ from the plan", _differing(both, "prerequisites"))
    _check_flags(sheet, run_id, findings)


def _differing(both: list[tuple[DevAIRequirement, DevAIRequirement]], part: str) -> list[str]:
    return [a.id for a, b in both if getattr(a, part) != getattr(b, part)]


def _check_flags(sheet: Sheet, run_id: str, findings: Findings) -> None:
    verdicts = [one.passed for one in sheet.requirements.values()]
    met = all(verdicts)
    # A missing verdict might have been either.
    if sheet.all_requirements is not None and sheet.all_requirements != met and None not in verdicts:
        message = f"satisfied_all_requirements says {sheet.all_requirements}, the verdicts say {met}"
        findings.add("flag-contradicts-verdicts", message, run=run_id)


def _success(human: list[Sheet], run_id: str, log: FileLog) -> bool | None:
    answers = {sheet.executed for sheet in human if sheet.executed is not None}
    if len(answers) > 1:
        log.findings.add("reviewers-disagree", "people disagree on executed_successfully", run=run_id)
    if not answers:
        log.defaulted["RUN_FINISHED.success"] += 1
    return answers.pop() if len(answers) == 1 else None  # where people disagree, nobody knows


def join_by_id_or_text(plan: Sheet, sheet: Sheet, run_id: str, findings: Findings) -> Sheet:
    """The sheet with its rows under the ids of the plan; rows that judge nothing in the plan keep their own.

    A requirement takes, in this order:

    1. the row of its id, where the text is the same but for case and white space, or missing on one side;
    2. the one row with its text, whatever its id: the numbers have shifted;
    3. the row of its id with another text, where nothing has shifted: no row was joined by rule 2, and the
       sheet has the ids of the plan, neither more nor fewer.

    Otherwise the requirement has no verdict from this sheet (``verdict-not-joined``).
    """
    ours, theirs = plan.requirements, sheet.requirements
    moved = _moved(ours, theirs)
    shifted = bool(moved) or ours.keys() != theirs.keys()
    used = {theirs[row].id for row in moved.values()}
    joined: dict[str, DevAIRequirement] = {}
    lost: list[str] = []
    for key, planned in ours.items():
        row = theirs.get(moved.get(key, key))
        if row is None or (key not in moved and row.id in used):  # its text is another requirement's
            continue
        # Where no number has shifted, one number is one requirement, however it is worded.
        # A row without a text contradicts none.
        if key in moved or not shifted or len({_text(planned), _text(row)} - {""}) < 2:
            joined[key] = replace(row, id=key)
            used.add(row.id)
        else:
            lost.append(key)
    others = {
        f"{key} (in the sheet)" if key in ours else key: row
        for key, row in theirs.items()
        if row.id not in used
    }
    if moved:
        pairs = ", ".join(f"{row} → {key}" for key, row in moved.items())
        findings.add(
            "joined-by-text", f"numbers differ from the plan; joined by text: {clip(pairs)}", run=run_id
        )
    if lost:
        message = (
            f"same number, another text, and the numbers have shifted; unscored: {clip(', '.join(lost))}"
        )
        findings.add("verdict-not-joined", message, run=run_id)
    return replace(sheet, requirements=joined | others)


def _moved(ours: Mapping[str, DevAIRequirement], theirs: Mapping[str, DevAIRequirement]) -> dict[str, str]:
    """Requirements whose text occurs once in the plan and once in the sheet, with different ids."""
    planned, judged = Counter(map(_text, ours.values())), Counter(map(_text, theirs.values()))
    rows = {_text(row): key for key, row in theirs.items()}
    return {
        key: rows[text]
        for key, one in ours.items()
        if (text := _text(one)) and planned[text] == judged[text] == 1 and rows[text] != key
    }


def _text(one: DevAIRequirement) -> str:
    return " ".join(one.criteria.casefold().split())


def _happened(steps: Sequence[Mapping[str, Any]], log: FileLog) -> tuple[list[Item], float]:
    """What happened in the steps, and how many seconds they took; one without an action is a message only.

    Time is that of the start plus the accumulated time of the file: a call is made when the model has
    answered, its observation comes at the end of the step.
    """
    items: list[Item] = []
    end = 0.0
    for index, step in enumerate(steps):
        usage, begun = mapping(step.get("step_usage")), end
        end = max(begun, _end(step, usage, begun, log))  # time does not go back
        thinking = amount(usage.get("llm_inference_time"), log.findings, "llm_inference_time") or 0.0
        acted = min(begun + thinking, end)  # it thought within the step
        items += _items(step, index, *(EPOCH + TICK + timedelta(seconds=s) for s in (begun, acted, end)))
    log.synthesised["ts"] += len(steps)
    return items, end


def _items(
    step: Mapping[str, Any], index: int, begun: datetime, acted: datetime, ended: datetime
) -> Iterator[Item]:
    agent = mapping(step.get("agent"))
    if (asked := text(step.get("user_message"))) is not None:
        yield Utterance(role="user", content=asked, at=begun)
    if (thought := text(agent.get("thought"))) is not None:
        yield Utterance(role="assistant", content=thought, at=acted)
    action, answer = agent.get("action"), step.get("environment")
    if action is None or action == "":
        if answer is not None:
            yield Recorded(Message, {"role": "environment", "content": answer}, ended)
        return
    tool, arguments = _call(action)
    call_id = f"step-{index}"
    yield Called(tool=tool, arguments=arguments, source_id=call_id, chosen=False, at=acted)
    if answer is not None:
        yield Answered(content=answer, source_id=call_id, at=ended)


def _call(action: Any) -> tuple[str, dict[str, Any]]:
    """``Running command: ls`` is the tool "Running command" with the input ``ls``."""
    if not isinstance(action, str):
        return PLAIN, action if isinstance(action, dict) else {"input": action}
    kind = _KIND.fullmatch(action)
    return (kind.group(1), {"input": kind.group(2)}) if kind else (PLAIN, {"input": action})


def _end(step: Mapping[str, Any], usage: Mapping[str, Any], begun: float, log: FileLog) -> float:
    """Seconds from the start to the end of a step, at most what a run may last."""
    total = mapping(step.get("accumulated_usage")).get("accumulated_time")
    accumulated = amount(total, log.findings, "accumulated_time")
    if accumulated is None:
        own = amount(usage.get("step_execution_time"), log.findings, "step_execution_time")
        accumulated = begun + (own or 0.0)
    return min(accumulated, _LONGEST)


def _cost(steps: Sequence[Mapping[str, Any]], findings: Findings) -> float | None:
    """The running total recorded last, else the sum of the steps."""
    totals = [
        amount(mapping(step.get("accumulated_usage")).get("accumulated_cost"), findings, "accumulated_cost")
        for step in steps
    ]
    costs = [amount(mapping(step.get("step_usage")).get("cost"), findings, "cost") for step in steps]
    return _total(costs) if totals[-1] is None else totals[-1]


def _total(values: Iterable[float | None]) -> float | None:
    """The sum of what each step records; ``None`` where one does not say."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total
