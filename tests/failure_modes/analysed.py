"""Runs that people have read, for tests of error analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import msgspec
from builders import EPOCH, RunBuilder, a_run

from untaken.analysis.failure_modes import Taxonomy
from untaken.analysis.failure_modes.reading import ReadRun, read_runs
from untaken.errors import Unscored
from untaken.ledger import ModeAssignment, ReviewNote, Run
from untaken.plans import PlanGraph
from untaken.scoring import RunScore, score_run

NO_GRAPH = Unscored("no plan graph")


def a_read_run(
    name: str,
    *modes: str,
    ok: bool | None = False,
    task: str = "task",
    note: bool = False,
    day: float = 0,
    **started: Any,
) -> Run:
    """A finished run with these modes; read where it has one, or a note."""
    builder = a_run(name, task=task, **started).call("look", ok=True).finish(ok)
    return read(builder, *modes, note=note, day=day)


def read(builder: RunBuilder, *modes: str, note: bool = False, day: float = 0) -> Run:
    """The run with ann's findings, started this many days after the epoch."""
    if note:
        builder.add(ReviewNote, author="human:ann", text="nothing to see")
    for mode in modes:
        builder.add(ModeAssignment, mode=mode, by="human:ann")
    shift = timedelta(days=day)
    builder.events = [msgspec.structs.replace(one, ts=one.ts + shift) for one in builder.events]
    return builder.run()


def scores_of(runs: Iterable[Run], graph: PlanGraph | None = None) -> dict[str, RunScore | Unscored]:
    """Each run against the graph, or unscored."""
    return {run.digest: score_run(run, graph) if graph else NO_GRAPH for run in runs}


def the_read(
    runs: Iterable[Run],
    graph: PlanGraph | None = None,
    *,
    reviewed: Iterable[str] = (),
    scores: Mapping[str, RunScore | Unscored] | None = None,
) -> tuple[ReadRun, ...]:
    """Those of the runs that were read."""
    everyone = list(runs)
    known = scores or scores_of(everyone, graph)
    return read_runs(everyone, known, Taxonomy(), reviewed=frozenset(reviewed))


def days_after(day: int) -> Any:
    """A moment so many days after the epoch."""
    return EPOCH + timedelta(days=day)
