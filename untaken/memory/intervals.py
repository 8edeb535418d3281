"""How far a record can be trusted: 95 % intervals of its success rate and of its means (§3).

Repeated choices in one run share its one outcome, so that everything is counted in effective runs
(`Spread.n`). Weak records move the estimate and never narrow its interval: they were not observed.
"""

from __future__ import annotations

from math import sqrt
from typing import Final

from untaken.errors import Score, Unscored
from untaken.memory.model import Record

Interval = tuple[float, float] | Unscored
TAIL: Final = 0.025
_ONE_RUN: Final = Unscored("one run has no spread")


def success_interval(record: Record) -> Interval:
    """Equal-tailed interval of the posterior Beta(½ + s, ½ + f) of the success rate.

    s + f is the effective number of runs and s / (s + f) the record's success rate. The interval always holds
    the rate itself: it reaches to 0 where nothing succeeded, and to 1 where everything did.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 (slow)

    rate = record.success_rate
    if isinstance(rate, Unscored):
        return rate
    won, lost = 0.5 + rate * record.spread.n, 0.5 + (1 - rate) * record.spread.n
    low, high = (float(betaincinv(won, lost, share)) for share in (TAIL, 1 - TAIL))
    return min(low, rate) if rate else 0.0, max(high, rate) if rate < 1 else 1.0


def cost_interval(record: Record) -> Interval:
    """Interval of the mean cost by Student's t over effective runs; unscored below two."""
    return _mean(record.avg_cost, record.spread.cost_sd, record.spread.n)


def steps_interval(record: Record) -> Interval:
    """Interval of the mean number of steps, likewise."""
    return _mean(record.avg_steps, record.spread.steps_sd, record.spread.n)


def _mean(value: Score, deviation: Score, runs: float) -> Interval:
    """Mean ± t · sd / √n, never below 0: costs and steps are not."""
    from scipy.special import stdtrit  # noqa: PLC0415 (slow)

    if isinstance(value, Unscored):
        return value
    if isinstance(deviation, Unscored) or runs <= 1:
        return _ONE_RUN
    reach = float(stdtrit(runs - 1, 1 - TAIL)) * deviation / sqrt(runs)
    return max(0.0, value - reach), value + reach
