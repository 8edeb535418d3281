"""The runs that somebody has read, and the failure modes that people saw in them (§9).

A run that nobody read says nothing about any mode: it is in no count and in no rate.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from untaken.analysis.failure_modes.assignments import Place, RunModes, modes_of
from untaken.analysis.failure_modes.failure_mode import Taxonomy
from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.scoring import RunScore

By = Literal["agent", "task", "sub_goal", "version", "model"]
BY: Final[tuple[By, ...]] = ("agent", "task", "sub_goal", "version", "model")
WHOLE_RUN: Final = "whole run"
"""Where a mode was assigned to no sub-goal, and to no event that serves one."""
NO_VERSION: Final = "no version"
NO_MODEL: Final = "no model"


class ReadRun(Struct, frozen=True, kw_only=True):
    """A run that was read.

    Attributes:
        run: its content digest.
        success: ``None`` where no outcome is recorded.
        version: of the agent, as the run records it; `NO_VERSION` where it does not.
        started: ``None`` for a run whose trace carried no clock.
        sub_goals: the required ones, in graph order.
        modes: (mode, sub-goal or `WHOLE_RUN`), each once.
    """

    run: str
    run_id: str
    agent: str
    task_id: str
    model: str
    version: str
    success: bool | None
    started: datetime | None
    sub_goals: tuple[str, ...]
    modes: frozenset[tuple[str, str]]

    @property
    def failed(self) -> bool:
        """Whether it counts as a failure: anything but a recorded success."""
        return self.success is not True

    def has(self, mode: str) -> bool:
        """Whether a mode was seen anywhere in it."""
        return any(mode == seen for seen, _ in self.modes)

    def groups(self, by: By) -> tuple[str, ...]:
        """The rows of a pivot in whose denominator this run is."""
        if by == "sub_goal":
            return (*self.sub_goals, WHOLE_RUN)
        return (str(getattr(self, "task_id" if by == "task" else by)),)


def read_runs(
    runs: Iterable[Run],
    scores: Mapping[str, RunScore | Unscored],
    taxonomy: Taxonomy,
    *,
    reviewed: Collection[str] = (),
) -> tuple[ReadRun, ...]:
    """The runs that were read, in the order given: those with a note or a mode, and those `reviewed`.

    Args:
        runs: of one or many ledgers; broken ones are left out.
        scores: of at least these runs, by digest.
        taxonomy: what assigned modes count as now.
        reviewed: digests of runs that were read whether anything was noted or not: those whose review is
            explained or fixed, or all, where every run was read.
    """
    found = ((run, modes_of(run, taxonomy)) for run in runs if not run.integrity.broken)
    return tuple(
        _read(run, scores[run.digest], its, taxonomy)
        for run, its in found
        if its.read or run.digest in reviewed
    )


def modes_seen(runs: Iterable[ReadRun]) -> tuple[str, ...]:
    """Every mode seen in these runs, the most frequent first."""
    counts = Counter(mode for run in runs for mode in {mode for mode, _ in run.modes})  # once a run
    return tuple(sorted(counts, key=lambda mode: (-counts[mode], mode)))


def version_of(run: Run) -> str:
    """The version of the agent that a run records, else `NO_VERSION`."""
    return (run.version or NO_VERSION)[:200]


def _read(run: Run, score: RunScore | Unscored, found: RunModes, taxonomy: Taxonomy) -> ReadRun:
    counted = () if isinstance(score, Unscored) else tuple(node.sub_goal for node in score.counted)
    success = run.success
    return ReadRun(
        run=run.digest,
        run_id=run.run_id,
        agent=run.agent,
        task_id=run.task_id,
        model=run.started.model or NO_MODEL,
        version=version_of(run),
        success=None if isinstance(success, Unscored) else success,
        started=run.started_at,
        sub_goals=counted,
        modes=frozenset(
            (taxonomy.current(one.mode), _place(one.place, score, counted)) for one in found.assignments
        ),
    )


def _place(place: Place, score: RunScore | Unscored, counted: Collection[str]) -> str:
    """The sub-goal named, else the one that the last mapped action up to the event served."""
    named = place.sub_goal
    if named is None and place.event is not None and isinstance(score, RunScore):
        at = bisect_right(score.mapped, place.event, key=lambda action: action[0])
        named = score.mapped[at - 1][1] if at else None
    # A sub-goal that this run does not require has no group with the run in its denominator.
    return named if named in counted and named is not None else WHOLE_RUN
