"""Do two rankings agree? Kendall τ-b with interval and p, Spearman, and the discordant pairs (§5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from untaken.errors import Unscored
from untaken.ranking.model import Agreement, DiscordantPair
from untaken.ranking.tables import MetricTable
from untaken.stats.correlation import kendall_p, kendall_tau_b, spearman, tau_interval
from untaken.stats.rounding import Floats


def agree(a: MetricTable, b: MetricTable, resampled: Mapping[str, Floats]) -> Agreement:
    """How the rankings of two metrics agree, over the agents that have both."""
    rows_a, rows_b = _common_rows(a, b)
    x, y = a.comparable[rows_a], b.comparable[rows_b]
    low, high = tau_interval(resampled[a.metric][:, rows_a], resampled[b.metric][:, rows_b])
    tau = kendall_tau_b(x, y)
    if isinstance(tau, Unscored):
        low = high = tau
    return Agreement(
        a=a.metric,
        b=b.metric,
        tau_b=tau,
        low=low,
        high=high,
        p=kendall_p(x, y),
        spearman=spearman(x, y),
        n=len(rows_a),
    )


def discordant_pairs(a: MetricTable, b: MetricTable) -> tuple[DiscordantPair, ...]:
    """Pairs of agents that `a` and `b` put in opposite orders; a tie under either is no disagreement."""
    rows_a, rows_b = _common_rows(a, b)
    agents = [a.agents[row] for row in rows_a]
    x, y = a.comparable[rows_a], b.comparable[rows_b]
    firsts, seconds = np.nonzero((x[:, None] > x[None, :]) & (y[:, None] < y[None, :]))
    return tuple(
        DiscordantPair(a_metric=a.metric, b_metric=b.metric, first=agents[i], second=agents[j])
        for i, j in zip(firsts, seconds, strict=True)
    )


def _common_rows(a: MetricTable, b: MetricTable) -> tuple[list[int], list[int]]:
    """The rows, in each table, of the agents that both have."""
    common = [agent for agent in a.agents if agent in b.agents]
    return [a.agents.index(agent) for agent in common], [b.agents.index(agent) for agent in common]
