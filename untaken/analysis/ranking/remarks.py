"""What a ranking cannot say, in sentences: one agent, outcomes that are all alike, too few tasks (§5)."""

from __future__ import annotations

from typing import Final

from untaken.analysis.ranking.metrics import metric_words
from untaken.analysis.ranking.rank_report import RankReport
from untaken.errors import Unscored

NOT_ENOUGH: Final = "Not enough tasks to rank these agents"


def unrankable(report: RankReport, metric: str) -> bool:
    """Whether every agent's rank interval holds every rank: by the intervals, not the number of tasks."""
    ranked = [one for one in report.metrics.get(metric, ()) if one.rank is not None]
    return len(ranked) > 1 and all((one.rank_low, one.rank_high) == (1, len(ranked)) for one in ranked)


def remarks(report: RankReport) -> tuple[str, ...]:
    """Sentences to read before the ranking, if any; names of agents in them are untrusted."""
    agents = sorted({agent for agent, _ in report.cells})
    if not agents:
        return ()
    found = []
    if len(agents) == 1:
        found.append(
            f"Only {agents[0]} ran here, so there is nothing to rank: a second agent on the same tasks makes "
            "a ranking."
        )
    found += _outcomes(report, alone=len(agents) == 1)
    silent = [metric for metric in report.metrics if unrankable(report, metric)]
    if silent:
        by = "" if silent == report.ranked_metrics() else f" by {', '.join(map(metric_words, silent))}"
        found.append(f"{NOT_ENOUGH}{by}: with these tasks, each may have any rank.")
    return tuple(found)


def _outcomes(report: RankReport, *, alone: bool) -> list[str]:
    """That every run of several agents with an outcome came out alike, or that none has one."""
    known = [bool(run.success) for run in report.runs if not isinstance(run.success, Unscored)]
    if not known:
        return ["No run has a recorded outcome: there is no ranking by outcome."]
    if len(set(known)) > 1 or alone:
        return []
    every = f"All {len(known):,} runs" if len(known) > 1 else "The one run"
    if known[0]:
        return [
            f"{every} with an outcome succeeded: the outcome shows no difference. Skipped critical "
            "sub-goals, cost and steps may show one."
        ]
    return [f"{every} with an outcome failed: the outcome shows no difference. Sub-goals may show one."]
