"""What scores and intervals need of many histories at once, from their whole-number sums (§3)."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

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
