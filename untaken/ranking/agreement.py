"""Do two rankings agree? Kendall τ-b with interval and p, Spearman, and the discordant pairs (§5)."""

from __future__ import annotations

import numpy as np

from untaken.errors import Score, Unscored
from untaken.limits import COMPARED_AGENTS
from untaken.ranking.model import NO_INTERVAL, Agreement, DiscordantPair
from untaken.ranking.tables import MetricTable
from untaken.stats.correlation import kendall_p, kendall_tau_b, spearman, tau_interval
from untaken.stats.ranks import PairTests


def agree(a: MetricTable, b: MetricTable, a_tests: PairTests | None, b_tests: PairTests | None) -> Agreement:
    """How the rankings of two metrics agree, over the agents that have both."""
    rows_a, rows_b = _common_rows(a, b)
    x, y = a.comparable[rows_a], b.comparable[rows_b]
    few = _too_few(a, b, len(rows_a))
    tau, p, rho = (kendall_tau_b(x, y), kendall_p(x, y), spearman(x, y)) if few is None else (few, few, few)
    low: Score = NO_INTERVAL
    high: Score = NO_INTERVAL
    if isinstance(tau, Unscored):
        low = high = tau
    elif a_tests is not None and b_tests is not None:
        low, high = tau_interval(tau, a_tests.of_agents(rows_a), b_tests.of_agents(rows_b))
    return Agreement(
        a=a.metric,
        b=b.metric,
        tau_b=tau,
        low=low,
        high=high,
        p=p,
        spearman=rho,
        n=len(rows_a),
    )


def _too_few(a: MetricTable, b: MetricTable, n: int) -> Unscored | None:
    """Why there is no agreement where there are several agents, but fewer than two have both metrics."""
    everyone = len(a.agents) + len(a.absent)
    if n > 1 or everyone < 2:
        return None
    why = min(absence.reason for absence in {**a.absent, **b.absent}.values())
    return Unscored(f"{n} of {everyone} agents have both metrics ({why})")


def discordant_pairs(a: MetricTable, b: MetricTable) -> tuple[DiscordantPair, ...]:
    """Pairs of agents that `a` and `b` put in opposite orders; a tie under either is no disagreement.

    Of many agents, pairs of the first `COMPARED_AGENTS` by `a`.
    """
    first = [a.agents[row] for row in np.argsort(-a.comparable, kind="stable")[:COMPARED_AGENTS]]
    rows_a, rows_b = _common_rows(a, b, frozenset(first))
    agents = [a.agents[row] for row in rows_a]
    x, y = a.comparable[rows_a], b.comparable[rows_b]
    firsts, seconds = np.nonzero((x[:, None] > x[None, :]) & (y[:, None] < y[None, :]))
    return tuple(
        DiscordantPair(a_metric=a.metric, b_metric=b.metric, first=agents[i], second=agents[j])
        for i, j in zip(firsts, seconds, strict=True)
    )


def _common_rows(
    a: MetricTable, b: MetricTable, among: frozenset[str] | None = None
) -> tuple[list[int], list[int]]:
    """The rows, in each table, of the agents that both have."""
    row_in_b = {agent: row for row, agent in enumerate(b.agents)}
    common = [
        (row, row_in_b[agent])
        for row, agent in enumerate(a.agents)
        if agent in row_in_b and (among is None or agent in among)
    ]
    return [row for row, _ in common], [row for _, row in common]
