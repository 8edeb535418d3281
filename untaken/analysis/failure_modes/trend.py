"""Failure modes over time: the rates of the pivot by day, week, month or year in which runs began (§9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import Final, Literal

from msgspec import Struct

from untaken.analysis.failure_modes.pivot import PivotCell, cell_of
from untaken.analysis.failure_modes.reading import ReadRun, modes_seen

Unit = Literal["day", "week", "month", "year"]
MOST_PERIODS: Final = 14
_STARTS: Final[dict[Unit, Callable[[date], date]]] = {
    "day": lambda day: day,
    "week": lambda day: day - timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "year": lambda day: day.replace(month=1, day=1),
}
"""The first day of the period that a day is in."""


class ModeTrend(Struct, frozen=True, kw_only=True):
    """Rates of modes by period; periods without a failed run that was read are left out.

    Attributes:
        unit: the finest with at most `MOST_PERIODS` periods from the first run to the last, else years.
        cells: mode by mode, oldest period first; `group` is the first day of the period (ISO 8601, UTC).
        undated: failed runs that were read and whose trace carried no clock.
    """

    unit: Unit
    cells: tuple[PivotCell, ...]
    undated: int


def mode_trend(runs: Iterable[ReadRun]) -> ModeTrend:
    """Counts each mode once a run and period, over the failed runs that were read."""
    failed = [run for run in runs if run.failed]
    dated = [(run.started.date(), run) for run in failed if run.started is not None]
    unit = _unit([day for day, _ in dated])
    periods: dict[date, list[ReadRun]] = defaultdict(list)
    for day, run in dated:
        periods[_STARTS[unit](day)].append(run)
    cells = [
        cell_of(mode, start.isoformat(), periods[start])
        for mode in modes_seen(failed)
        for start in sorted(periods)
    ]
    return ModeTrend(unit=unit, cells=tuple(cells), undated=len(failed) - len(dated))


def _unit(days: Sequence[date]) -> Unit:
    if not days:
        return "day"
    first, last = min(days), max(days)
    weeks = (_STARTS["week"](last) - _STARTS["week"](first)).days // 7
    months = 12 * (last.year - first.year) + last.month - first.month
    apart: dict[Unit, int] = {"day": (last - first).days, "week": weeks, "month": months}
    return next((unit for unit, steps in apart.items() if steps < MOST_PERIODS), "year")
