"""Rank agents by outcome and by every sub-goal metric, and say where the two disagree (§5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from untaken.errors import UntakenError
from untaken.ranking.agreement import agree, discordant_pairs
from untaken.ranking.contradictions import contradictory_runs
from untaken.ranking.intervals import resampled_means
from untaken.ranking.model import RankReport
from untaken.ranking.standings import standings
from untaken.ranking.tables import METRICS, by_cell, metric_table, split_tasks
from untaken.subgoals.model import MissingRule, RunScore


def rank_agents(
    scores: Iterable[RunScore],
    *,
    missing: MissingRule | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> RankReport:
    """Rank agents over the tasks that all of them ran; the unit is the task, repeats are averaged inside it.

    A metric that is unscored for some agent on a task leaves that task out for every agent, so that the
    standings of one metric always rest on the same tasks; `Standing.n_tasks` says how many.

    Args:
        scores: scored runs, of any number of agents, tasks and repeats.
        missing: the rule the runs were scored under; taken from the scores when not given.
        resamples: task resamples behind the intervals; with 0 the intervals are unscored.
        seed: same scores and seed give the same report, digit for digit.

    Raises:
        UntakenError: ``mixed-missing-rules`` where the runs were scored under different rules.
    """
    runs = tuple(scores)
    rule = _rule(runs, missing)
    cells = by_cell(runs)
    agents, shared, unmatched = split_tasks(cells)
    tables = [metric_table(metric, cells, agents, shared) for metric in METRICS]
    resampled = resampled_means(tables, len(shared), resamples=resamples, seed=seed)
    outcome, *rest = tables
    return RankReport(
        metrics={table.metric: standings(table, resampled[table.metric]) for table in tables},
        agreement=tuple(agree(outcome, table, resampled) for table in rest),
        discordant=tuple(pair for table in rest for pair in discordant_pairs(outcome, table)),
        contradictions=contradictory_runs(runs),
        shared_tasks=shared,
        unmatched_tasks=unmatched,
        missing=rule,
    )


def _rule(runs: Sequence[RunScore], missing: MissingRule | None) -> str:
    """The one rule for missing verdicts behind all scores."""
    rules = {score.missing for score in runs} | ({missing} if missing else set())
    if len(rules) > 1:
        raise UntakenError(
            "mixed-missing-rules",
            "some runs were scored with missing verdicts counted as failed, others with them dropped",
            hint="score all runs under one rule before ranking them",
        )
    return next(iter(rules), "fail")
