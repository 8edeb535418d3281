"""Where shares pooled over all runs order two agents against the ranking over shared tasks (Simpson)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

from untaken.analysis.ranking.metrics import METRICS
from untaken.analysis.ranking.rank_report import RankReport
from untaken.errors import Finding, Score, Unscored, first_few
from untaken.numbers import counted
from untaken.scoring import AgentScore

POOLED: Final = tuple(metric for metric in METRICS if metric in AgentScore.__struct_fields__)
"""Metrics that `untaken score` pools and `untaken rank` averages over tasks."""
NAMED: Final = 5
DECIMALS: Final = 12


def pooled_reversals(agents: Iterable[AgentScore], report: RankReport) -> tuple[Finding, ...]:
    """One finding a metric: the first pair that changes places, how many do, and the tasks that make it."""
    pooled = {agent.agent: agent for agent in agents}
    found = []
    for metric in POOLED:
        ranked = [(s.agent, s.value) for s in report.metrics.get(metric, ()) if s.agent in pooled]
        pairs = [
            (above, below)
            for (above, one), (below, other) in combinations(ranked, 2)
            if _above(one, other) and _above(getattr(pooled[below], metric), getattr(pooled[above], metric))
        ]
        if pairs:
            found.append(_finding(metric, pairs, report))
    return tuple(found)


def _above(one: Score, other: Score) -> bool:
    if isinstance(one, Unscored) or isinstance(other, Unscored):
        return False
    return round(one - other, DECIMALS) > 0  # sums in another order differ in their last digits


def _finding(metric: str, pairs: Sequence[tuple[str, str]], report: RankReport) -> Finding:
    above, below = pairs[0]
    more = f"; {counted(len(pairs) - 1, 'more pair', 'change')} order, too" if len(pairs) > 1 else ""
    tasks = _uneven(report, above, below)
    why = (
        "did not run these tasks equally often"
        if tasks
        else "have more sub-goals in some tasks than in others"
    )
    tasks = tasks or list(report.shared_tasks)
    named = first_few(tasks, NAMED)
    return Finding(
        code="pooled-order-reversed",
        message=f"{below} is above {above} by {metric} pooled over all runs, and below over the "
        f"{counted(len(report.shared_tasks), 'task')} that every agent ran{more}; they {why}: {named}",
        hint="Compare agents with `untaken rank`, which weights every shared task equally.",
    )


def _uneven(report: RankReport, first: str, second: str) -> list[str]:
    """The tasks that the two ran a different number of times, by name."""
    counts = {
        task: tuple(len(report.cells.get((agent, task), ())) for agent in (first, second))
        for task in sorted({task for _, task in report.cells})
    }
    return [task for task, (one, other) in counts.items() if one != other]
