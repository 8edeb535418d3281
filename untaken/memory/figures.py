"""What scores and intervals need of many histories at once, from their whole-number sums (§3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from untaken.errors import Score, Unscored
from untaken.memory.sums import SCALE_BITS, WEAK_SHARE, WEIGHTS, Sums


class SumColumns(NamedTuple):
    """`Sums` of many histories: a column each, of whole numbers or (those of figures) of Python's."""

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


def figures_of(sums: SumColumns, runs: np.ndarray) -> Figures:
    """The figures of many histories, as `Sums` and `Spread` define them for one.

    Args:
        sums: of their observations.
        runs: number of different runs behind the outcomes.
    """
    try:
        return _figures(sums, runs)
    except OverflowError:  # a variance beyond a double: its root is taken in whole numbers, one by one
        return _one_by_one(sums, runs)


def _figures(sums: SumColumns, runs: np.ndarray) -> Figures:
    n, priced, timed, weak = (np.asarray(c, np.int64) for c in (sums.n, sums.priced, sums.timed, sums.weak))
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = n * n / np.asarray(sums.squares, np.int64)
        success, cost, steps = (
            _ratio(total, count, SCALE_BITS)
            for total, count in ((sums.x, n), (sums.c, priced), (sums.s, timed))
        )
        spoken = np.flatnonzero((weak > 0) & (n > 0))
        if spoken.size:
            weight = np.minimum(WEIGHTS["weak"] * weak[spoken], WEAK_SHARE * n[spoken])
            weak_ratio = _ratio(sums.weak_x[spoken], weak[spoken], SCALE_BITS)
            outcomes = (sums.x[spoken] / (1 << SCALE_BITS)).astype(float)
            success[spoken] = (outcomes + weight * weak_ratio) / (n[spoken] + weight)
        xx, cc, ss, xc, xs, cs = (
            _scaled(count * products - first * second) / count / count
            for count, products, first, second in (
                (n, sums.xx, sums.x, sums.x),
                (priced, sums.cc, sums.c, sums.c), (timed, sums.ss, sums.s, sums.s),
                (n, sums.xc, sums.x, sums.c), (n, sums.xs, sums.x, sums.s), (n, sums.cs, sums.c, sums.s),
            )
        )  # fmt: skip
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


def _ratio(part: np.ndarray, whole: np.ndarray, bits: int) -> np.ndarray:
    """`part` over `whole` · 2^`bits`, rounded once; NaN where `whole` is 0."""
    found = np.full(whole.size, np.nan)
    some = np.flatnonzero(whole)
    found[some] = part[some] / (whole[some].astype(object) << bits)
    return found


def _scaled(products: np.ndarray) -> np.ndarray:
    """Whole numbers of 2⁻²⁵⁶ as doubles."""
    found: np.ndarray = products.astype(float) * 2.0 ** (-2 * SCALE_BITS)
    return found


def _correlations(covariance: np.ndarray, x: np.ndarray, y: np.ndarray, known: np.ndarray) -> np.ndarray:
    return np.where(known & (x > 0) & (y > 0), np.clip(covariance / x / y, -1.0, 1.0), np.nan)


def _one_by_one(sums: SumColumns, runs: np.ndarray) -> Figures:
    rows: list[tuple[Score, ...]] = []
    for row, count in zip(zip(*sums, strict=True), runs, strict=True):
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
