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

from untaken.memory import Snapshot
from untaken.memory.history import History

Compared = tuple[str, str, str]
"""Context hash, alternative, selected skill."""
UNKNOWN: Final = -1
"""The stratum of a run whose task and agent the memory does not name."""


class HistoryStratum(NamedTuple):
    """Runs that can be compared: of one task, by one agent."""

    task_id: str
    agent: str


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
    """The runs that took either of two skills in a context, by position: columns of one length.

    Attributes:
        alternative: whether it took that one.
        other: position at which the run first took the other skill, too; infinite where it never did.
        stratum, task: numbered from 0 among these runs; `known` where the log names them.
    """

    position: np.ndarray
    alternative: np.ndarray
    other: np.ndarray
    run: np.ndarray
    stratum: np.ndarray
    task: np.ndarray
    known: np.ndarray
    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray


class Numbers:
    """The runs and strata of a history by number, and the columns made of it."""

    def __init__(self, history: History) -> None:
        numbers: dict[tuple[str, str], int] = {}
        of_each = [UNKNOWN] * len(history.log)
        for position, observed in enumerate(history.log):
            task_id, agent = observed.task_id, observed.agent
            if observed.kind == "outcome" and task_id is not UNSET and agent is not UNSET:
                of_each[position] = numbers.setdefault((task_id, agent), len(numbers))
        self.strata = list(map(HistoryStratum._make, numbers))
        tasks: dict[str, int] = {}
        of_strata = [tasks.setdefault(stratum.task_id, len(tasks)) for stratum in self.strata]
        self._task = np.array([*of_strata, UNKNOWN])  # the last one, at `UNKNOWN`, is that of unnamed runs
        self._log, self._stratum = history.log, np.array(of_each, dtype=int)
        self._runs: dict[tuple[str, str], Runs] = {}
        self._together: dict[Compared, Together] = {}

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

    def together(self, history: History, compared: Compared) -> Together:
        """Every run that ever took one of the two skills, or both."""
        if compared not in self._together:
            context_hash, alternative, selected = compared
            one, two = (self.runs(history, skill, context_hash) for skill in (alternative, selected))
            _, at, there = np.intersect1d(one.run, two.run, assume_unique=True, return_indices=True)
            other = np.full(one.run.size + two.run.size, np.inf)
            other[at], other[one.run.size + there] = two.position[there], one.position[at]
            every = Runs(*map(np.concatenate, zip(one, two, strict=True)))
            numbers, stratum = np.unique(every.stratum, return_inverse=True)
            _, task = np.unique(self._task[numbers], return_inverse=True)
            columns = Together(
                position=every.position,
                alternative=np.arange(other.size) < one.run.size,
                other=other,
                run=every.run,
                stratum=stratum,
                task=task[stratum],
                known=every.stratum != UNKNOWN,
                success=every.success,
                cost=every.cost,
                steps=every.steps,
            )
            order = np.argsort(every.position, kind="stable")
            self._together[compared] = Together(*(column[order] for column in columns))
        return self._together[compared]


def numbers_of(history: History) -> Numbers:
    """Those of a history, made once."""
    numbers = _NUMBERS.get(history)
    if numbers is None:
        numbers = _NUMBERS[history] = Numbers(history)
    return numbers


_NUMBERS: WeakKeyDictionary[History, Numbers] = WeakKeyDictionary()


class Sides:
    """The runs that took an alternative, and those that took the selected skill, known at a moment.

    A run that took both says nothing of the two, and is on neither side.
    """

    def __init__(
        self, snapshot: Snapshot, context_hash: str, alternative: str, selected: str, without: str | None
    ) -> None:
        history = snapshot.history
        numbers = numbers_of(history)
        own = UNKNOWN if without is None else history.run_numbers.get(without, UNKNOWN)
        taken = [numbers.runs(history, skill, context_hash) for skill in (alternative, selected)]
        taken = [one.where((one.position < snapshot.observations) & (one.run != own)) for one in taken]
        first, second = (
            one.where(~np.isin(one.run, other.run)) for one, other in zip(taken, taken[::-1], strict=True)
        )
        self.first, self.second, self._strata = first, second, numbers.strata

    def strata(self) -> tuple[frozenset[HistoryStratum], frozenset[HistoryStratum]]:
        """Tasks and agents of the alternative's runs, and of the selected skill's; unknown ones left out."""
        first, second = (
            frozenset(self._strata[number] for number in np.unique(side.stratum) if number != UNKNOWN)
            for side in (self.first, self.second)
        )
        return first, second
