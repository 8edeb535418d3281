"""Failure modes over time: the rates of the pivot by day, week or month in which runs began (§9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from untaken.analysis.failure_modes.pivot import PivotCell, cell_of
from untaken.analysis.failure_modes.reading import ReadRun, modes_seen

Unit = Literal["day", "week", "month"]
MOST_PERIODS: Final = 14
_STARTS: Final[dict[Unit, Callable[[datetime], date]]] = {
    "day": lambda moment: moment.date(),
    "week": lambda moment: (moment - timedelta(days=moment.weekday())).date(),
    "month": lambda moment: moment.date().replace(day=1),
}
"""The first day of the period that a moment is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeTrend:
    """Rates of modes by period; periods without a failed run that was read are left out.

    Attributes:
        unit: the finest with at most `MOST_PERIODS` periods between the first and the last run.
        cells: mode by mode, oldest period first; `group` is the first day of the period (ISO 8601, UTC).
        undated: failed runs that were read and whose trace carried no clock.
    """

    unit: Unit
    cells: tuple[PivotCell, ...]
    undated: int


def mode_trend(runs: Iterable[ReadRun]) -> ModeTrend:
    """Counts each mode once a run and period, over the failed runs that were read."""
    failed = [run for run in runs if run.failed]
    dated = [(run.started, run) for run in failed if run.started is not None]
    unit = _unit([moment for moment, _ in dated])
    periods: dict[date, list[ReadRun]] = defaultdict(list)
    for moment, run in dated:
        periods[_STARTS[unit](moment)].append(run)
    cells = [
        cell_of(mode, start.isoformat(), periods[start])
        for mode in modes_seen(failed)
        for start in sorted(periods)
    ]
    return ModeTrend(unit=unit, cells=tuple(cells), undated=len(failed) - len(dated))


def _unit(moments: Sequence[datetime]) -> Unit:
    if not moments:
        return "day"
    span = (max(moments) - min(moments)).days + 1
    return "day" if span <= MOST_PERIODS else "week" if span <= 7 * MOST_PERIODS else "month"
