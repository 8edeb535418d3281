"""Pairs of runs of one task in which only one version succeeded, and where they first differ (§11)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from untaken.analysis.versions.sides import Sides, VersionRun
from untaken.plans import GraphSet
from untaken.scoring import NodeScore, RunScore, compiled_graph


class DiscordantRuns(Struct, frozen=True, kw_only=True):
    """Two runs of one task, one of each version, of which only one succeeded; texts are untrusted.

    Attributes:
        first, second: digests of the runs of the two versions; `second_succeeded`: whose success it is.
        sub_goal: the first one, by the plan, that only the success completed; empty where there is none.
        reason: why the failed run did not complete it.
        evidence: `seq` in the failed run.
    """

    task_id: str
    agent: str
    first: str
    second: str
    second_succeeded: bool
    sub_goal: str
    reason: str
    evidence: tuple[int, ...]


def discordant_pairs(both: Sides, graphs: GraphSet) -> tuple[DiscordantRuns, ...]:
    """The runs of each task and agent in order of repeat and start, paired one to one."""
    cells: defaultdict[tuple[str, ...], tuple[list[VersionRun], list[VersionRun]]] = defaultdict(
        lambda: ([], [])
    )
    for one in both.runs:
        if isinstance(one.run.success, bool):
            cells[one.stratum][one.second].append(one)  # False and True are its places
    found = []
    for firsts, seconds in cells.values():
        # What one version ran more often has no partner.
        for first, second in zip(_ordered(firsts), _ordered(seconds), strict=False):
            if first.run.success is not second.run.success:
                found.append(_pair(first, second, graphs))
    return tuple(found)


def _ordered(runs: Sequence[VersionRun]) -> list[VersionRun]:
    def place(one: VersionRun) -> tuple[int, float, str]:
        repeat = one.run.started.task_repeat
        # Those without a repeat come last.
        return (1 << 62 if repeat is None else repeat), one.run.started.ts.timestamp(), one.run.digest

    return sorted(runs, key=place)


def _pair(first: VersionRun, second: VersionRun, graphs: GraphSet) -> DiscordantRuns:
    won = second.run.success is True
    good, bad = (second, first) if won else (first, second)
    node = _first_missed(good.score, bad.score, graphs)
    return DiscordantRuns(
        task_id=first.run.task_id,
        agent=first.run.agent,
        first=first.run.digest,
        second=second.run.digest,
        second_succeeded=won,
        sub_goal=node.sub_goal if node else "",
        reason=node.reason if node else "",
        evidence=node.evidence if node else (),
    )


def _first_missed(good: RunScore | None, bad: RunScore | None, graphs: GraphSet) -> NodeScore | None:
    graph = graphs.get(bad.graph_id) if bad is not None else None
    if good is None or bad is None or graph is None or good.graph_id != bad.graph_id:
        return None
    done = {one.sub_goal for one in good.results if one.completed}
    # Nobody has to complete each option of a group.
    required = (one for one in bad.results if one.status != "not_required" and not one.groups)
    missed = {one.sub_goal for one in required if one.completed is False and one.sub_goal in done}
    order = compiled_graph(graph).dependencies_first
    name = next((each for each in order if each in missed), None)
    return next((node for node in bad.nodes if node.sub_goal == name), None) if name else None
