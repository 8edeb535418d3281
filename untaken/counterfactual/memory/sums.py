"""Sums over observations that do not depend on their order, and can be taken apart again.

Every figure is summed as a whole number of 2⁻¹²⁸. Whole numbers add up exactly, so any order of the log gives
the same total, and taking one run's observations away again leaves exactly the total without them. Doubles
down to 1e-23 lose nothing; smaller ones lose less than 1e-38.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isqrt, sqrt
from operator import add, sub
from typing import Final, NamedTuple, Protocol

import numpy as np

from untaken.errors import Score, Unscored

SCALE_BITS: Final = 128

WEIGHTS: Final[dict[str, float]] = {"outcome": 1.0, "weak": 0.25}
"""Weight of one observation by its kind."""
WEAK_SHARE: Final = 0.5
"""The weak weight of a (skill, context) never exceeds this share of its number of outcomes."""


class Addend(Protocol):
    """What is added up of an observation (`untaken.counterfactual.memory.record.Observed`)."""

    @property
    def kind(self) -> str:
        """``outcome`` or ``weak``."""

    @property
    def unit(self) -> object:
        """The run it is of, and the copies of that run."""

    @property
    def success(self) -> float:
        """0 to 1."""

    @property
    def cost(self) -> float | None:
        """Cost of the run, where it is priced."""

    @property
    def steps(self) -> float | None:
        """Steps of the run, where they are recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far the outcomes behind a record scatter, clustered by run; for intervals.

    Attributes:
        n: Kish effective number of runs, (Σm)² / Σm², where m counts the outcomes of one run and its
            copies. These share one outcome: repeated choices and copies are not new evidence.
        success_sd, cost_sd, steps_sd: standard deviations of a run's figure, corrected for the effective
            number of runs; unscored below two runs that have it.
        success_cost, success_steps, cost_steps: correlations over the outcomes; unscored where one of the
            two never varied, or some outcomes lack a figure.
    """

    n: float
    success_sd: Score
    cost_sd: Score
    steps_sd: Score
    success_cost: Score
    success_steps: Score
    cost_steps: Score


def exact(value: float) -> int:
    """The value as a whole number of 2⁻¹²⁸."""
    numerator, denominator = float(value).as_integer_ratio()
    return (numerator << SCALE_BITS) // denominator  # a power of 2, so that nothing is lost down to 2⁻¹²⁸


def mean(total: int, n: int) -> float:
    """`total` (in 2⁻¹²⁸) over `n`, rounded once."""
    return total / (n << SCALE_BITS)


class Sums(NamedTuple):
    """What a (skill, context) gathered: success x, cost c and steps s of its outcomes, and weak records.

    `squares` is Σm², m the number of outcomes of one run and its copies. `priced` and `timed` count the
    outcomes with cost and with steps; the products count only outcomes that have both factors.
    """

    n: int = 0
    squares: int = 0
    x: int = 0
    priced: int = 0
    c: int = 0
    timed: int = 0
    s: int = 0
    xx: int = 0
    cc: int = 0
    ss: int = 0
    xc: int = 0
    xs: int = 0
    cs: int = 0
    weak: int = 0
    weak_x: int = 0

    def plus(self, other: Sums) -> Sums:
        """Both together."""
        return Sums._make(map(add, self, other))

    def minus(self, part: Sums) -> Sums:
        """The sums without a part that was added whole (all of a run's records)."""
        return Sums._make(map(sub, self, part))

    @property
    def weak_weight(self) -> float:
        """Total weight of the weak records: 0.25 each, at most half the number of outcomes (§3)."""
        return min(WEIGHTS["weak"] * self.weak, WEAK_SHARE * self.n)

    @property
    def success_rate(self) -> Score:
        """Weighted mean of success over outcomes (weight 1) and weak records (§3)."""
        if not self.n:
            return Unscored("no outcome was observed")
        if not self.weak:
            return mean(self.x, self.n)
        outcomes = self.x / (1 << SCALE_BITS)
        weak = self.weak_weight * mean(self.weak_x, self.weak)
        return (outcomes + weak) / (self.n + self.weak_weight)

    @property
    def avg_cost(self) -> Score:
        """Mean cost of the outcomes that have one."""
        return mean(self.c, self.priced) if self.priced else Unscored("no outcome has a cost")

    @property
    def avg_steps(self) -> Score:
        """Mean number of steps of the outcomes that have one."""
        return mean(self.s, self.timed) if self.timed else Unscored("no outcome has a number of steps")

    @property
    def spread(self) -> Spread:
        """How the outcomes scatter, clustered by run."""
        n, runs = self.n, self.n**2 / self.squares if self.squares else 0.0
        xx, cc, ss = n * self.xx - self.x**2, n * self.cc - self.c**2, n * self.ss - self.s**2
        priced, timed = self.priced == n, self.timed == n
        return Spread(
            n=runs,
            success_sd=sqrt(xx / (n * n << 2 * SCALE_BITS) * runs / (runs - 1)) if runs > 1 else ONE_RUN,
            cost_sd=deviation(self.cc, self.c, self.priced, runs),
            steps_sd=deviation(self.ss, self.s, self.timed, runs),
            success_cost=correlation(n * self.xc - self.x * self.c, xx, cc) if priced else SOME_LACK,
            success_steps=correlation(n * self.xs - self.x * self.s, xx, ss) if timed else SOME_LACK,
            cost_steps=correlation(n * self.cs - self.c * self.s, cc, ss) if priced and timed else SOME_LACK,
        )


SOME_LACK: Final = Unscored("some outcomes lack the figure")
ONE_RUN: Final = Unscored("fewer than two runs have the figure")
NEVER_VARIED: Final = Unscored("one of the two never varied")


def deviation(squares: int, total: int, n: int, runs: float) -> Score:
    """Standard deviation over `n` outcomes of `runs` effective runs."""
    if n < 2 or runs <= 1:
        return ONE_RUN
    # The root of whole numbers: as a double, a huge figure squared would overflow.
    root = isqrt((n * squares - total**2) // n**2) / (1 << SCALE_BITS)
    return root * sqrt(runs / (runs - 1))


def correlation(covariance: int, first: int, second: int) -> Score:
    """Pearson correlation from exact n·Σab − Σa·Σb and the two n·Σa² − (Σa)²."""
    scale = isqrt(first * second)
    return max(-1.0, min(1.0, covariance / scale)) if scale else NEVER_VARIED  # `isqrt` rounds down


def addend(observed: Addend, earlier: int) -> Sums:
    """What one observation adds, where its unit had `earlier` outcomes before it (m² grows by 2m + 1)."""
    x = exact(observed.success)
    if observed.kind == "weak":
        return Sums(weak=1, weak_x=x)
    c = 0 if observed.cost is None else exact(observed.cost)
    s = 0 if observed.steps is None else exact(observed.steps)
    return Sums(
        1, 2 * earlier + 1, x, observed.cost is not None, c, observed.steps is not None, s,
        x * x, c * c, s * s, x * c, x * s, c * s,
    )  # fmt: skip


def summed(observations: Iterable[Addend]) -> Sums:
    """The sums over all of them."""
    total, seen = Sums(), dict[object, int]()
    for observed in observations:
        earlier = seen.get(observed.unit, 0)
        total = total.plus(addend(observed, earlier))
        if observed.kind == "outcome":
            seen[observed.unit] = earlier + 1
    return total


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


def as_sums(columns: SumColumns) -> list[tuple[int, ...]]:
    """Row by row, each as the fields of `Sums`."""
    bits = dict.fromkeys(SumColumns._fields, 0)
    bits |= dict.fromkeys(("x", "c", "s", "weak_x"), SCALE_BITS)
    bits |= dict.fromkeys(("xx", "cc", "ss", "xc", "xs", "cs"), 2 * SCALE_BITS)
    plain = (in_python(column, bits[name]) for name, column in columns._asdict().items())
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
