"""Failure modes by agent, task, sub-goal, version or model: counts, and rates with their intervals (§9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from untaken import stats
from untaken.analysis.failure_modes.reading import By, ReadRun, modes_seen
from untaken.errors import Score, Unscored


class PivotCell(Struct, frozen=True, kw_only=True):
    """One mode in one group of failed runs; names are untrusted text.

    Attributes:
        n: failed runs of the group that were read; `count` of them show the mode.
        rate: count / n, with its 95% interval; repeats of a task are not taken for independent.
        runs: digests of the runs that show it.
    """

    mode: str
    group: str
    count: int
    n: int
    rate: Score
    low: Score
    high: Score
    runs: tuple[str, ...]


class Pivot(Struct, frozen=True, kw_only=True):
    """Modes by group.

    Attributes:
        modes: the most frequent first; `groups`: those with the most failed runs first.
        cells: a cell for each mode and group, mode by mode.
        totals: for each mode, all failed runs that were read as one group.
        failed: failed runs that were read.
    """

    by: By
    modes: tuple[str, ...]
    groups: tuple[str, ...]
    cells: tuple[PivotCell, ...]
    totals: tuple[PivotCell, ...]
    failed: int


def pivot_modes(runs: Iterable[ReadRun], by: By) -> Pivot:
    """Counts each mode once a run and group, over the failed runs that were read.

    By sub-goal a run is in the group of each sub-goal it requires, and shows a mode where it was assigned to
    that sub-goal, or to an event that serves it.
    """
    failed = [run for run in runs if run.failed]
    modes = modes_seen(failed)
    members: dict[str, list[ReadRun]] = defaultdict(list)
    for run in failed:
        for group in run.groups(by):
            members[group].append(run)
    groups = tuple(sorted(members, key=lambda group: (-len(members[group]), group)))
    return Pivot(
        by=by,
        modes=modes,
        groups=groups,
        cells=tuple(cell_of(mode, group, members[group], by) for mode in modes for group in groups),
        totals=tuple(cell_of(mode, "all", failed) for mode in modes),
        failed=len(failed),
    )


def cell_of(mode: str, group: str, runs: Sequence[ReadRun], by: By = "agent") -> PivotCell:
    """The cell of a mode in a group of failed runs."""
    shown = [run for run in runs if ((mode, group) in run.modes if by == "sub_goal" else run.has(mode))]
    none = Unscored("no failed run was read here")
    # Runs of one task are alike: the interval is over tasks.
    sample = stats.TaskSample({run.run: run.task_id for run in runs})
    low, high = sample.interval({run.run: 1.0 for run in shown}) if runs else (none, none)
    return PivotCell(
        mode=mode,
        group=group,
        count=len(shown),
        n=len(runs),
        rate=len(shown) / len(runs) if runs else none,
        low=low,
        high=high,
        runs=tuple(run.run for run in shown),
    )
