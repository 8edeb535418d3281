"""The runs of a memory as columns, in strata: task, agent and all recorded of what can change an agent (§2a).

A difference over runs of different tasks or agents mixes the worth of a skill with what was easy and who was
able. Inside a stratum none of these differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
from msgspec import UNSET

from untaken.counterfactual.memory.history import History
from untaken.counterfactual.memory.record import Observed
from untaken.counterfactual.memory.totals import NOWHERE
from untaken.counterfactual.run_evaluation import Direction, Support
from untaken.counterfactual.support import IDENTITY, SCREEN, ComparedRuns, OptionComparison, OptionTest
from untaken.counterfactual.words import N_MIN

Compared = tuple[str, str, str]
"""Context hash, alternative, selected skill."""
UNKNOWN: Final = -1
"""The stratum of a run whose task and agent the memory does not name."""
NOT_NAMED: Final = "the memory does not name the task and agent of every run: rebuild it from its ledgers"
NOT_TAKEN_BEFORE: Final = "no earlier run chose the selected skill in this context"
AT_ONCE: Final = 200_000
"""Runs laid out at a time."""
ALWAYS: Final = 64
"""As long as the memory has fewer observations, support is decided at every moment."""
STEPS_A_DOUBLING: Final = 4
"""Support as of a run's start is decided again so often while a larger memory doubles."""


class Runs(NamedTuple):
    """The runs that took a skill in a context, as columns of one length, in log order.

    Attributes:
        position: of the run's first outcome there in the log; its choices share its one outcome.
        run, stratum: numbers in `Numbers`; `UNKNOWN` where the log names no task and agent.
        unit: a number that copies share, no others.
        success, cost, steps: of the run; NaN where it has no such figure.
    """

    position: np.ndarray
    run: np.ndarray
    stratum: np.ndarray
    unit: np.ndarray
    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray

    def where(self, kept: np.ndarray) -> Runs:
        """Those marked."""
        return self if kept.all() else Runs(*(column[kept] for column in self))


class Claims(NamedTuple):
    """Comparisons to decide, each at a moment: columns.

    Attributes:
        compared: two skills, and where; `which` of these each claim is about.
        cut: how many observations are known; `without` the number of the run left out.
    """

    compared: Sequence[Compared]
    which: np.ndarray
    cut: np.ndarray
    without: np.ndarray


class Rulings:
    """The ruling on each claim, 1 for the way round that it was made, -1 for the other.

    The same two skills at the same moment are decided once, and only when somebody asks; `direction` asks for
    those that may support anything.
    """

    def __init__(self, history: History, claims: Claims) -> None:
        pair, self.sign = _pairs_of(claims)
        self._keys, self._which = _different(np.stack([pair, claims.cut, claims.without]))
        self._numbers, self._history = numbers_of(history), history
        self._pairs = list(dict.fromkeys(map(_unordered, claims.compared)))
        self._sides: dict[int, BothSides] = {}
        self._made: dict[int, OptionTest] = {}

    def ruling(self, claim: int) -> OptionTest:
        """Of one claim."""
        return self._ruling(int(self._which[claim]))

    def _ruling(self, number: int, *, whether: bool = False) -> OptionTest:
        found = self._made.get(number)
        if found is None:
            pair, cut, without = self._keys[:, number].tolist()
            found = self._numbers.ruling(self._both(pair), cut, without, whether=whether)
            if found.holds or not whether:
                self._made[number] = found
        return found

    def _both(self, pair: int) -> BothSides:
        # When it is asked for: most claims of a log with many options are about one that nobody took.
        if pair not in self._sides:
            self._sides[pair] = self._numbers.both(self._history, self._pairs[pair])
        return self._sides[pair]

    def direction(self) -> np.ndarray:
        """1 where the alternative is supported to succeed more often, -1 less often, else 0."""
        found = np.zeros(self._keys.shape[1], dtype=int)
        for number in np.flatnonzero(self._worth_testing()).tolist():
            ruling = self._ruling(number, whether=True)
            found[number] = int(np.sign(ruling.difference)) if ruling.holds else 0
        direction: np.ndarray = found[self._which] * self.sign
        return direction

    def _worth_testing(self) -> np.ndarray:
        """Which have enough runs, and a difference large enough, for any test (`SCREEN`): all at once."""
        found = np.zeros(self._keys.shape[1], dtype=bool)
        alike = [self._numbers.share_a_stratum(self._history, one) for one in self._pairs]
        rows = np.flatnonzero(np.array(alike, dtype=bool)[self._keys[0]])
        pair, cut, without = self._keys[:, rows]
        shared = {number: self._both(number).shared() for number in np.unique(pair).tolist()}
        sides = [shared[number] for number in pair.tolist()]
        known = (np.searchsorted(side.position, c) for side, c in zip(sides, cut, strict=True))
        size = np.fromiter(known, dtype=np.int64, count=rows.size)
        batch = np.cumsum(size + 16) // AT_ONCE
        for number in np.unique(batch):
            some = np.flatnonzero(batch == number)
            found[rows[some]] = _differ([sides[n] for n in some], size[some], cut[some], without[some])
        return found


def _different(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different columns, in order, and which of them each is."""
    # As `np.unique` along an axis, in a third of the time.
    order = np.lexsort(columns[::-1])
    ordered = columns[:, order]
    first = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))[: order.size]
    which = np.empty(order.size, dtype=int)
    which[order] = np.cumsum(first) - 1
    return ordered[:, first], which


def called(rulings: Rulings, claim: int) -> tuple[Support, str, Direction | None]:
    """What is supported of an alternative, why, in words, and in which direction.

    Args:
        rulings: of all alternatives.
        claim: which of them; `NOWHERE` where the selected skill has no history.
    """
    if claim == NOWHERE:
        return "weak", NOT_TAKEN_BEFORE, None
    ruling, sign = rulings.ruling(claim), int(rulings.sign[claim])
    if not ruling.holds:
        return "weak", ruling.reason, None
    return "supported", ruling.words(sign), "better" if sign * ruling.difference > 0 else "worse"


class Numbers:
    """The runs and strata of a history by number, and the columns made of it."""

    def __init__(self, history: History) -> None:
        numbers: dict[tuple[object, ...], int] = {}
        runs = len(history.run_numbers)
        firsts, known = _firsts(history.log), dict[tuple[str, ...], list[int]]()
        self.names = tuple(dict.fromkeys(n for o in firsts if o.named is not UNSET for n, _ in o.named))
        self.group = np.full((runs, len(IDENTITY) + len(self.names)), UNKNOWN)
        self.identity, self.unit = np.full(runs, UNKNOWN), history.columns.units
        self.start, self.tie = np.full(runs, np.nan), np.zeros(runs, dtype=np.int64)
        self.named: dict[int, tuple[str, str]] = {}  # task and agent of each stratum
        for observed in firsts:
            run, identity = history.run_numbers[observed.run_id], _identity(observed, self.names)
            # An order of runs that began at one moment, which has nothing to do with what they did.
            self.tie[run] = crc32(observed.run_id.encode())
            if observed.started is not UNSET:
                self.start[run] = observed.started.timestamp()
            if observed.task_id is UNSET or observed.agent is UNSET:
                continue
            parts = (observed.task_id, *identity)
            if parts not in known:
                # Numbers nest: runs that differ in anything coarser differ in all that follows.
                names = *((place, *parts[: place + 1]) for place in range(len(parts))), ("", *identity)
                known[parts] = [numbers.setdefault(name, len(numbers)) for name in names]
                self.named[known[parts][-2]] = observed.task_id, observed.agent
            *self.group[run], self.identity[run] = known[parts]
        self._runs: dict[tuple[str, str], Runs] = {}
        self._strata: dict[tuple[str, str], frozenset[int]] = {}
        self._nobody = self._runs_at(history, np.zeros(0, dtype=int))

    def runs(self, history: History, skill: str, context_hash: str) -> Runs:
        """Every run that ever took the skill in the context."""
        key = skill, context_hash
        if key not in self._runs:
            place = history.totals.places.get(key)
            if place is None:  # not kept: a wide log asks for hundreds of thousands of these
                return self._nobody
            self._runs[key] = self._runs_at(history, history.totals.outcomes(place, first=True))
        return self._runs[key]

    def _runs_at(self, history: History, first: np.ndarray) -> Runs:
        log, run = history.columns, history.columns.run[first]
        return Runs(
            position=first,
            run=run,
            stratum=self.group[run, -1],
            unit=self.unit[run],
            success=log.success[first],
            cost=log.cost[first],
            steps=log.steps[first],
        )

    def share_a_stratum(self, history: History, compared: Compared) -> bool:
        """Whether runs of one stratum took both skills in the context: others cannot be compared."""
        context_hash, alternative, selected = compared
        one, two = (self._strata_of(history, skill, context_hash) for skill in (alternative, selected))
        return not one.isdisjoint(two)

    def _strata_of(self, history: History, skill: str, context_hash: str) -> frozenset[int]:
        key = skill, context_hash
        if key not in self._strata:
            self._strata[key] = frozenset(self.runs(history, *key).stratum.tolist())
        return self._strata[key]

    def ruling(self, both: BothSides, cut: int, without: int, *, whether: bool) -> OptionTest:
        """What the runs known at a cut say of two skills; those that took both by then are left out.

        `whether` as for `OptionComparison.ruling`.
        """
        # `other` counts as of the cut: who took the second skill later had one of them until then.
        kept = np.flatnonzero((both.position < cut) & ~(both.other < cut) & (both.run != without))
        kept = kept[one_of_each(both.unit[kept])]
        run = both.run[kept]
        if (self.group[run, -1] == UNKNOWN).any():
            return OptionTest(np.nan, 0, 0, 0.0, 1.0, 1.0, 1.0, NOT_NAMED, False)
        return self.comparison(run, both.alternative[kept]).ruling(both.success[kept], whether=whether)

    def comparison(self, run: np.ndarray, first: np.ndarray) -> OptionComparison:
        """Of runs whose task and agent are known, `first` where one took the first option."""
        sides = ComparedRuns(first, self.group[run], self.identity[run], self.start[run], self.tie[run])
        return OptionComparison(sides, self.names)

    def both(self, history: History, compared: Compared) -> BothSides:
        """Every run that ever took one of two skills in a context, or both."""
        context_hash, alternative, selected = compared
        one, two = (self.runs(history, skill, context_hash) for skill in (alternative, selected))
        _, at, there = np.intersect1d(one.run, two.run, assume_unique=True, return_indices=True)
        other = np.full(one.run.size + two.run.size, np.inf)
        other[at], other[one.run.size + there] = two.position[there], one.position[at]
        return BothSides(
            position=np.concatenate([one.position, two.position]),
            other=other,
            alternative=np.arange(other.size) < one.run.size,
            run=np.concatenate([one.run, two.run]),
            stratum=np.concatenate([one.stratum, two.stratum]),
            unit=np.concatenate([one.unit, two.unit]),
            success=np.concatenate([one.success, two.success]),
        )


class BothSides(NamedTuple):
    """The runs that ever took either of two skills in a context, those of the alternative first.

    Attributes:
        position: of the run's first outcome; `other`: position at which it first took the other skill, too,
            infinite where it never did.
        alternative: whether it took that one.
    """

    position: np.ndarray
    other: np.ndarray
    alternative: np.ndarray
    run: np.ndarray
    stratum: np.ndarray
    unit: np.ndarray
    success: np.ndarray

    def shared(self) -> BothSides:
        """Those of strata that ever have both sides, numbered from 0, by position."""
        number = np.unique(self.stratum, return_inverse=True)[1].ravel()
        n1, n = np.bincount(number, self.alternative), np.bincount(number)
        both = (n1 > 0) & (n1 < n)
        kept = np.flatnonzero(both[number])
        kept = kept[np.argsort(self.position[kept], kind="stable")]
        columns = (column[kept] for column in self)
        found = BothSides(*columns)
        return found._replace(stratum=(np.cumsum(both) - 1)[number[kept]])


def _differ(sides: Sequence[BothSides], size: np.ndarray, cut: np.ndarray, without: np.ndarray) -> np.ndarray:
    """Whether the first `size` runs of each have |z| ≥ `SCREEN` on at least `N_MIN` runs a side."""
    row = np.repeat(np.arange(size.size), size)
    _, other, first, run, stratum, unit, success = (
        np.concatenate([column[:n] for column, n in zip(columns, size, strict=True)])
        for columns in zip(*sides, strict=True)
    )
    kept = np.flatnonzero(~(other < cut[row]) & (run != without[row]))
    # One number: copies count once a claim.
    kept = kept[one_of_each(unit[kept] + row[kept] * (unit.max(initial=0) + 1))]
    strata = np.array([int(side.stratum.max(initial=-1)) + 1 for side in sides])
    begin = np.cumsum(strata) - strata
    cell, first, y = (begin[row] + stratum)[kept], first[kept], success[kept]
    n1, n0, k1, k0 = (
        np.bincount(cell[some], weight, minlength=int(strata.sum()))
        for some, weight in ((first, None), (~first, None), (first, y[first]), (~first, y[~first]))
    )
    n, k = n1 + n0, k1 + k0
    with np.errstate(all="ignore"):
        informative = (n1 > 0) & (n0 > 0) & (k > 0) & (k < n)
        # Mantel and Haenszel: successes minus those expected inside strata, and the variance of that.
        gap = np.where(informative, k1 - k * n1 / n, 0.0)
        variance = np.where(informative, n1 * n0 * k * (n - k) / (n * n * (n - 1)), 0.0)
        claim = np.repeat(np.arange(size.size), strata)
        a, b, gap, variance = (
            np.bincount(claim, column, minlength=size.size)
            for column in (n1 * informative, n0 * informative, gap, variance)
        )
        worth: np.ndarray = (np.minimum(a, b) >= N_MIN) & (gap * gap >= SCREEN**2 * variance)
    return worth


def one_of_each(unit: np.ndarray) -> np.ndarray:
    """The places of the first run of each unit: copies count once."""
    first = np.unique(unit, return_index=True)[1]
    return np.arange(unit.size) if first.size == unit.size else np.sort(first)


def _unordered(compared: Compared) -> Compared:
    context_hash, one, two = compared
    return (context_hash, one, two) if one <= two else (context_hash, two, one)


def _pairs_of(claims: Claims) -> tuple[np.ndarray, np.ndarray]:
    """Which two skills each claim is about, and 1, or -1 where it is the other way round."""
    numbers: dict[Compared, int] = {}
    pair = [numbers.setdefault(_unordered(each), len(numbers)) for each in claims.compared]
    sign = [1 if one <= two else -1 for _, one, two in claims.compared]
    return np.array(pair, dtype=int)[claims.which], np.array(sign, dtype=int)[claims.which]


def decided_at(cut: np.ndarray) -> np.ndarray:
    """The moment, at or before a cut, as of which support is decided for it."""
    # Decided again when the memory has grown by a fifth or so: a test at each run's start is too dear.
    bits = np.frompyfunc(int.bit_length, 1, 1)(cut.astype(object)).astype(np.int64)
    step = np.where(cut < ALWAYS, 1, 2 ** np.maximum(0, bits - 1) // STEPS_A_DOUBLING)
    found: np.ndarray = cut - cut % step
    return found


def _firsts(log: Sequence[Observed]) -> list[Observed]:
    """The first outcome of each run."""
    found: dict[str, Observed] = {}
    for observed in log:
        if observed.kind == "outcome":
            found.setdefault(observed.run_id, observed)
    return list(found.values())


def _identity(observed: Observed, names: Sequence[str]) -> tuple[str, ...]:
    parts = observed.agent, observed.model, observed.version, observed.prompt_version
    known = tuple(["" if part is UNSET else part for part in parts])
    if not names:
        return known
    named = {} if observed.named is UNSET else dict(observed.named)
    return *known, *(named.get(name, "") for name in names)


def numbers_of(history: History) -> Numbers:
    """Those of a history, made once."""
    numbers = _NUMBERS.get(history)
    if numbers is None:
        numbers = _NUMBERS[history] = Numbers(history)
    return numbers


_NUMBERS: WeakKeyDictionary[History, Numbers] = WeakKeyDictionary()
"""Those of histories in use."""
