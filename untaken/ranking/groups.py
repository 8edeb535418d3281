"""Which agents can be compared at all: those that ran the same tasks, directly or through others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from untaken.errors import Finding
from untaken.ledger import Run

LEFT_OUT: Final = "runs-left-out"
MOST_NAMED: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Agents and tasks that hang together; no agent outside ran any of these tasks.

    Attributes:
        digests: content digests of its runs, in reading order.
        agents, tasks: sorted names (untrusted text).
    """

    digests: tuple[str, ...]
    agents: tuple[str, ...]
    tasks: tuple[str, ...]

    @property
    def name(self) -> str:
        """What tells the group from the others: its first task, which stays when runs are added to it."""
        return self.tasks[0]


def comparable_groups(runs: Iterable[Run]) -> tuple[Group, ...]:
    """The connected parts of the graph agent – task: most agents first, then most runs, then by name.

    Parts of which every run is broken come last: they hold nothing to compare.

    A workspace often holds runs of several benchmarks. Rankings over "the tasks that all agents ran"
    mean something inside such a part only.
    """
    everyone = list(runs)
    part = _parts(everyone)
    members: dict[str, list[Run]] = {}
    for run in everyone:
        members.setdefault(part[run.agent], []).append(run)
    groups = [
        Group(
            digests=tuple(run.digest for run in found),
            agents=tuple(sorted({run.agent for run in found})),
            tasks=tuple(sorted({run.task_id for run in found})),
        )
        for found in members.values()
    ]
    sound = {run.digest for run in everyone if not run.integrity.broken}
    return tuple(
        sorted(groups, key=lambda g: (sound.isdisjoint(g.digests), -len(g.agents), -len(g.digests), g.name))
    )


def _parts(runs: Iterable[Run]) -> dict[str, str]:
    """The first agent of each agent's part. Each agent and each task is visited once."""
    tasks_of: dict[str, set[str]] = {}
    agents_of: dict[str, set[str]] = {}
    for run in runs:
        tasks_of.setdefault(run.agent, set()).add(run.task_id)
        agents_of.setdefault(run.task_id, set()).add(run.agent)
    part: dict[str, str] = {}
    for first in tasks_of:
        reached = [first]
        while reached:
            agent = reached.pop()
            if agent not in part:
                part[agent] = first
                reached += [other for task in tasks_of[agent] for other in agents_of.pop(task, ())]
    return part


def left_out(whole: Mapping[str, Run], kept: Mapping[str, Run]) -> tuple[Finding, ...]:
    """What goes with every figure about a part of the runs: how many are not in it, and whose they are."""
    others = [run for digest, run in whole.items() if digest not in kept]
    if not others:
        return ()
    agents = sorted({run.agent for run in others})
    more = f" and {len(agents) - MOST_NAMED} more" if len(agents) > MOST_NAMED else ""
    finding = Finding(
        code="runs-left-out",
        message=f"{len(others)} of {len(whole)} runs are left out, of agents that share no task with those "
        f"compared: {', '.join(agents[:MOST_NAMED])}{more}",
        hint="Choose other agents under “Agents compared” to see them.",
    )
    return (finding,)
