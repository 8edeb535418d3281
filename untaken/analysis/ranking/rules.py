"""What the rule for sub-goals without a verdict decides (§4, §5)."""

from __future__ import annotations

from itertools import combinations

from untaken.analysis.ranking.comparisons import RuleChange, RuleEffect, RuleFlip
from untaken.analysis.ranking.rank_report import RankReport
from untaken.analysis.ranking.ranked import RankedAgent
from untaken.limits import COMPARED_AGENTS


def rule_effect(fail: RankReport, drop: RankReport) -> RuleEffect:
    """The agents whose value or rank the rule changes, and the pairs that change places with it.

    Of many agents, pairs of the first `COMPARED_AGENTS` under the first rule.
    """
    changes, flips = [], []
    for metric, standings in fail.metrics.items():
        other = {agent.agent: agent for agent in drop.metrics.get(metric, ())}
        both = [(agent, other[agent.agent]) for agent in standings if agent.agent in other]
        changes += [_change(metric, a, b) for a, b in both if (a.value, a.rank) != (b.value, b.rank)]
        flips += [
            RuleFlip(metric=metric, first=a.agent, second=c.agent)
            for (a, b), (c, d) in combinations(both[:COMPARED_AGENTS], 2)
            if _above(a, c) and _above(d, b)
        ]
    return RuleEffect(changes=tuple(changes), flips=tuple(flips))


def _change(metric: str, fail: RankedAgent, drop: RankedAgent) -> RuleChange:
    return RuleChange(
        metric=metric,
        agent=fail.agent,
        fail_value=fail.value,
        drop_value=drop.value,
        fail_rank=fail.rank,
        drop_rank=drop.rank,
    )


def _above(one: RankedAgent, other: RankedAgent) -> bool:
    return one.rank is not None and other.rank is not None and one.rank < other.rank
