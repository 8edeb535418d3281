"""Which agents can be compared at all: those that ran the same tasks, directly or through others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from untaken.errors import Finding, UntakenError, first_few
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.scoring import RunScore

LEFT_OUT: Final = "runs-left-out"
MOST_NAMED: Final = 10


class Group(Struct, frozen=True, kw_only=True):
    """Agents and tasks that hang together; no agent outside ran any of these tasks.

    Attributes:
        digests: content digests of its runs, in reading order; `runs`: how many of these are not broken.
        agents, tasks: sorted names (untrusted text).
    """

    digests: tuple[str, ...]
    runs: int
    agents: tuple[str, ...]
    tasks: tuple[str, ...]

    @property
    def name(self) -> str:
        """What tells the group from the others: its first task, which stays when runs are added to it."""
        return self.tasks[0]


Ran = Run | RunScore
"""Who ran which task: a score is of an unbroken run."""


def comparable_groups(runs: Iterable[Ran]) -> tuple[Group, ...]:
    """The connected parts of the graph agent – task: most runs first, then most agents, then by name.

    Parts of which every run is broken come last: they hold nothing to compare.

    A workspace often holds runs of several benchmarks. Rankings over "the tasks that all agents ran"
    mean something inside such a part only.
    """
    everyone = list(runs)
    sound = [run for run in everyone if not _is_broken(run)]
    ran = _who_ran_what(sound)
    part = parts_of(ran)
    of_task = {task: part[agent] for agent, task in ran}
    # What a broken ledger says joins no agents: its run goes where its agent is, else where its task is.
    alone = parts_of(
        _who_ran_what(run for run in everyone if run.agent not in part and run.task_id not in of_task)
    )
    members: dict[str, list[Ran]] = {}
    for run in everyone:
        first = part.get(run.agent) or of_task.get(run.task_id) or alone[run.agent]
        members.setdefault(first, []).append(run)
    groups = [_group(found) for found in members.values()]
    return tuple(sorted(groups, key=lambda g: (not g.runs, -g.runs, -len(g.digests), -len(g.agents), g.name)))


def _is_broken(run: Ran) -> bool:
    return isinstance(run, Run) and run.integrity.broken


def _who_ran_what(runs: Iterable[Ran]) -> dict[tuple[str, str], None]:
    return dict.fromkeys([(run.agent, run.task_id) for run in runs])


def _group(found: Sequence[Ran]) -> Group:
    sound = [run for run in found if not _is_broken(run)]
    named = _who_ran_what(sound or found)
    return Group(
        digests=tuple([run.digest for run in found]),
        runs=len(sound),
        agents=tuple(sorted({agent for agent, _ in named})),
        tasks=tuple(sorted({task for _, task in named})),
    )


def agents_compared_with(runs: Iterable[Run], name: str) -> Group:
    """The set of agents that ran a task, or that an agent belongs to.

    Raises:
        UntakenError: ``agent-unknown`` where no run is of such a task or agent.
    """
    groups = comparable_groups(runs)
    for group in groups:
        if name in group.tasks:  # first, because a group is named by a task
            return group
    for group in groups:
        if name in group.agents:
            return group
    known = ", ".join(islice((agent for group in groups for agent in group.agents), MOST_NAMED))
    raise UntakenError(
        "agent-unknown",
        f"no unbroken run is of an agent or a task {name!r}",
        hint=f"Agents: {known or 'none'}.",
    )


def parts_of(pairs: Collection[tuple[str, str]]) -> dict[str, str]:
    """The first agent of each agent's part, from who ran what. Each agent and each task is visited once."""
    tasks_of: dict[str, set[str]] = {}
    agents_of: dict[str, set[str]] = {}
    for agent, task in pairs:
        tasks_of.setdefault(agent, set()).add(task)
        agents_of.setdefault(task, set()).add(agent)
    part: dict[str, str] = {}
    for first in tasks_of:
        reached = [first]
        while reached:
            agent = reached.pop()
            if agent not in part:
                part[agent] = first
                # `pop`, so that each task is followed only once.
                reached += [other for task in tasks_of[agent] for other in agents_of.pop(task, ())]
    return part


def left_out(whole: Mapping[str, Run], kept: Mapping[str, Run]) -> tuple[Finding, ...]:
    """What goes with every figure about a part of the runs: how many are not in it, and whose they are."""
    others = [run for digest, run in whole.items() if digest not in kept]
    if not others:
        return ()
    agents = sorted({run.agent for run in others})
    finding = Finding(
        code=LEFT_OUT,
        message=f"{len(others)} of {counted(len(whole), 'run', 'are')} left out, of agents that share no "
        f"task with those compared: {first_few(agents, MOST_NAMED)}",
        hint="Choose other agents under “Agents compared”, or with --compared, to see them.",
    )
    return (finding,)
