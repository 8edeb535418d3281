"""The agents under one metric, in order, with how sure that order is (§5)."""

from __future__ import annotations

import numpy as np

from untaken.errors import Score, Unscored
from untaken.ranking.model import NO_INTERVAL, Standing
from untaken.ranking.resampling import drawn_only
from untaken.ranking.tables import OUTCOME, MetricTable
from untaken.stats.bootstrap import bootstrap_interval
from untaken.stats.ranks import rank_interval
from untaken.stats.rates import wilson
from untaken.stats.rounding import Floats, quantise


def standings(table: MetricTable, resampled: Floats) -> tuple[Standing, ...]:
    """Best first, ties by name, agents without the metric last.

    Args:
        table: the metric.
        resampled: (resamples, agents) means over resampled tasks.
    """
    values, comparable = table.values, table.comparable
    drawn = drawn_only(resampled) if table.columns.size > 1 else resampled[:0]
    spans = bootstrap_interval(drawn, table.columns.size) if len(drawn) else None
    ranks = rank_interval(drawn) if len(drawn) else None
    ranked = []
    for row, agent in enumerate(table.agents):
        low, high = _wilson(table, row, values[row]) or _span(spans, row)
        ranked.append(
            Standing(
                agent=agent,
                value=float(values[row]),
                low=low,
                high=high,
                rank=1 + int((comparable > comparable[row]).sum()),
                rank_low=None if ranks is None else int(ranks[0, row]),
                rank_high=None if ranks is None else int(ranks[1, row]),
                n_tasks=table.columns.size,
                n_runs=int(table.runs[row].sum()),
            )
        )
    ranked.sort(key=lambda standing: (standing.rank or 0, standing.agent))
    return (*ranked, *(_unranked(agent, why) for agent, why in table.absent.items()))


def _wilson(table: MetricTable, row: int, value: float) -> tuple[float, float] | None:
    """Wilson's interval where the value is a rate of single binary trials, one a task.

    And where every task has the same value: resampling then finds no spread, but a few equal tasks do not
    prove that the next one equals them. No mean of values between 0 and 1 varies more than a rate.
    """
    tasks = table.columns.size
    single = table.metric == OUTCOME and bool((table.runs[row] == 1).all())
    same = tasks > 1 and bool(np.ptp(quantise(table.means[row])) == 0)
    return wilson(float(value) * tasks, tasks) if single or same else None


def _span(spans: Floats | None, row: int) -> tuple[Score, Score]:
    if spans is None:
        return NO_INTERVAL, NO_INTERVAL
    return float(spans[0, row]), float(spans[1, row])


def _unranked(agent: str, why: Unscored) -> Standing:
    return Standing(
        agent=agent,
        value=why,
        low=why,
        high=why,
        rank=None,
        rank_low=None,
        rank_high=None,
        n_tasks=0,
        n_runs=0,
    )
