"""Agents against the writes a plan expects: where they agree with each other and not with it (§10).

Where a benchmark's outcome is the plan's own end state, a wrong plan has no success, and successes say
nothing.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from untaken.analysis.auditing.scored import PlannedRun, PlanRuns
from untaken.counterfactual import plan_changes
from untaken.ledger import readable
from untaken.plans import ToolCallSpec, call_matches, is_free_text
from untaken.scoring import sought

MIN_AGENTS: Final = 2
SAME: Final = 0.8
"""Share of runs that succeed exactly where they make the plan's writes: some benchmarks also look at what is
said."""


class ExpectedWrite(Struct, frozen=True, kw_only=True):
    """A call that changes something."""

    tool: str
    arguments: Mapping[str, Any]


class TaskAudit(Struct, frozen=True, kw_only=True):
    """What the agents wrote in one task, against its plan.

    Attributes:
        doubt: 1 − pass rate + the share of runs that make `proposed`; 0 to 2, the larger the likelier wrong.
        passed: share of runs that succeeded; `runs` with a known outcome, of `agents`.
        agreeing: digests of the runs that make the commonest set of writes that is not the plan's.
        proposed: that set; empty for no write at all; ``None`` where every run made the plan's.
        strangers: runs that name nothing that the plan expects: likely of another task, and left out.
    """

    graph: str
    task_id: str
    runs: int
    agents: int
    passed: float
    agreeing: tuple[str, ...]
    doubt: float
    proposed: tuple[ExpectedWrite, ...] | None
    strangers: tuple[str, ...]

    @property
    def agree(self) -> int:
        """Runs that make the proposed writes."""
        return len(self.agreeing)


def audit_tasks(plans: Iterable[PlanRuns]) -> Iterator[TaskAudit]:
    """The tasks whose plans say with which calls they should be written, each that two agents ran.

    Only where success is those writes: in plans with the same `mutates`, runs that make them succeed and the
    others fail, nearly always.
    """
    domains: defaultdict[tuple[str, ...], list[PlanRuns]] = defaultdict(list)
    for plan in plans:
        if _expects_one_set(plan):
            domains[tuple(plan.graph.mutates)].append(plan)
    for alike in domains.values():
        agree = [
            _as_planned(list(_writes(plan, one).values()), _wanted(plan)) is one.success
            for plan in alike
            for one in plan.runs
            if isinstance(one.success, bool)
        ]
        if agree and sum(agree) >= SAME * len(agree):
            for plan in alike:
                yield from _audit_task(plan)


def _expects_one_set(plan: PlanRuns) -> bool:
    """Whether it is of one task, and no rule maps writes: a rule names no arguments that must be."""
    if not plan.graph.mutates or len({one.run.task_id for one in plan.runs}) != 1:
        return False
    rules = [rule.tool for node in plan.graph.sub_goals for rule in node.rules if rule.tool]
    return not any(map(plan.changes, rules))


def _audit_task(plan: PlanRuns) -> Iterator[TaskAudit]:
    tasks: defaultdict[str, list[PlannedRun]] = defaultdict(list)
    for one in plan.runs:
        if isinstance(one.success, bool):
            tasks[one.run.task_id].append(one)
    for task, runs in tasks.items():
        strangers = [one for one in runs if _is_stranger(plan, one)]
        kept = [one for one in runs if one not in strangers]
        agents = {one.run.agent for one in kept}
        if len(agents) >= MIN_AGENTS:
            yield _task(plan, task, kept, len(agents), strangers)


def _task(
    plan: PlanRuns, task: str, runs: Sequence[PlannedRun], agents: int, strangers: Sequence[PlannedRun]
) -> TaskAudit:
    wanted = _wanted(plan)
    made = [_writes(plan, one) for one in runs]
    others = Counter(frozenset(writes) for writes in made if not _as_planned(list(writes.values()), wanted))
    # Of sets that are as common the smaller: an edit asks for no more than it has to.
    common = max(others.items(), key=lambda each: (each[1], -len(each[0]), sorted(each[0])), default=None)
    passed = sum(one.success is True for one in runs) / len(runs)
    agreeing = [
        one.run.digest
        for one, writes in zip(runs, made, strict=True)
        if common and common[0] == writes.keys()
    ]
    every = {key: write for writes in made for key, write in writes.items()}
    return TaskAudit(
        graph=plan.graph.id,
        task_id=task,
        runs=len(runs),
        agents=agents,
        passed=passed,
        agreeing=tuple(agreeing),
        doubt=1 - passed + len(agreeing) / len(runs),
        proposed=tuple(every[key] for key in sorted(common[0])) if common else None,
        strangers=tuple(one.run.digest for one in strangers),
    )


def _wanted(plan: PlanRuns) -> list[ToolCallSpec]:
    """The writes that the plan expects."""
    return [spec for spec in plan.compiled.calls.values() if plan.changes(spec.name)]


def _writes(plan: PlanRuns, one: PlannedRun) -> dict[str, ExpectedWrite]:
    """The accepted changes of a run, each once, by what can be compared of them."""
    calls = {call.seq: call for call in one.run.actions}
    found: dict[str, ExpectedWrite] = {}
    for change in plan_changes(one.run, plan.graph, one.score.mapped):
        if change.tool:
            call = calls[change.seq]
            given = {
                name: value
                for name, value in call.arguments.items()
                if not (isinstance(value, str) and is_free_text(value, tool=call.tool, argument=name))
            }
            key = json.dumps([call.tool, _plain(given)], sort_keys=True)
            found.setdefault(key, ExpectedWrite(tool=call.tool, arguments=call.arguments))
    return found


def _as_planned(writes: Sequence[ExpectedWrite], wanted: Sequence[ToolCallSpec]) -> bool:
    """Whether every expected write is made and every write is expected."""
    # A call is its tool and its arguments, which a write has.
    met = [[call_matches(spec, write) for write in writes] for spec in wanted]  # type: ignore[arg-type]
    return all(map(any, met)) and all(any(row[at] for row in met) for at in range(len(writes)))


def _plain(value: Any) -> Any:
    """A value as it is compared: 50 and 50.0 are one."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_stranger(plan: PlanRuns, one: PlannedRun) -> bool:
    """Whether a run names none of the ids that its plan expects; one without ids has no strangers."""
    ids = {
        found.words
        for spec in plan.compiled.calls.values()
        for name, value in spec.arguments.items()
        if isinstance(value, str) and (found := sought(value, name)).kind == "id" and found.words
    }
    if not ids:
        return False
    text = " ".join(
        sought(readable(part) or "").words
        for event in one.run.events
        for part in (getattr(event, "arguments", None), getattr(event, "content", None))
        if part is not None
    )
    return not any(f" {each} " in f" {text} " for each in ids)  # a whole word: another id may begin alike
