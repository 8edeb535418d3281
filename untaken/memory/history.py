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
from typing import Final, NamedTuple

from untaken.memory.log import line_of
from untaken.memory.model import Observed, Record, Span
from untaken.memory.sums import NOTHING, Sums, running, summed

RUNS_NAMED: Final = 20
"""Most run ids that a record names; it counts all of them."""
ANY: Final = ""
"""Stands for every skill."""


class Behind(NamedTuple):
    """The runs behind a record: how many, the latest of them, and from when to when they became known."""

    runs: int
    latest: tuple[str, ...]
    oldest: datetime
    newest: datetime


class Series:
    """One (skill, context) over time: positions in the log, and running sums between them."""

    __slots__ = (
        "_first",
        "_log",
        "_outcomes",
        "_positions",
        "_records",
        "_runs",
        "_sums",
        "context_hash",
        "skill",
    )

    def __init__(self, place: tuple[str, str], log: tuple[Observed, ...], positions: list[int]) -> None:
        self.skill, self.context_hash = place
        self._positions = positions
        self._records: dict[int, Record | None] = {}
        self._sums = list(running(log[p] for p in positions))
        self._log, self._outcomes = log, [p for p in positions if log[p].kind == "outcome"]
        first: dict[str, int] = {}
        for p in self._outcomes:
            first.setdefault(log[p].run_id, p)
        self._runs, self._first = list(first), list(first.values())

    @property
    def first_outcomes(self) -> list[int]:
        """Positions in the log of the first outcome of each run, in order."""
        return self._first

    def sums(self, cut: int) -> Sums:
        """The sums over what was known at the cut."""
        return self._sums[bisect_left(self._positions, cut)]

    def known(self, cut: int) -> list[int]:
        """Positions in the log of its observations before the cut."""
        return self._positions[: bisect_left(self._positions, cut)]

    def record(self, cut: int) -> Record | None:
        """What was known at the cut; made once, for many runs ask between two observations."""
        at = bisect_left(self._positions, cut)
        if at not in self._records:
            self._records[at] = self.described(self._sums[at], cut, None)
        return self._records[at]

    def described(self, sums: Sums, cut: int, without: str | None) -> Record | None:
        """Sums in the terms of a record; ``None`` where there is no outcome.

        `without`, where given, is a run with outcomes known at the cut that the sums leave out.
        """
        if not sums.n:
            return None
        behind = self._behind(cut, without)
        return Record(
            skill=self.skill,
            context_hash=self.context_hash,
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
        latest = [run for run in self._runs[max(0, known - RUNS_NAMED - 1) : known] if run != without]
        oldest = self._moment(self._outcomes, without)
        newest = self._moment((self._outcomes[i] for i in range(last, -1, -1)), without)
        return Behind(known - 1, tuple(latest[-RUNS_NAMED:]), oldest, newest)

    def _moment(self, positions: Iterable[int], without: str) -> datetime:
        """When the first of the outcomes that is not of that run was known."""
        return next(self._log[p].ts for p in positions if self._log[p].run_id != without)


class Extreme:
    """Running minimum of a figure over runs, with the runner-up run, so that any one run can be left out
    exactly.
    """

    __slots__ = ("_positions", "_states")

    def __init__(self, figures: Iterable[tuple[int, str, float]]) -> None:
        self._positions: list[int] = []
        self._states: list[tuple[tuple[float, str], tuple[float, str] | None]] = []
        best: tuple[float, str] | None = None
        second: tuple[float, str] | None = None
        for position, run, value in figures:
            before = best, second
            if best is None or (run == best[1] and value < best[0]):
                best = (value, run)
            elif run != best[1] and value < best[0]:
                best, second = (value, run), best
            elif run != best[1] and (second is None or value < second[0]):
                second = (value, run)
            if (best, second) != before:
                self._positions.append(position)
                self._states.append((best, second))

    def least(self, cut: int, without: str | None) -> float | None:
        """The minimum known at the cut over all runs but `without`."""
        at = bisect_left(self._positions, cut)
        if not at:
            return None
        best, second = self._states[at - 1]
        if best[1] != without:
            return best[0]
        return second[0] if second else None


class History:
    """An ordered log with its indexes; never changes once made."""

    def __init__(self, observations: Iterable[Observed]) -> None:
        self.log = tuple(sorted(observations, key=lambda o: (o.ts, o.key)))
        self._moments = [o.ts for o in self.log]
        self._positions: dict[tuple[str, str], list[int]] = {}
        self._by_run: dict[str, list[int]] = {}
        for position, observed in enumerate(self.log):
            for context_hash in observed.layers:
                self._positions.setdefault((observed.skill, context_hash), []).append(position)
            self._by_run.setdefault(observed.run_id, []).append(position)
        self._series: dict[tuple[str, str], Series] = {}
        self._wholes: dict[str, Series] = {}
        self._shares: tuple[tuple[str, int], dict[tuple[str, str], Sums]] = (("", 0), {})

    def cut(self, as_of: datetime | None) -> int:
        """How many observations were known at `as_of`, that very moment included; all for ``None``."""
        return len(self.log) if as_of is None else bisect_right(self._moments, as_of)

    def skills(self) -> list[tuple[str, str]]:
        """Every (skill, context) ever observed, sorted."""
        return sorted(self._positions)

    def series(self, skill: str, context_hash: str) -> Series | None:
        """The (skill, context) over time; summed on first use."""
        key = skill, context_hash
        if key not in self._series:
            if key not in self._positions:
                return None
            self._series[key] = Series(key, self.log, self._positions[key])
        return self._series[key]

    def whole(self, context_hash: str) -> Series | None:
        """Every choice in a context over time, whichever skill; summed on first use."""
        if context_hash not in self._wholes:
            if context_hash not in self._contexts:
                return None
            self._wholes[context_hash] = Series((ANY, context_hash), self.log, self._contexts[context_hash])
        return self._wholes[context_hash]

    def of_run(self, run_id: str, cut: int) -> list[Observed]:
        """What the run itself put into the log before the cut, in order."""
        positions = self._by_run.get(run_id, [])
        return [self.log[p] for p in positions[: bisect_left(positions, cut)]]

    def share(self, run_id: str, skill: str, context_hash: str, cut: int) -> Sums:
        """The part of the (skill, context)'s sums that the run itself added before the cut."""
        last, shares = self._shares
        if last != (run_id, cut):
            parts: dict[tuple[str, str], list[Observed]] = {}
            for own in self.of_run(run_id, cut):
                for layer in own.layers:
                    parts.setdefault((own.skill, layer), []).append(own)
            shares = {key: summed(part) for key, part in parts.items()}
            self._shares = (run_id, cut), shares
        return shares.get((skill, context_hash), NOTHING)

    def share_of_context(self, run_id: str, context_hash: str, cut: int) -> Sums:
        """The part of a context's sums that the run itself added before the cut."""
        return summed([own for own in self.of_run(run_id, cut) if context_hash in own.layers])

    def runs(self, cut: int) -> int:
        """Number of runs with an outcome known at the cut."""
        return bisect_left(self._first_outcomes, cut)

    def span(self, figure: str, cut: int, without: str | None) -> Span | None:
        """Smallest and largest of ``cost`` or ``steps`` over the runs known at the cut."""
        low, high = self._extremes[figure]
        least, most = low.least(cut, without), high.least(cut, without)
        return None if least is None or most is None else Span(low=least, high=-most)

    def digest(self, cut: int) -> str:
        """SHA-256 of the log's lines up to the cut, in order."""
        return self._digests[cut].hex()

    @cached_property
    def _first_outcomes(self) -> list[int]:
        first: dict[str, int] = {}
        for position, observed in enumerate(self.log):
            if observed.kind == "outcome":
                first.setdefault(observed.run_id, position)
        return list(first.values())

    @cached_property
    def _contexts(self) -> dict[str, list[int]]:
        """Positions of every choice in each context."""
        positions: dict[str, list[int]] = {}
        for position, observed in enumerate(self.log):
            for context_hash in observed.layers:
                positions.setdefault(context_hash, []).append(position)
        return positions

    @cached_property
    def _extremes(self) -> dict[str, tuple[Extreme, Extreme]]:
        """Minimum of each figure and of its negative, over outcomes."""
        outcomes = [(p, o.run_id, o.cost, o.steps) for p, o in enumerate(self.log) if o.kind == "outcome"]
        costs = [(p, run, cost) for p, run, cost, _ in outcomes if cost is not None]
        steps = [(p, run, steps) for p, run, _, steps in outcomes if steps is not None]
        return {
            name: (Extreme(figures), Extreme((p, run, -value) for p, run, value in figures))
            for name, figures in (("cost", costs), ("steps", steps))
        }

    @cached_property
    def _digests(self) -> list[bytes]:
        hashed = sha256()
        digests = [hashed.digest()]
        for observed in self.log:
            hashed.update(line_of(observed))
            digests.append(hashed.digest())
        return digests
