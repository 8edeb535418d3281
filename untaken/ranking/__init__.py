"""Rankings by outcome and by sub-goals, how well they agree, and where the outcome misleads."""

from untaken.ranking.agreement import kendall_p, kendall_tau_b, spearman
from untaken.ranking.contradictions import contradictory_runs
from untaken.ranking.groups import Group, comparable_groups
from untaken.ranking.intervals import wilson
from untaken.ranking.model import Agreement, Contradiction, DiscordantPair, RankReport, Standing
from untaken.ranking.pass_k import pass_hat_k
from untaken.ranking.rank import rank_agents
from untaken.ranking.tables import METRICS

__all__ = [
    "METRICS",
    "Agreement",
    "Contradiction",
    "DiscordantPair",
    "Group",
    "RankReport",
    "Standing",
    "comparable_groups",
    "contradictory_runs",
    "kendall_p",
    "kendall_tau_b",
    "pass_hat_k",
    "rank_agents",
    "spearman",
    "wilson",
]
