"""The calls that all successes of one task make, tool and arguments: a plan that one can start from (§4)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from msgspec import Struct

from untaken import limits
from untaken.errors import UntakenError
from untaken.ledger import Run
from untaken.plans.discovery.first_attempts import FirstAttempts
from untaken.plans.discovery.proposed_graph import SharedCall
from untaken.plans.globs import matches_glob
from untaken.plans.patterns import as_literal, is_free_text
from untaken.plans.plan_graph import Check, SubGoal, ToolCallSpec

MIN_SUCCESSES: Final = 2
"""Successes of a task that share a call: what one run does says nothing about what is needed."""
FOUND: Final = 0.95
EXTRA: Final = 0.05
"""Shares of a task left out from which the steps of the other tasks are one plan."""
MIN_TASKS: Final = 3


class TaskFit(Struct, frozen=True, kw_only=True):
    """A task that the plan of all others does not fit: tools that it lacks, and tools too many."""

    task_id: str
    missing: tuple[str, ...]
    extra: tuple[str, ...]


class FamilyFit(Struct, frozen=True, kw_only=True):
    """Does the plan of some tasks fit another one? Each task with two successes, left out in turn.

    Attributes:
        found: share of the tools that all successes of a task call, that all other tasks have in common.
        extra: share of the tools common to the others that this task does without.
        misfits: the tasks behind what is missing from 1 and above 0, the worst first.
    """

    tasks: int
    found: float
    extra: float
    misfits: tuple[TaskFit, ...]

    @property
    def one_plan(self) -> bool:
        """Whether it is one plan for all tasks, and not a list to choose from."""
        return self.found >= FOUND and self.extra <= EXTRA


def shared_calls(runs: Sequence[Run], mutates: Collection[str]) -> tuple[SharedCall, ...]:
    """The accepted calls that all runs make, in the order of the first run; free text may differ.

    Args:
        runs: successes of one task.
        mutates: globs of the tools that change something.

    Raises:
        UntakenError: ``draft-several-tasks``; ``draft-too-few-successes``.
    """
    tasks = {run.task_id for run in runs}
    if len(tasks) > 1:
        raise UntakenError(
            "draft-several-tasks",
            f"a draft of calls is of one task; these runs are of {len(tasks)}",
            hint="Choose one task: arguments differ from task to task.",
        )
    if len(runs) < MIN_SUCCESSES:
        raise UntakenError(
            "draft-too-few-successes",
            f"{len(runs)} successful run: a draft of calls needs {MIN_SUCCESSES} of one task",
            hint="Add runs of the task, or draft from the tools that were called.",
        )
    made = [_calls(run) for run in runs]
    common = [key for key in made[0] if all(key in calls for calls in made[1:])]
    names: dict[str, Iterator[str]] = {}
    found: dict[str, SharedCall] = {}
    for key in common:
        _, tool, arguments = made[0][key]
        # A tool may be called `pay-2`, as the second call of `pay` would be.
        name = next(name for name in names.setdefault(tool, _names(tool)) if name not in found)
        changes = any(matches_glob(glob, tool) for glob in mutates)
        found[name] = SharedCall(sub_goal=name, tool=tool, arguments=arguments, changes=changes)
    return tuple(found.values())


def _names(tool: str) -> Iterator[str]:
    """Ids for the calls of a tool: its name, then the name with 2, 3 and so on."""
    yield tool[: limits.NAME_CHARS]
    for end in (f"-{number}" for number in count(2)):
        yield tool[: limits.NAME_CHARS - len(end)] + end


def orders_by_calls(
    runs: Sequence[Run], calls: Sequence[SharedCall]
) -> tuple[list[FirstAttempts], list[SubGoal]]:
    """When each run first made these calls, and the sub-goals that expect them."""
    keys = {_key(call.tool, call.arguments): call.sub_goal for call in calls}
    orders = []
    for run in runs:
        made = _calls(run)
        first = {name: made[key][0] for key, name in keys.items() if key in made}
        orders.append(FirstAttempts(run.agent, first, len(made) - len(first)))
    return orders, [_node(call) for call in calls]


def family_fit(runs: Iterable[Run]) -> FamilyFit | None:
    """How far the tools that all successes call are the same from task to task; ``None`` for few tasks."""
    by_task: defaultdict[str, list[set[str]]] = defaultdict(list)
    for run in runs:
        by_task[run.task_id].append({tool for _, tool, _ in _calls(run).values()})
    shared = {task: set.intersection(*sets) for task, sets in by_task.items() if len(sets) >= MIN_SUCCESSES}
    if len(shared) < MIN_TASKS:
        return None
    found = wanted = extra = offered = 0
    misfits = []
    for task, own in shared.items():
        plan = set.intersection(*(other for name, other in shared.items() if name != task))
        found, wanted = found + len(plan & own), wanted + len(own)
        extra, offered = extra + len(plan - own), offered + len(plan)
        if plan != own:
            missing, without = tuple(sorted(own - plan)), tuple(sorted(plan - own))
            misfits.append(TaskFit(task_id=task, missing=missing, extra=without))
    return FamilyFit(
        tasks=len(shared),
        found=found / wanted if wanted else 0.0,
        extra=extra / offered if offered else 0.0,
        # Those that fit worst come first.
        misfits=tuple(sorted(misfits, key=lambda one: -len(one.missing) - len(one.extra))),
    )


def _calls(run: Run) -> dict[str, tuple[int, str, dict[str, Any]]]:
    """The agent's calls that were not refused, each once, by what can be compared of them."""
    found: dict[str, tuple[int, str, dict[str, Any]]] = {}
    for call in run.actions:
        answer = run.answers.get(call.seq)
        if call.requestor == "user" or call.seq >= run.own or (answer is not None and answer.ok is False):
            continue
        found.setdefault(_key(call.tool, call.arguments), (call.seq, call.tool, call.arguments))
    return found


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    kept = {
        name: value
        for name, value in arguments.items()
        if not (isinstance(value, str) and is_free_text(value, tool=tool, argument=name))
    }
    return json.dumps([tool, kept], sort_keys=True)  # arguments in any order are one call


def _node(call: SharedCall) -> SubGoal:
    given = {name: as_literal(value) for name, value in call.arguments.items()}
    return SubGoal(
        id=call.sub_goal,
        check=Check(tool_call=ToolCallSpec(name=call.tool[: limits.NAME_CHARS], arguments=given)),
        kind="action",
    )
