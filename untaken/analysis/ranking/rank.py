"""Rank agents by outcome and by every sub-goal metric, and say where the two disagree (§5)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import replace

from untaken.analysis.ranking.compared.tables import (
    MetricTable,
    by_cell,
    metric_table,
    metrics_of,
    split_tasks,
)
from untaken.analysis.ranking.contradictions import contradictory_runs
from untaken.analysis.ranking.groups import Group, comparable_groups
from untaken.analysis.ranking.metrics import OUTCOME
from untaken.analysis.ranking.rank_report import RankReport
from untaken.analysis.ranking.ranked import (
    NO_INTERVAL,
    NOT_TESTED,
    Agreement,
    Bootstrap,
    Contradiction,
    DiscordantPair,
    RankedAgent,
)
from untaken.errors import Finding, Score, Unscored, UntakenError
from untaken.limits import COMPARED_AGENTS
from untaken.numbers import counted
from untaken.scoring import AgentScore, MissingRule, RunScore, score_agents
from untaken.stats import (
    PairTests,
    guaranteed_interval,
    kendall_p,
    kendall_tau_b,
    rank_interval,
    share_interval,
    spearman,
    task_flips,
    tau_interval,
)


def rank_agents(
    scores: Iterable[RunScore],
    *,
    missing: MissingRule | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> RankReport:
    """Rank agents over the tasks that all of them ran; the unit is the task, repeats are averaged inside it.

    A metric that is unscored for some agent on a task leaves that task out for every agent, so that the
    standings of one metric always rest on the same tasks; `RankedAgent.n_tasks` says how many.

    Args:
        scores: scored runs, of any number of agents, tasks and repeats.
        missing: the rule the runs were scored under; taken from the scores when not given.
        resamples: task resamples behind comparisons of two agents; with 0 no pairs are tested, and ranks and
            τ-b have no interval.
        seed: same scores and seed give the same report, digit for digit.

    Raises:
        UntakenError: ``mixed-missing-rules`` where the runs were scored under different rules.
    """
    runs = tuple(scores)
    rule = _rule(runs, missing)
    cells = by_cell(runs)
    agents, shared, unmatched = split_tasks(cells)
    tables = [metric_table(metric, cells, agents, shared) for metric in metrics_of(runs)]
    report = rank_tables(tables, shared, missing=rule, resamples=resamples, seed=seed)
    return dataclasses.replace(
        report,
        contradictions=contradictory_runs(runs),
        unmatched_tasks=unmatched,
        runs=tuple(sorted(runs, key=lambda run: run.digest)),  # in whatever order they were read
    )


def rank_tables(
    tables: Sequence[MetricTable],
    shared: tuple[str, ...],
    *,
    missing: str,
    resamples: int,
    seed: int,
) -> RankReport:
    """The ranking that follows from means of agents on tasks alone, the outcome's table first.

    It knows no run: what looks at single runs (contradictions, contributions, workflows) is empty.

    Args:
        tables: of each metric, over the shared tasks.
        shared: the tasks that every agent ran.
        missing: as for `rank_agents`.
        resamples: likewise.
        seed: likewise.
    """
    outcome, *rest = tables
    tests = {table.metric: _tests(table, len(shared), seed) if resamples else None for table in tables}
    return RankReport(
        metrics={table.metric: standings(table, tests[table.metric]) for table in tables},
        agreement=tuple(agree(outcome, table, tests[outcome.metric], tests[table.metric]) for table in rest),
        discordant=tuple(
            pair
            for table in rest
            for pair in discordant_pairs(outcome, table, tests[outcome.metric], tests[table.metric])
        ),
        contradictions=(),
        shared_tasks=shared,
        unmatched_tasks=(),
        missing=missing,
        bootstrap=Bootstrap(resamples=resamples, seed=seed),
    )


def _tests(table: MetricTable, tasks: int, seed: int) -> PairTests | None:
    """Every pair of a metric's agents; ``None`` for more agents than are compared two by two."""
    if not 0 < len(table.agents) <= COMPARED_AGENTS:
        return None
    # Signs are drawn for all shared tasks, so that two metrics on different tasks are tested together.
    return PairTests.of(table.means, (block[:, table.columns] for block in task_flips(tasks, seed)))


@dataclass(frozen=True, kw_only=True)
class PooledScores:
    """Agents pooled and ranked, when somebody first asks for it: most questions need neither.

    Attributes:
        scores: of everybody's unbroken runs.
        ranked: those of the agents that can be compared.
        others: agents that ran none of their tasks. With these, no task would be left that all agents ran.
        missing: the rule that they were scored under.
        resamples: as for `rank_agents`.
    """

    scores: tuple[RunScore, ...]
    ranked: tuple[RunScore, ...]
    others: tuple[Group, ...]
    missing: MissingRule | None = None
    resamples: int = 10_000
    seed: int = 0

    @classmethod
    def of(cls, scores: Iterable[RunScore], **rules: Any) -> PooledScores:
        """The scores of unbroken runs; `rules` are the other attributes."""
        everyone = tuple(scores)
        groups = comparable_groups(everyone)
        first = next((group for group in groups if len(group.agents) > 1), None)  # the one with most runs
        if first is None:
            return cls(scores=everyone, ranked=everyone, others=(), **rules)
        kept = frozenset(first.digests)
        ranked = tuple(score for score in everyone if score.digest in kept)
        others = tuple(group for group in groups if group is not first)
        return cls(scores=everyone, ranked=ranked, others=others, **rules)

    @cached_property
    def agents(self) -> tuple[AgentScore, ...]:
        """Everybody's runs pooled by agent."""
        return tuple(score_agents(self.scores))

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Everybody's contradictory runs."""
        return contradictory_runs(self.scores)

    @cached_property
    def ranking(self) -> RankReport:
        """The agents that can be compared, ranked; unmatched tasks and contradictory runs are everybody's."""
        report = rank_agents(self.ranked, missing=self.missing, resamples=self.resamples, seed=self.seed)
        tasks = {*report.unmatched_tasks, *(task for group in self.others for task in group.tasks)}
        contradictions = self.contradictions if self.others else report.contradictions
        return dataclasses.replace(
            report, unmatched_tasks=tuple(sorted(tasks)), contradictions=contradictions
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Who is not ranked, or not compared two by two."""
        return *_not_compared(self.others), *_not_paired(len({score.agent for score in self.ranked}))


def guaranteed_standings(report: RankReport) -> dict[str, tuple[RankedAgent, ...]]:
    """A ranking's standings by metric, with intervals that no kind of tasks makes too narrow: for a gate."""
    agents = tuple(sorted({agent for agent, _ in report.cells}))
    tables = (metric_table(m, report.cells, agents, report.shared_tasks) for m in report.metrics)
    return {table.metric: _guaranteed(table, report.metrics[table.metric]) for table in tables}


def _guaranteed(table: MetricTable, standings: Sequence[RankedAgent]) -> tuple[RankedAgent, ...]:
    """Intervals of shares that vary; single trials, and equal values, have the exact interval already."""
    tasks, varied = (
        table.columns.size,
        # `initial`: there may be no task.
        table.means.max(axis=1, initial=0) > table.means.min(axis=1, initial=1),
    )
    several = [row for row, trials in enumerate(table.trials) if trials > tasks > 1 and varied[row]]
    ends = guaranteed_interval(table.means[several]).T.tolist() if several else []
    widest = {table.agents[row]: end for row, end in zip(several, ends, strict=True)}
    return tuple(
        replace(s, low=min(s.low, widest[s.agent][0]), high=max(s.high, widest[s.agent][1]))
        if s.agent in widest and not isinstance(s.low, Unscored) and not isinstance(s.high, Unscored)
        else s
        for s in standings
    )


def _not_paired(agents: int) -> tuple[Finding, ...]:
    """A finding where there are more agents than are compared two by two."""
    if agents <= COMPARED_AGENTS:
        return ()
    finding = Finding(
        code="agents-not-paired",
        message=f"{agents:,} agents are ranked; only the first {COMPARED_AGENTS} are compared in pairs "
        "(differences, discordant, changed by the rule for verdicts), and ranks and τ-b have no interval",
        hint=f"For the rest, rank the ledgers of at most {COMPARED_AGENTS} agents at a time.",
    )
    return (finding,)


def _not_compared(groups: Sequence[Group]) -> tuple[Finding, ...]:
    if not groups:
        return ()
    agents = sorted({agent for group in groups for agent in group.agents})
    finding = Finding(
        code="agents-not-compared",
        message=f"{counted(len(agents), 'agent')} without any task ranked here: {', '.join(agents[:10])}",
        hint="Rank them separately, over their own ledgers.",
    )
    return (finding,)


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


def agree(a: MetricTable, b: MetricTable, a_tests: PairTests | None, b_tests: PairTests | None) -> Agreement:
    """How the rankings of two metrics agree, over the agents that have both."""
    rows_a, rows_b = _common_rows(a, b)
    x, y = a.comparable[rows_a], b.comparable[rows_b]
    few = _too_few(a, b, len(rows_a))
    tau, p, rho = (kendall_tau_b(x, y), kendall_p(x, y), spearman(x, y)) if few is None else (few, few, few)
    low: Score = NOT_TESTED
    high: Score = NOT_TESTED
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


def discordant_pairs(
    a: MetricTable, b: MetricTable, a_tests: PairTests | None = None, b_tests: PairTests | None = None
) -> tuple[DiscordantPair, ...]:
    """Pairs of agents that `a` and `b` put in opposite orders; a tie under either is no disagreement.

    Of many agents, pairs of the first `COMPARED_AGENTS` by `a`.
    """
    # A stable sort keeps ties in the order of names.
    first = [a.agents[row] for row in np.argsort(-a.comparable, kind="stable")[:COMPARED_AGENTS]]
    rows_a, rows_b = _common_rows(a, b, frozenset(first))
    agents = [a.agents[row] for row in rows_a]
    x, y = a.comparable[rows_a], b.comparable[rows_b]
    firsts, seconds = np.nonzero((x[:, None] > x[None, :]) & (y[:, None] < y[None, :]))
    clear = np.zeros((len(agents), len(agents)), dtype=bool)
    if a_tests is not None and b_tests is not None:
        clear = (a_tests.of_agents(rows_a).sure > 0) & (b_tests.of_agents(rows_b).sure < 0)
    return tuple(
        DiscordantPair(
            a_metric=a.metric, b_metric=b.metric, first=agents[i], second=agents[j], clear=bool(clear[i, j])
        )
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


def standings(table: MetricTable, tests: PairTests | None) -> tuple[RankedAgent, ...]:
    """Best first, ties by name, agents without the metric last."""
    values, comparable = table.values, table.comparable
    spans = share_interval(table.means, table.trials) if table.agents else None
    ranks = rank_interval(tests) if tests is not None else None
    ranked = []
    for row, agent in enumerate(table.agents):
        low: Score = NO_INTERVAL
        high: Score = NO_INTERVAL
        # Of single trials even one task says something about the next.
        single = table.metric == OUTCOME and (table.runs[row] == 1).all()
        if spans is not None and (table.columns.size > 1 or single):
            low, high = (float(end) for end in spans[:, row])
        ranked.append(
            RankedAgent(
                agent=agent,
                value=float(values[row]),
                low=low,
                high=high,
                rank=1 + int((comparable > comparable[row]).sum()),  # ties share the smallest
                rank_low=None if ranks is None else int(ranks[0, row]),
                rank_high=None if ranks is None else int(ranks[1, row]),
                n_tasks=table.columns.size,
                n_runs=int(table.runs[row].sum()),
            )
        )
    ranked.sort(key=lambda one: (one.rank or 0, one.agent))
    return (*ranked, *(_unranked(agent, why) for agent, why in table.absent.items()))


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
