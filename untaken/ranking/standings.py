"""The agents under one metric, in order, with how sure that order is (§5)."""

from __future__ import annotations

from untaken.errors import Score, Unscored
from untaken.ranking.metrics import OUTCOME
from untaken.ranking.model import FEWEST_TASKS, NO_INTERVAL, RankedAgent
from untaken.ranking.tables import MetricTable
from untaken.stats.ranks import PairTests, rank_interval
from untaken.stats.shares import share_interval


def standings(table: MetricTable, tests: PairTests | None) -> tuple[RankedAgent, ...]:
    """Best first, ties by name, agents without the metric last."""
    values, comparable = table.values, table.comparable
    spans = share_interval(table.means, table.trials) if table.agents else None
    enough = tests is not None and table.columns.size >= FEWEST_TASKS
    ranks = rank_interval(tests) if tests is not None and enough else None
    ranked = []
    for row, agent in enumerate(table.agents):
        low: Score = NO_INTERVAL
        high: Score = NO_INTERVAL
        if spans is not None and (table.columns.size > 1 or _single(table, row)):
            low, high = (float(end) for end in spans[:, row])
        ranked.append(
            RankedAgent(
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
    ranked.sort(key=lambda one: (one.rank or 0, one.agent))
    return (*ranked, *(_unranked(agent, why) for agent, why in table.absent.items()))


def _single(table: MetricTable, row: int) -> bool:
    """Whether a value is a rate of single trials: then even one task says something about the next."""
    return table.metric == OUTCOME and bool((table.runs[row] == 1).all())


def _unranked(agent: str, why: Unscored) -> RankedAgent:
    return RankedAgent(
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
