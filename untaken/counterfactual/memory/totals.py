"""Running totals of every (skill, context), as columns: any moment, and any run left out, is a lookup (§3).

An observation has one *entry* in each place that it counts in. Entries are ordered by place, then by the log;
their whole-number sums are added up once over all of them, so the totals of a place at a moment are the
difference of two rows, found by binary search, and exact (`untaken.counterfactual.memory.sums`). Figures for
scores are added up in the decimals that they are written in, where these are few: in NumPy's whole numbers
then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from msgspec import UNSET

from untaken.counterfactual.memory.record import Observed
from untaken.counterfactual.memory.sums import SCALE_BITS, WEAK_SHARE, WEIGHTS, Sums, exact
from untaken.errors import Score, Unscored

_SMALL: Final = 2**31
"""Sums below this: the product of two, or of one and a count, is a whole number of NumPy."""


UNITS: Final = (1, 1_000, 1_000_000)
"""Parts in which figures are added up: costs are recorded in thousandths or millionths as a rule."""


class SumColumns(NamedTuple):
    """`Sums` of many histories: a column each.

    Counts are NumPy's whole numbers. A column of a figure, or of products of two, holds Python's
    (``object``), of 2⁻¹²⁸ and 2⁻²⁵⁶ as in `Sums`; or NumPy's, of 1, where every value is whole and small
    (`whole_numbers`).
    """

    n: np.ndarray
    squares: np.ndarray
    x: np.ndarray
    priced: np.ndarray
    c: np.ndarray
    timed: np.ndarray
    s: np.ndarray
    xx: np.ndarray
    cc: np.ndarray
    ss: np.ndarray
    xc: np.ndarray
    xs: np.ndarray
    cs: np.ndarray
    weak: np.ndarray
    weak_x: np.ndarray


def whole_numbers(values: np.ndarray, most: int) -> np.ndarray:
    """Figures of observations, exactly: of 1 where they are whole, else Python's of 2⁻¹²⁸ (`exact`).

    Args:
        values: finite.
        most: how many of them are ever added up. No sum, and no product of two, exceeds 63 bits.
    """
    if np.all(values == np.rint(values)) and np.max(np.abs(values), initial=0.0) < _SMALL / max(most, 1):
        return values.astype(np.int64)
    different, which = np.unique(values, return_inverse=True)  # each is converted once
    made = np.empty(different.size, dtype=object)
    made[:] = [exact(value) for value in different.tolist()]
    found: np.ndarray = made[which]
    return found


def decimal_unit(values: np.ndarray, most: int) -> int:
    """The least of `UNITS` by which every figure, as it is written in decimals, becomes whole; else 1.

    Args:
        values: finite.
        most: as in `whole_numbers`: no unit makes a figure too large for it.
    """
    for unit in UNITS:
        whole = np.rint(values * unit)
        if np.max(np.abs(whole), initial=0.0) >= _SMALL / max(most, 1):
            return 1
        if np.all(whole / unit == values):  # exactly: 0.1 is 1 / 10 as a double, too
            return unit
    return 1


def product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Products of two figures: of 1 where both are, else of 2⁻²⁵⁶."""
    if object in (first.dtype, second.dtype):
        first, second = in_python(first, SCALE_BITS), in_python(second, SCALE_BITS)
    found: np.ndarray = first * second
    return found


def in_python(column: np.ndarray, bits: int) -> np.ndarray:
    """A column in Python's whole numbers of 2^-`bits`, whichever it has."""
    found: np.ndarray = column if column.dtype == object else column.astype(object) << bits
    return found


_BITS: Final = tuple([SCALE_BITS * n for n in (0, 0, 1, 0, 1, 0, 1, 2, 2, 2, 2, 2, 2, 0, 1)])
"""Of each of `SumColumns`, as for `in_python`."""


def as_sums(columns: SumColumns) -> list[tuple[int, ...]]:
    """Row by row, each as the fields of `Sums`."""
    plain = map(in_python, columns, _BITS)
    return list(zip(*(column.tolist() for column in plain), strict=True))


class Figures(NamedTuple):
    """What scores and intervals need of many histories: columns, NaN where a figure is unknown.

    Attributes:
        n: number of outcomes; 0 where there is no history, and every figure is unknown.
        runs: number of different runs behind them; `effective`: Kish's number of them (`Spread.n`).
        priced, timed: outcomes with a cost, and with a number of steps.
        success, cost, steps: as in a record; the others as in `Spread`.
    """

    n: np.ndarray
    runs: np.ndarray
    effective: np.ndarray
    priced: np.ndarray
    timed: np.ndarray
    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray
    success_sd: np.ndarray
    cost_sd: np.ndarray
    steps_sd: np.ndarray
    success_cost: np.ndarray
    success_steps: np.ndarray
    cost_steps: np.ndarray


class Units(NamedTuple):
    """How many parts of a figure are 1 in whole-number sums; successes are added up as they are."""

    cost: int = 1
    steps: int = 1

    def figures(self, counted: Figures) -> Figures:
        """Figures of which the sums were in these units, in units of 1."""
        if self == Units():
            return counted
        f, (c, s) = counted, self
        return f._replace(cost=f.cost / c, steps=f.steps / s, cost_sd=f.cost_sd / c, steps_sd=f.steps_sd / s)


def figures_of(sums: SumColumns, runs: np.ndarray) -> Figures:
    """The figures of many histories, as `Sums` and `Spread` define them for one."""
    try:
        return _figures(sums, runs)
    except OverflowError:  # a variance beyond a double: its root is taken in whole numbers, one by one
        return _one_by_one(sums, runs)


def _figures(sums: SumColumns, runs: np.ndarray) -> Figures:
    n, priced, timed, weak = (np.asarray(c, np.int64) for c in (sums.n, sums.priced, sums.timed, sums.weak))
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = n * n / np.asarray(sums.squares, np.int64)
        success, cost, steps = (
            _ratio(total, count) for total, count in ((sums.x, n), (sums.c, priced), (sums.s, timed))
        )
        spoken = np.flatnonzero((weak > 0) & (n > 0))
        if spoken.size:
            weight = np.minimum(WEIGHTS["weak"] * weak[spoken], WEAK_SHARE * n[spoken])
            weak_ratio = _ratio(sums.weak_x[spoken], weak[spoken])
            outcomes = _ratio(sums.x[spoken], np.ones_like(spoken))
            success[spoken] = (outcomes + weight * weak_ratio) / (n[spoken] + weight)
        xx, cc, ss, xc, xs, cs = (
            _covariance(count, products, first, second) / count / count
            for count, products, first, second in (
                (n, sums.xx, sums.x, sums.x),
                (priced, sums.cc, sums.c, sums.c), (timed, sums.ss, sums.s, sums.s),
                (n, sums.xc, sums.x, sums.c), (n, sums.xs, sums.x, sums.s), (n, sums.cs, sums.c, sums.s),
            )
        )  # fmt: skip
        # Bessel's correction, with the number of runs in place of that of outcomes.
        widened = np.where(effective > 1, np.sqrt(effective / (effective - 1)), np.nan)
        x, c, s = (np.sqrt(variance) for variance in (xx, cc, ss))
        return Figures(
            n, runs, effective, priced, timed, success, cost, steps,
            x * widened,
            np.where(priced > 1, c * widened, np.nan),
            np.where(timed > 1, s * widened, np.nan),
            _correlations(xc, x, c, priced == n),
            _correlations(xs, x, s, timed == n),
            _correlations(cs, c, s, (priced == n) & (timed == n)),
        )  # fmt: skip


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The mean of `whole` figures that add up to `part`, rounded once; NaN where `whole` is 0."""
    found = np.full(whole.size, np.nan)
    some = np.flatnonzero(whole)
    if part.dtype == object:
        found[some] = part[some] / (whole[some].astype(object) << SCALE_BITS)
    else:
        found[some] = part[some] / whole[some]
    return found


def _covariance(n: np.ndarray, products: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The exact n · Σab − Σa · Σb, rounded once."""
    found: np.ndarray = n * products - product(first, second)
    return found.astype(float) * 2.0 ** (-2 * SCALE_BITS) if found.dtype == object else found.astype(float)


def _correlations(covariance: np.ndarray, x: np.ndarray, y: np.ndarray, known: np.ndarray) -> np.ndarray:
    # Rounding may go beyond ±1; where one never varied, neither did both together: 0 / 0 is NaN.
    return np.where(known, np.clip(covariance / x / y, -1.0, 1.0), np.nan)


def _one_by_one(sums: SumColumns, runs: np.ndarray) -> Figures:
    rows: list[tuple[Score, ...]] = []
    for row, count in zip(as_sums(sums), runs, strict=True):
        one = Sums(*map(int, row))
        spread = one.spread
        rows.append(
            (
                one.n, int(count), spread.n, one.priced, one.timed,
                one.success_rate, one.avg_cost, one.avg_steps,
                spread.success_sd, spread.cost_sd, spread.steps_sd,
                spread.success_cost, spread.success_steps, spread.cost_steps,
            )
        )  # fmt: skip
    columns = zip(*rows, strict=True)
    return Figures(*(np.array([np.nan if isinstance(v, Unscored) else v for v in c]) for c in columns))


Place = tuple[str, str]
"""Skill and context."""
NOWHERE = -1
"""Number of a place, or of a run, that the log does not have."""


class Moment(NamedTuple):
    """Rows to look up, columns of one length.

    Attributes:
        place: number of the (skill, context), `NOWHERE` if there is none.
        cut: how many observations of the log are known.
        without: number of the run to leave out, `NOWHERE` for none.
    """

    place: np.ndarray
    cut: np.ndarray
    without: np.ndarray


class Grouped:
    """The entries of a log by place, then by a group of its runs: what a group has in a place by a moment."""

    def __init__(self, place: np.ndarray, group: np.ndarray, position: np.ndarray, size: int) -> None:
        """Columns of the entries, in any order; every position is below `size`."""
        self._groups, self._size = int(group.max(initial=-1)) + 1, size
        key = (place * self._groups + group) * size + position  # one number that sorts by all three
        self.order = np.argsort(key, kind="stable")
        self._key = key[self.order]

    def between(self, place: np.ndarray, group: np.ndarray, cut: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Begin and end, in `order`, of what is known at each cut."""
        begin = (place * self._groups + group) * self._size
        return np.searchsorted(self._key, begin), np.searchsorted(self._key, begin + cut)

    def earlier(self, counted: np.ndarray) -> np.ndarray:
        """How many of the entries marked each entry's group had in its place before."""
        some = counted[self.order].astype(np.int64)
        before = np.cumsum(some) - some
        starts = np.flatnonzero(np.diff(self._key // self._size, prepend=-1))  # where place or group changes
        found = np.empty(some.size, dtype=np.int64)
        found[self.order] = before - np.repeat(before[starts], np.diff(starts, append=some.size))
        return found


class Totals:
    """Every place of a log over time."""

    def __init__(self, log: Sequence[Observed], columns: LogColumns, *, skill: str | None = None) -> None:
        """Sorts the entries. An observation counts for its skill in each of its layers."""
        self.places: dict[Place, int] = {}
        places, layers = self.places, [observed.layers for observed in log]
        numbers = [
            places.setdefault((observed.skill if skill is None else skill, layer), len(places))
            for observed, contexts in zip(log, layers, strict=True)
            for layer in contexts
        ]
        entries = np.array(numbers, dtype=np.int64)
        at = np.repeat(np.arange(len(log)), np.fromiter(map(len, layers), np.int64, len(log)))
        order = np.argsort(entries, kind="stable")
        self._columns, self._size = columns, len(log) + 1
        self._place, self._position = entries[order], at[order]
        self._begin = np.searchsorted(self._place, np.arange(len(self.places) + 1))
        # One number for place and moment, so that one search finds both.
        self._key = self._place * self._size + self._position

    def positions(self, place: int) -> np.ndarray:
        """Where in the log the observations of a place are."""
        found: np.ndarray = self._position[self._begin[place] : self._begin[place + 1]]
        return found

    def outcomes(self, place: int, *, first: bool) -> np.ndarray:
        """Where in the log the outcomes in a place are, or each run's `first` one there, in order."""
        some = slice(self._begin[place], self._begin[place + 1])
        found: np.ndarray = self._position[some][(self._is_first if first else self._is_outcome)[some]]
        return found

    def sums(self, place: int, known: int) -> Sums:
        """The totals of a place after the first `known` of its observations."""
        begin = int(self._begin[place])
        scaled = ((c, 0 if c.dtype == object else bits) for c, bits in zip(self._exact, _BITS, strict=True))
        return Sums._make([int(c[begin + known] - c[begin]) << bits for c, bits in scaled])

    def figures(self, rows: Moment) -> Figures:
        """The figures of many places, each at its own moment; n = 0 where nothing was known."""
        place = rows.place
        there = place != NOWHERE
        end = np.where(there, np.searchsorted(self._key, place * self._size + rows.cut), 0)
        begin = np.where(there, self._begin[place], 0)
        # Each state of a place is worked out once. Its end alone tells it: other places lie elsewhere.
        first, back = _distinct(np.where(end != begin, end, 0), self._position.size + 1)
        own, own_begin, own_end = self._own(rows, place, there)
        back[own] = first.size + np.arange(own.size)  # a state of its own for each
        first = np.concatenate([first, own])
        begin, end = begin[first], end[first]
        sums = _between(self._before, begin, end)
        runs = self._first_seen[end] - self._first_seen[begin]
        if own.size:
            part = _between(self._before_by_run, own_begin, own_end)
            moments = Moment(place[own], rows.cut[own], rows.without[own])
            part = part._replace(squares=self.squares_removed(moments, part.n))
            for column, removed in zip(sums, part, strict=True):
                column[-own.size :] -= removed
            runs[-own.size :] -= part.n > 0
        return Figures(*(column[back] for column in self._units.figures(figures_of(sums, runs))))

    def _own(
        self, rows: Moment, place: np.ndarray, there: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows whose run to be left out put something in before the cut; begin and end of it in `_by_run`."""
        wanted = np.flatnonzero(there & (rows.without != NOWHERE))
        if not wanted.size:
            return wanted, wanted, wanted
        begin, end = self._by_run.between(place[wanted], rows.without[wanted], rows.cut[wanted])
        some = end != begin
        return wanted[some], begin[some], end[some]

    def squares_removed(self, rows: Moment, own: np.ndarray) -> np.ndarray:
        """What the run to be left out takes off Σm² with its `own` outcomes: m² − (m − own)².

        m also counts the outcomes of its copies, known at the same cut.
        """
        begin, end = self._by_unit.between(rows.place, self._columns.units[rows.without], rows.cut)
        m = self._outcomes_by_unit[end] - self._outcomes_by_unit[begin]
        removed: np.ndarray = own * (2 * m - own)  # m² − (m − own)²
        return removed

    @cached_property
    def _by_run(self) -> Grouped:
        return Grouped(self._place, self._columns.run[self._position], self._position, self._size)

    @cached_property
    def _by_unit(self) -> Grouped:
        columns = self._columns
        if not columns.copies:
            return self._by_run
        return Grouped(self._place, columns.units[columns.run][self._position], self._position, self._size)

    @cached_property
    def _outcomes_by_unit(self) -> np.ndarray:
        """Outcomes in the order of `_by_unit`, running."""
        return _cumulated(self._is_outcome[self._by_unit.order])

    @cached_property
    def _longest(self) -> int:
        """Entries of the place that has most: sums over all places may wrap, their differences do not."""
        return int(np.diff(self._begin).max(initial=0))

    @cached_property
    def _units(self) -> Units:
        """Those that figures are added up in."""
        columns = self._columns.cost, self._columns.steps
        return Units(*(decimal_unit(column[~np.isnan(column)], self._longest) for column in columns))

    def _entries(self, units: Units, most: int) -> SumColumns:
        """What each entry adds; the m-th outcome of a run and its copies in a place adds 2m − 1 to Σm²."""
        # Made again when it is asked for: millions of whole numbers are too many to keep.
        outcome = self._columns.outcome
        priced, timed = (~np.isnan(column) & outcome for column in (self._columns.cost, self._columns.steps))
        x, c, s, weak_x = (
            whole_numbers(np.where(known, column if unit == 1 else np.rint(column * unit), 0.0), most)
            for column, unit, known in (
                (self._columns.success, 1, outcome),
                (self._columns.cost, units.cost, priced),
                (self._columns.steps, units.steps, timed),
                (self._columns.success, 1, ~outcome),
            )
        )
        products = [product(a, b) for a, b in ((x, x), (c, c), (s, s), (x, c), (x, s), (c, s))]
        columns = (x, priced, c, timed, s, *products, ~outcome, weak_x)
        x, priced, c, timed, s, *rest = (column[self._position] for column in columns)
        counted = self._is_outcome
        squares = np.where(counted, 2 * self._by_unit.earlier(counted) + 1, 0)
        return SumColumns(counted, squares, x, priced, c, timed, s, *rest)

    @cached_property
    def _before(self) -> SumColumns:
        return _running(self._entries(self._units, self._longest))

    @cached_property
    def _exact(self) -> SumColumns:
        """The running sums in no decimals, for who asks for one place at a time."""
        return _running(self._entries(Units(), self._position.size))

    @cached_property
    def _before_by_run(self) -> SumColumns:
        entries = self._entries(self._units, self._longest)
        return _running(SumColumns(*(column[self._by_run.order] for column in entries)))

    @cached_property
    def _first_seen(self) -> np.ndarray:
        """Different runs among the outcomes, running."""
        return _cumulated(self._is_first)

    @cached_property
    def _is_first(self) -> np.ndarray:
        """Whether an entry is its run's first outcome in the place."""
        found: np.ndarray = self._is_outcome & (self._by_run.earlier(self._is_outcome) == 0)
        return found

    @cached_property
    def _is_outcome(self) -> np.ndarray:
        found: np.ndarray = self._columns.outcome[self._position]
        return found


def _cumulated(column: np.ndarray) -> np.ndarray:
    whole = column if column.dtype == object else column.astype(np.int64)
    return np.concatenate([np.zeros(1, dtype=whole.dtype), np.add.accumulate(whole)])


def _running(entries: SumColumns) -> SumColumns:
    return SumColumns(*(_cumulated(column) for column in entries))


def _between(before: SumColumns, begin: np.ndarray, end: np.ndarray) -> SumColumns:
    return SumColumns(*(column[end] - column[begin] for column in before))


def _distinct(numbers: np.ndarray, below: int) -> tuple[np.ndarray, np.ndarray]:
    """The row of each different number (all below one), and where each row is among these; no sort."""
    row = np.full(below, NOWHERE)
    row[numbers] = np.arange(numbers.size)
    there = np.flatnonzero(row != NOWHERE)
    rank = np.empty(below, dtype=np.int64)
    rank[there] = np.arange(there.size)
    return row[there], rank[numbers]


class LogColumns(NamedTuple):
    """The observations of a log, in its order.

    Attributes:
        outcome: whether it is an outcome, not a weak record.
        run: number of its run.
        units: by number of a run, that of the first of its copies; its own where it has none.
        success, cost, steps: NaN where it has no such figure.
    """

    outcome: np.ndarray
    run: np.ndarray
    units: np.ndarray
    success: np.ndarray
    cost: np.ndarray
    steps: np.ndarray

    @classmethod
    def of(cls, log: Sequence[Observed], runs: Mapping[str, int]) -> LogColumns:
        """The columns of a log, whose runs have these numbers."""
        units, first = np.arange(len(runs)), dict[tuple[object, ...], int]()
        for observed in log:
            if observed.trail is not UNSET:
                run = runs[observed.run_id]
                units[run] = first.setdefault(observed.unit, run)
        return cls(
            np.array([observed.kind == "outcome" for observed in log], dtype=bool),
            np.array([runs[observed.run_id] for observed in log], dtype=np.int64),
            units,
            np.array([observed.success for observed in log], dtype=float),
            np.array([observed.cost for observed in log], dtype=float),
            np.array([observed.steps for observed in log], dtype=float),
        )

    @property
    def copies(self) -> bool:
        """Whether any run is a copy of another."""
        return bool((self.units != np.arange(self.units.size)).any())
