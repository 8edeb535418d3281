"""The log in order, indexed so that any moment and any run left out is a lookup, not another fold.

Observations are ordered by (ts, key). A *cut* is how many of them were known at a moment. Each (skill,
context) keeps its running sums, found by binary search of the cut; extremes keep the two most extreme runs,
so that either can be left out. N runs evaluated as of their own starts cost O(N log N), not O(N²).

An outcome in a layered context counts in each of its layers (§2b).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from math import inf, isinf
from typing import Final, NamedTuple

import numpy as np

from untaken.counterfactual.memory.record import RUNS_NAMED, Observed, Record, ValueRange, line_of
from untaken.counterfactual.memory.sums import Sums, summed
from untaken.counterfactual.memory.totals import NOWHERE, LogColumns, Moment, Place, Totals

ANY: Final = ""
"""Matches every skill."""


class Behind(NamedTuple):
    """The runs behind a record: how many, the latest of them, and from when to when they became known."""

    runs: int
    latest: tuple[str, ...]
    oldest: datetime
    newest: datetime


class Series:
    """One (skill, context) over time: positions in the log, and the totals between them."""

    __slots__ = (
        "_first",
        "_log",
        "_number",
        "_outcomes",
        "_positions",
        "_records",
        "_runs",
        "_totals",
        "place",
    )

    def __init__(self, place: Place, log: tuple[Observed, ...], totals: Totals) -> None:
        self.place = place
        self._totals, self._number = totals, totals.places[place]
        self._records: dict[int, Record | None] = {}
        self._positions: list[int] = totals.positions(self._number).tolist()
        self._outcomes, self._first = (
            list[int](totals.outcomes(self._number, first=first).tolist()) for first in (False, True)
        )
        self._log, self._runs = log, [log[p].run_id for p in self._first]

    def sums(self, cut: int) -> Sums:
        """The sums over what was known at the cut."""
        return self._totals.sums(self._number, bisect_left(self._positions, cut))

    def known(self, cut: int) -> list[int]:
        """Positions in the log of its observations before the cut."""
        return self._positions[: bisect_left(self._positions, cut)]

    def record(self, cut: int) -> Record | None:
        """What was known at the cut; made once, for many runs ask between two observations."""
        at = bisect_left(self._positions, cut)
        if at not in self._records:
            self._records[at] = self.described(self._totals.sums(self._number, at), cut, None)
        return self._records[at]

    def described(self, sums: Sums, cut: int, without: str | None) -> Record | None:
        """Sums in the terms of a record; ``None`` where there is no outcome.

        `without`, where given, is a run with outcomes known at the cut that the sums leave out.
        """
        if not sums.n:
            return None
        behind = self._behind(cut, without)
        return Record(
            skill=self.place[0],
            context_hash=self.place[1],
            n=sums.n,
            success_rate=sums.success_rate,
            avg_cost=sums.avg_cost,
            avg_steps=sums.avg_steps,
            weak_weight=sums.weak_weight,
            n_runs=behind.runs,
            runs=behind.latest,
            sums=sums,
            oldest=behind.oldest,
            newest=behind.newest,
        )

    def _behind(self, cut: int, without: str | None) -> Behind:
        known, last = bisect_left(self._first, cut), bisect_left(self._outcomes, cut) - 1
        if without is None:
            oldest, newest = self._log[self._outcomes[0]].ts, self._log[self._outcomes[last]].ts
            return Behind(known, tuple(self._runs[max(0, known - RUNS_NAMED) : known]), oldest, newest)
        # One more than are named: the run that is left out may be among the latest.
        latest = [run for run in self._runs[max(0, known - RUNS_NAMED - 1) : known] if run != without]
        oldest = self._moment(self._outcomes, without)
        newest = self._moment((self._outcomes[i] for i in range(last, -1, -1)), without)
        return Behind(known - 1, tuple(latest[-RUNS_NAMED:]), oldest, newest)

    def _moment(self, positions: Iterable[int], without: str) -> datetime:
        """When the first of the outcomes that is not of that run was known."""
        return next(self._log[p].ts for p in positions if self._log[p].run_id != without)


class History:
    """An ordered log with its indexes; never changes once made."""

    def __init__(self, observations: Iterable[Observed]) -> None:
        self.log = tuple(sorted(observations, key=lambda o: (o.ts, o.key)))
        self._moments = [o.ts for o in self.log]
        self.run_numbers: dict[str, int] = {}
        for observed in self.log:
            self.run_numbers.setdefault(observed.run_id, len(self.run_numbers))
        self._series: dict[Place, Series] = {}

    def cut(self, as_of: datetime | None) -> int:
        """How many observations were known at `as_of`, that very moment included; all for ``None``."""
        return len(self.log) if as_of is None else bisect_right(self._moments, as_of)

    def skills(self) -> list[Place]:
        """Every (skill, context) ever observed, sorted."""
        return sorted(self.totals.places)

    def series(self, skill: str, context_hash: str) -> Series | None:
        """The (skill, context) over time; sorted out on first use."""
        return self._over_time((skill, context_hash), self.totals)

    def _over_time(self, place: Place, totals: Totals) -> Series | None:
        if place not in self._series:
            if place not in totals.places:
                return None
            self._series[place] = Series(place, self.log, totals)
        return self._series[place]

    def of_run(self, run_id: str, cut: int) -> list[Observed]:
        """What the run itself put into the log before the cut, in order."""
        positions = self._by_run.get(run_id, [])
        return [self.log[p] for p in positions[: bisect_left(positions, cut)]]

    def share(self, run_id: str, place: Place, cut: int) -> Sums:
        """What a place's sums lose at the cut without the run, its copies staying there.

        The place may be that of a context, with the skill `ANY`.
        """
        skill, context_hash = place
        own = summed(
            own
            for own in self.of_run(run_id, cut)
            if skill in (ANY, own.skill) and context_hash in own.layers
        )
        if not own.n:
            return own
        totals = self.totals_of_contexts if skill == ANY else self.totals
        numbers = totals.places[place], cut, self.run_numbers[run_id]
        moment = Moment(*(np.array([number]) for number in numbers))
        return own._replace(squares=int(totals.squares_removed(moment, np.array([own.n]))[0]))

    def runs(self, cut: int) -> int:
        """Number of runs with an outcome known at the cut."""
        return bisect_left(self._first_outcomes, cut)

    def span(self, figure: str, cut: int, without: str | None) -> ValueRange | None:
        """Smallest and largest of ``cost`` or ``steps`` over the runs known at the cut."""
        run = NOWHERE if without is None else self.run_numbers.get(without, NOWHERE)
        low, high = (float(end[0]) for end in self.spans(figure, *np.array([[cut], [run]])))
        return None if isinf(low) else ValueRange(low=low, high=high)

    def spans(self, figure: str, cut: np.ndarray, without: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`span` at many cuts, each without one run, by number; infinite where no run has the figure."""
        low, high = self._extremes[figure]
        # The largest is the least of the negatives.
        return low.least(cut, without), -high.least(cut, without)

    def digest(self, cut: int) -> str:
        """SHA-256 of the log's lines up to the cut, in order."""
        return self._digests[cut].hex()

    def positions_of_run(self, run: int) -> np.ndarray:
        """Where in the log the observations of a run are, by number."""
        found: np.ndarray = np.flatnonzero(self.columns.run == run)
        return found

    @cached_property
    def _by_run(self) -> dict[str, list[int]]:
        """Where in the log each run's observations are."""
        found: dict[str, list[int]] = {}
        for position, observed in enumerate(self.log):
            found.setdefault(observed.run_id, []).append(position)
        return found

    @cached_property
    def _first_outcomes(self) -> list[int]:
        first: dict[str, int] = {}
        for position, observed in enumerate(self.log):
            if observed.kind == "outcome":
                first.setdefault(observed.run_id, position)
        return list(first.values())

    @cached_property
    def first_of_run(self) -> np.ndarray:
        """Where in the log each run first put something in."""
        first: np.ndarray = np.unique(self.columns.run, return_index=True)[1]
        return first

    @cached_property
    def columns(self) -> LogColumns:
        """The log as columns."""
        return LogColumns.of(self.log, self.run_numbers)

    @cached_property
    def totals(self) -> Totals:
        """Totals of every (skill, context)."""
        return Totals(self.log, self.columns)

    @cached_property
    def totals_of_contexts(self) -> Totals:
        """Totals of every context, over all skills."""
        return Totals(self.log, self.columns, skill=ANY)

    @cached_property
    def _extremes(self) -> dict[str, tuple[Extreme, Extreme]]:
        """Minimum of each figure and of its negative, over outcomes."""
        found = {}
        for name, column in (("cost", self.columns.cost), ("steps", self.columns.steps)):
            at = np.flatnonzero(self.columns.outcome & ~np.isnan(column))
            positions, runs, values = (c.tolist() for c in (at, self.columns.run[at], column[at]))
            lows = zip(positions, runs, values, strict=True)
            highs = zip(positions, runs, [-value for value in values], strict=True)
            found[name] = Extreme(lows), Extreme(highs)
        return found

    @cached_property
    def _digests(self) -> list[bytes]:
        hashed = sha256()
        digests = [hashed.digest()]
        for observed in self.log:
            # A trail says that there are copies, maybe later ones: what was known at a moment must not
            # change.
            hashed.update(line_of(observed.without_trail))
            digests.append(hashed.digest())
        return digests


class Extreme:
    """Running minimum of a figure over runs, with the runner-up run, so that any one run can be left out
    exactly.
    """

    def __init__(self, figures: Iterable[tuple[int, int, float]]) -> None:
        """Takes (position in the log, number of the run, value) in order."""
        states: list[tuple[int, float, int, float]] = []
        best, holder, second = inf, NOWHERE, inf
        for position, run, value in figures:
            # Neither the least nor the runner-up changes.
            if value >= second or (run == holder and value >= best):
                continue
            if run == holder:
                best = value
            elif value < best:
                best, holder, second = value, run, best
            else:
                second = value
            states.append((position, best, holder, second))
        self._positions, self._best, self._holder, self._second = (
            # Before all: nothing.
            np.array(column)
            for column in zip((NOWHERE, inf, NOWHERE, inf), *states, strict=True)
        )

    def least(self, cut: np.ndarray, without: np.ndarray) -> np.ndarray:
        """The minimum known at each cut over all runs but one; infinite if there is none."""
        at = np.searchsorted(self._positions, cut) - 1
        left_out = (self._holder[at] == without) & (without != NOWHERE)
        return np.where(left_out, self._second[at], self._best[at])
