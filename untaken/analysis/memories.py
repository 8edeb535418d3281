"""The policy memories of many runs: one for each set of agents that can be compared at all (§3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from untaken.analysis.ranking import comparable_groups
from untaken.caching import EachOnce, Once
from untaken.counterfactual import Memories, Observed, PolicyMemory, applied_signals
from untaken.errors import Finding
from untaken.ledger import Run
from untaken.workspace import read_settings

POLICY: Final = "policy.memory.jsonl"
"""The file of a workspace that keeps the weak signals folded into its memory, and nothing else."""


def memories_of(runs: Iterable[Run], *, identity: Sequence[str] = ()) -> Memories:
    """One policy memory for each set of agents with something in common (§3), by digest of each run.

    They are made when one is first asked for.

    In common are tasks that both ran, or the plan graph that both were started on, directly or through
    others. What else there is changes no memory: neither the span of costs and steps nor any context is
    shared with it.

    Args:
        runs: of one or many ledgers; a chain that is repeated counts once.
        identity: names of metadata that can change an agent: only runs that share it are compared.
    """
    return _made({run.digest: run for run in runs}, (), (), identity)


def _made(
    runs: Mapping[str, Run],
    applied: Sequence[Observed],
    unread: tuple[Finding, ...],
    identity: Sequence[str],
) -> Memories:
    def made() -> dict[str, PolicyMemory]:
        parts = _in_common(runs)
        memories: dict[str, PolicyMemory] = {}
        for part, weak in zip(parts, _shared_out(parts, applied), strict=True):
            memory = PolicyMemory.build(part, applied=weak, identity=identity)
            memory.findings += unread  # each of them goes without these
            memories |= dict.fromkeys((run.digest for run in part), memory)
        return memories

    together = Once(made)  # one run's memory is not had without the sets of all
    return EachOnce(runs, lambda digest: together()[digest])


def remembered(runs: Iterable[Run], folder: Path) -> Memories:
    """The policy memories of a workspace: outcomes from its ledgers, so that the two never disagree.

    Args:
        runs: of the workspace.
        folder: the workspace's; its file `POLICY` holds the weak signals that were folded in, its settings
            name what belongs to the identity of runs.
    """
    applied, unread = applied_signals(folder / POLICY)
    identity = read_settings(folder).identity
    return _made({run.digest: run for run in runs}, applied, unread, identity)


def _in_common(runs: Mapping[str, Run]) -> list[list[Run]]:
    """The runs of comparable agents, joined with those of others that were started on the same plan graph."""
    parts: list[tuple[set[str], list[Run]]] = []
    for group in comparable_groups(runs.values()):
        part = [runs[digest] for digest in group.digests]
        graphs = {run.started.graph for run in part if run.started.graph is not None}
        apart = []
        for others, members in parts:
            if graphs.isdisjoint(others):
                apart.append((others, members))
            else:
                graphs, part = graphs | others, members + part
        parts = [*apart, (graphs, part)]
    return [part for _, part in parts]


def _shared_out(parts: Sequence[Sequence[Run]], applied: Sequence[Observed]) -> list[list[Observed]]:
    """The weak observations that each part gets: those of its own runs' choices, and those no part knows.

    A run that made a choice may be gone: what was learnt from it stays in all parts.
    """
    from_runs = {observed.run_id for observed in applied}
    made = [
        {
            (run.run_id, selection.context_hash, skill)
            for run in part
            if run.run_id in from_runs  # most runs have no applied signal
            for selection in run.selections
            for skill in (selection.selected, *selection.alternatives)
        }
        for part in parts
    ]
    every = frozenset[tuple[str, str, str]]().union(*made)
    placed = [(observed, (observed.run_id, observed.context_hash, observed.skill)) for observed in applied]
    return [[observed for observed, place in placed if place in own or place not in every] for own in made]
