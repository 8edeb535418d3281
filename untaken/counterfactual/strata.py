"""Two skills compared within task and agent: what a supported difference must also hold in (§2a).

An interval over runs of different tasks or agents mixes the worth of a skill with what was easy and who was
able. Inside one task and one agent neither differs. What still may is *when*: where one skill came first in
stratum after stratum, an agent that learns, or one that retries until it succeeds, looks like a better skill.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import UNSET

from untaken.memory.history import History

Compared = tuple[str, str, str]
"""Context hash, alternative, selected skill."""
UNKNOWN: Final = -1
"""The stratum of a run whose task and agent the memory does not name."""


class Runs(NamedTuple):
    """The runs that took a skill in a context, as columns of one length, in log order.

    Attributes:
        position: of the run's first outcome there in the log; its choices share its one outcome.
        run, stratum: numbers in `Numbers`; `UNKNOWN` where the log names no task and agent.
        success, cost, steps: of the run; NaN where it has no such figure.
    """

    position: np.ndarray
    run: np.ndarray
    stratum: np.ndarray
    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray

    def where(self, kept: np.ndarray) -> Runs:
        """Those marked."""
        return self if kept.all() else Runs(*(column[kept] for column in self))


class Together(NamedTuple):
    """Runs that took either of two skills in a context and may count, in the order of `since`: columns.

    Attributes:
        since: position in the log from which the run may count: it is known, and so is a run of either side
            in its group (its stratum, or its task). Runs of groups that never have both are left out, and
            those of which it became known at one moment that they took both: they are on neither side.
        position: of the run's first outcome; `other`: position at which it first took the other skill, too,
            infinite where it never did.
        alternative: whether it took that one.
        group: numbered from 0 among these runs.
    """

    since: np.ndarray
    position: np.ndarray
    other: np.ndarray
    alternative: np.ndarray
    run: np.ndarray
    group: np.ndarray
    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray


class FirstPositions(NamedTuple):
    """Since which position of the log some run of two skills is unnamed, and they have two strata.

    Attributes:
        unnamed, varied: infinite for never.
        decisive: the runs that these rest on.
    """

    unnamed: float
    varied: float
    decisive: tuple[int, ...]

    @classmethod
    def of(cls, runs: Runs) -> FirstPositions:
        """The positions in these runs of both skills."""
        first = runs.position.argmin()
        begins, decisive = [], [int(runs.run[first])]
        for marked in (runs.stratum == UNKNOWN, runs.stratum != runs.stratum[first]):
            at = np.where(marked, runs.position, np.inf).argmin()
            begins.append(float(runs.position[at]) if marked[at] else np.inf)
            decisive.append(int(runs.run[at]))
        return cls(begins[0], begins[1], tuple(decisive))


class BothSides(NamedTuple):
    """The runs that ever took one of two skills in a context, or both.

    Attributes:
        everyone: their columns, those of the alternative first.
        seen: what is known of all of them.
        in_strata, in_tasks: those that may count.
    """

    everyone: Runs
    seen: FirstPositions
    in_strata: Together
    in_tasks: Together


class Numbers:
    """The runs and strata of a history by number, and the columns made of it."""

    def __init__(self, history: History) -> None:
        numbers: dict[tuple[str, str], int] = {}
        of_each = [UNKNOWN] * len(history.log)
        for position, observed in enumerate(history.log):
            task_id, agent = observed.task_id, observed.agent
            if observed.kind == "outcome" and task_id is not UNSET and agent is not UNSET:
                of_each[position] = numbers.setdefault((task_id, agent), len(numbers))
        self.strata = list(numbers)  # (task, agent)
        tasks: dict[str, int] = {}
        of_strata = [tasks.setdefault(task_id, len(tasks)) for task_id, _ in self.strata]
        self._task = np.array([*of_strata, UNKNOWN])  # the last one, at `UNKNOWN`, is that of unnamed runs
        self._log, self._stratum = history.log, np.array(of_each, dtype=int)
        self._runs: dict[tuple[str, str], Runs] = {}

    @cached_property
    def moments(self) -> np.ndarray:
        """When each observation was known, as its place among all different moments."""
        later = [two.ts != one.ts for one, two in pairwise(self._log)]
        return np.cumsum([False, *later])

    def runs(self, history: History, skill: str, context_hash: str) -> Runs:
        """Every run that ever took the skill in the context."""
        key = skill, context_hash
        if key not in self._runs:
            place = history.totals.places.get(key)
            first = np.zeros(0, dtype=int) if place is None else history.totals.first_outcomes(place)
            log = history.columns
            self._runs[key] = Runs(
                position=first,
                run=log.run[first],
                stratum=self._stratum[first],
                success=log.success[first],
                cost=log.cost[first],
                steps=log.steps[first],
            )
        return self._runs[key]

    def both(self, history: History, compared: Compared) -> BothSides:
        """Every run that ever took one of the two skills, or both."""
        context_hash, alternative, selected = compared
        one, two = (self.runs(history, skill, context_hash) for skill in (alternative, selected))
        _, at, there = np.intersect1d(one.run, two.run, assume_unique=True, return_indices=True)
        other = np.full(one.run.size + two.run.size, np.inf)
        other[at], other[one.run.size + there] = two.position[there], one.position[at]
        every = Runs(*map(np.concatenate, zip(one, two, strict=True)))
        alternative_took = np.arange(other.size) < one.run.size
        apart = np.ones(other.size, dtype=bool)
        apart[at] = apart[one.run.size + there] = (
            self.moments[one.position[at]] != self.moments[two.position[there]]
        )
        in_strata, in_tasks = (
            _together(every.where(apart), alternative_took[apart], other[apart], group[apart])
            for group in (every.stratum, self._task[every.stratum])
        )
        return BothSides(every, FirstPositions.of(every), in_strata, in_tasks)


def _together(runs: Runs, alternative: np.ndarray, other: np.ndarray, group: np.ndarray) -> Together:
    """The runs of groups that have both sides at some time."""
    groups, number = np.unique(group, return_inverse=True)
    n1, n0 = (np.bincount(number[side], minlength=groups.size) for side in (alternative, ~alternative))
    shared = (n1 > 0) & (n0 > 0)
    kept = np.flatnonzero(shared[number])
    number, side, position = (np.cumsum(shared) - 1)[number[kept]], alternative[kept], runs.position[kept]
    first = np.full((2, np.count_nonzero(shared)), runs.position.max(initial=0))
    np.minimum.at(first, (side.astype(int), number), position)
    since = np.maximum(position, first.max(axis=0)[number])
    order = np.argsort(since, kind="stable")
    at = kept[order]
    return Together(
        since=since[order],
        position=position[order],
        other=other[at],
        alternative=side[order],
        run=runs.run[at],
        group=number[order],
        success=runs.success[at],
        cost=runs.cost[at],
        steps=runs.steps[at],
    )


def numbers_of(history: History) -> Numbers:
    """Those of a history, made once."""
    numbers = _NUMBERS.get(history)
    if numbers is None:
        numbers = _NUMBERS[history] = Numbers(history)
    return numbers


_NUMBERS: WeakKeyDictionary[History, Numbers] = WeakKeyDictionary()
