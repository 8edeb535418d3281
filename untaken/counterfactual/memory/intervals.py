"""How far a record can be trusted: the 95% intervals of its success rate and of its means (§3).

Repeated choices in one run share its one outcome, so that everything is counted in effective runs
(`Spread.n`). Weak records move the estimate and never narrow its interval: they were not observed.
"""

from __future__ import annotations

from typing import Final

from untaken import stats
from untaken.counterfactual.memory.record import Record
from untaken.errors import Score, Unscored

Interval = tuple[float, float] | Unscored
_ONE_RUN: Final = Unscored("one run has no spread")


def success_interval(record: Record) -> Interval:
    """Equal-tailed interval of the posterior Beta(½ + s, ½ + f) of the success rate.

    s + f is the effective number of runs and s / (s + f) the record's success rate.
    """
    rate = record.success_rate
    return rate if isinstance(rate, Unscored) else stats.beta_interval(rate, record.spread.n)


def cost_interval(record: Record) -> Interval:
    """Interval of the mean cost by Student's t over effective runs; unscored below two."""
    return _mean(record.avg_cost, record.spread.cost_sd, record.spread.n)


def steps_interval(record: Record) -> Interval:
    """Interval of the mean number of steps."""
    return _mean(record.avg_steps, record.spread.steps_sd, record.spread.n)


def _mean(value: Score, deviation: Score, runs: float) -> Interval:
    """Mean ± t · sd / √n, never below 0: costs and steps are not."""
    if isinstance(value, Unscored):
        return value
    if isinstance(deviation, Unscored) or runs <= 1:
        return _ONE_RUN
    return stats.around(value, deviation, runs, least=0.0)
