"""Rankings of agents: their tables, and the JSON document (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from untaken.analysis import (
    Agreement,
    Contradiction,
    Corpus,
    DiscordantPair,
    PairedDifference,
    PassK,
    QuadrantPoint,
    RankedAgent,
    RankReport,
    RuleChange,
    RuleEffect,
    RunContribution,
    SubGoalGap,
    TaskGap,
    WorkflowVerdict,
    other_rule,
)
from untaken.errors import Finding, Score, Unscored
from untaken.judging import LabelledRates
from untaken.scoring import AgentScore, MissingRule, RunScore, Status
from untaken.views.documents import Document, Keys, Part, entry
from untaken.views.frame import (
    Column,
    Columns,
    RowWith,
    as_facts,
    count,
    figure,
    frame,
    interval,
    reasons,
    text,
    truth,
    why,
)
from untaken.views.judging import LABELS
from untaken.views.shapes import Schema, shape
from untaken.views.spending import AgentUsage

if TYPE_CHECKING:
    import pandas as pd


RANKS: Final = ("rank", "rank_low", "rank_high")
"""Keys of a standing that are null, with a reason, if the agent has no rank or no interval for it."""
RULE_RANKS: Final = ("fail_rank", "drop_rank")
MOST_GAPS: Final = 20
"""Runs, sub-goals and tasks listed of a pair of agents: those that weigh most."""


def _with_reasons(kind: type, ranks: Sequence[str]) -> Schema:
    whole = shape(kind)
    whole["properties"] |= {f"{rank}_reason": {"type": "string"} for rank in ranks}
    return whole


_DISCORDANT: Final = Keys(DiscordantPair, "* runs", runs=[RunContribution])
_WORKFLOW: Final = Keys(WorkflowVerdict, "* gap sub_goals tasks", sub_goals=[SubGoalGap], tasks=[TaskGap])
_RULE: Final = Keys(
    RuleEffect,
    "changes flips",
    changes=Sequence[Annotated[Document, partial(_with_reasons, RuleChange, RULE_RANKS)]],
)
RANK_DOCUMENT: Final = Keys(
    RankReport,
    "missing metrics agreement discordant contradictions pairs ties pass_k quadrants workflows rule"
    " labels usage shared_tasks unmatched_tasks findings",
    schema="untaken.rank/1",
    missing=MissingRule,
    metrics=Mapping[str, Sequence[Annotated[Document, partial(_with_reasons, RankedAgent, RANKS)]]],
    discordant=[_DISCORDANT],
    pairs=[PairedDifference],
    ties={str: [[str]]},
    quadrants=[QuadrantPoint],
    workflows=[_WORKFLOW],
    rule=Annotated[Any, _RULE] | UnsetType,
    labels=Annotated[Any, LABELS] | UnsetType,
    usage=Sequence[AgentUsage] | UnsetType,
)
"""Agents by outcome and by each sub-goal metric, and where these disagree."""


def rank_document(
    report: RankReport,
    *,
    rule: RuleEffect | None = None,
    labels: LabelledRates | None = None,
    used: Sequence[AgentUsage] = (),
    findings: Sequence[Finding] = (),
) -> Part:
    """The document of `report`; `used`: what runs come to, where there is no plan graph."""
    compared = report.comparisons
    return RANK_DOCUMENT(
        report,
        metrics={metric: [_agent(one) for one in ranked] for metric, ranked in report.metrics.items()},
        discordant=[
            _DISCORDANT(pair, runs=report.contributions(pair)[:MOST_GAPS]) for pair in report.discordant
        ],
        pairs=[pair for found in compared.values() for pair in found.pairs],
        ties={metric: found.ties for metric, found in compared.items()},
        # Without the first metric, which is the outcome itself.
        quadrants=[one for metric in [*report.metrics][1:] for one in report.placed(metric)],
        workflows=[_workflow(report, verdict) for verdict in report.workflows],
        rule=_RULE(rule, changes=[_change(one) for one in rule.changes]) if rule else UNSET,
        labels=labels or UNSET,
        usage=used or UNSET,
        findings=findings,
    )


def _agent(ranked: RankedAgent) -> Document:
    absent = (rank for rank in RANKS if getattr(ranked, rank) is None)
    return entry(ranked) | {f"{rank}_reason": ranked.unranked.reason for rank in absent}


def _change(change: RuleChange) -> Document:
    absent = (rank for rank in RULE_RANKS if getattr(change, rank) is None)
    return entry(change) | {f"{rank}_reason": "not ranked under this rule" for rank in absent}


def _workflow(report: RankReport, verdict: WorkflowVerdict) -> Part:
    between = (verdict.gap.metric, verdict.workflow, verdict.agent)
    goals, tasks = report.sub_goal_gaps(*between), report.task_gaps(*between)
    return _WORKFLOW(verdict, sub_goals=goals[:MOST_GAPS], tasks=tasks[:MOST_GAPS])


class FailureRow(NamedTuple):
    """How one agent fares at one sub-goal: its status over the scored runs of the graph."""

    graph: str
    sub_goal: str
    agent: str
    title: str
    critical: bool
    found: Counter[Status]


def _runs(row: FailureRow) -> int:
    return row.found.total() - row.found["not_required"]


def _failure_rate(row: FailureRow) -> Score:
    evidence = _runs(row) - row.found["unscored"]
    return 1 - row.found["completed"] / evidence if evidence else Unscored("no run has evidence for it")


_RATES: Final = {
    "success_rate": "successes / runs with a recorded outcome",
    "coverage": "attempted / required, pooled over the runs whose attempts are known",
    "coverage_macro": "mean over runs of attempted / required",
    "completion": "completed / required, pooled over runs",
    "completion_macro": "mean over runs of completed / required",
    "completion_weighted": "the same with the weight of each sub-goal, pooled",
    "critical_completion": "completed / required over critical sub-goals, pooled",
    "critical_completion_macro": "mean over runs of critical completion",
    "critical_path_skipped_rate": "share of runs that never attempted some critical sub-goal",
}
_COUNTS: Final = {
    "runs": "runs of the agent",
    "scored_runs": "runs with at least one sub-goal that counts",
    "outcome_runs": "runs with a recorded outcome",
    "successes": "runs that succeeded",
    "sub_goals": "sub-goals that count, over all runs",
    "attempted": "of them attempted",
    "completed": "of them completed",
    "completed_with_deps": "of them completed with every direct dependency completed",
    "completed_with_deps_all": "of them completed with every transitive dependency completed",
    "unscored": "sub-goals without evidence either way",
    "critical": "critical sub-goals that count",
    "critical_completed": "of them completed",
    "violations": "sub-goals reached although a critical dependency was not completed",
    "order_violations": "sub-goals started before a dependency was started",
}


def _agent_columns() -> dict[str, Column[AgentScore]]:
    columns: dict[str, Column[AgentScore]] = {
        "agent": text("name of the agent", "agent"),
        "kind": text("agent or workflow", "kind"),
    }
    columns |= {name: count(meaning, name) for name, meaning in _COUNTS.items()}
    columns |= {name: figure(meaning, name, "percent") for name, meaning in _RATES.items()}
    replans = "replanning_events_per_trace"
    columns[replans] = figure("mean number of changes of plan", replans)
    return columns | reasons(*_RATES, replans)


AGENTS: Final[Columns[AgentScore]] = _agent_columns()

RANKINGS: Final[Columns[RowWith[RankedAgent, str]]] = {
    "metric": text("the metric that ranks the agents", "beside"),
    "agent": text("the ranked agent", "row.agent"),
    "value": figure("mean over tasks of the mean over repeats", "row.value", "percent"),
    **interval(at="row.", shown="percent"),
    "rank": count("1 is best; ties share the smallest", "row.rank"),
    "rank_low": count("best rank in its 95% interval", "row.rank_low"),
    "rank_high": count("worst rank in its 95% interval", "row.rank_high"),
    "n_tasks": count("number of tasks behind the value", "row.n_tasks"),
    "n_runs": count("number of runs behind the value", "row.n_runs"),
    "value_reason": why("value", "row.value"),
}

AGREEMENT: Final[Columns[Agreement]] = {
    "a": text("first metric", "a"),
    "b": text("second metric", "b", title="outcome against"),
    "tau_b": figure("Kendall τ-b between the two rankings", "tau_b", "%+.2f"),
    **interval(shown="%+.2f"),
    "p": figure("permutation p-value", "p", "p"),
    "spearman": figure("Spearman rank correlation", "spearman", "%+.2f"),
    "n": count("agents ranked by both", "n"),
    "tau_b_reason": why("tau_b", "tau_b"),
}

DISCORDANT: Final[Columns[DiscordantPair]] = {
    "a_metric": text("metric that puts first above second", "a_metric"),
    "b_metric": text("metric that puts first below second", "b_metric"),
    "first": text("an agent", "first"),
    "second": text("another agent", "second"),
    "clear": truth("both orders are sure: a clear reversal", "clear"),
}

CONTRADICTIONS: Final[Columns[Contradiction]] = {
    "kind": text("lucky: success, critical sub-goal undone; unlucky: failure, all completed", "kind"),
    **as_facts("run_id digest agent task_id"),
    "sub_goals": text("the sub-goals that contradict the outcome", lambda row: ", ".join(row.sub_goals)),
    "weight": figure("order of review, largest first", "weight"),
}

FAILURES: Final[Columns[FailureRow]] = {
    "graph": text("the plan graph", "graph"),
    **as_facts("sub_goal title critical agent"),
    "runs": count("scored runs in which it counts", _runs),
    "completed": count("of them completed", lambda row: row.found["completed"]),
    "attempted": count("of them attempted, not completed", lambda row: row.found["attempted"]),
    "skipped": count("of them never attempted", lambda row: row.found["skipped"]),
    "unscored": count("of them without evidence", lambda row: row.found["unscored"]),
    "failure_rate": figure("not completed / runs with evidence", _failure_rate),
    "failure_rate_reason": why("failure_rate", _failure_rate),
}


PAIRS: Final[Columns[PairedDifference]] = {
    "metric": text("what the two are compared by", "metric"),
    "first": text("the agent ranked above", "first"),
    "second": text("the agent ranked below", "second"),
    "difference": figure("first minus second, mean over the tasks that both have a value on", "difference"),
    **interval(),
    "clear_difference": truth("whether the interval excludes 0", "clear_difference"),
    "p": figure("two-sided p of no difference", "p", "p"),
    "p_holm": figure("p adjusted for all pairs under the metric", "p_holm", "p"),
    "family": count("pairs under the metric that have a p", "family"),
    "p_above": figure("share of task resamples with first above; ties count half", "p_above"),
    "mde": figure("smallest true difference found in 80% of such comparisons", "mde"),
    "test": text("mcnemar: exact, of single trials; sign_flip: agents swapped inside tasks", "test"),
    "interval": text("adjusted_wald or student_t", "interval"),
    "first_only": count("tasks that only first succeeded at", "first_only"),
    "second_only": count("tasks that only second succeeded at", "second_only"),
    "n_tasks": count("number of tasks behind the difference", "n_tasks"),
    "n_runs": count("number of runs of both behind it", "n_runs"),
    **reasons("difference", "low"),
}

PASS_K: Final[Columns[PassK]] = {
    **as_facts("agent"),
    "k": count("trials of a task that must all succeed", "k"),
    "value": figure("chance that they do, mean over tasks", "value", "percent"),
    **interval(shown="percent"),
    "n_tasks": count("number of tasks behind it", "n_tasks"),
    "n_runs": count("number of trials behind it", "n_runs"),
}

MISSING_RULE: Final[Columns[RuleChange]] = {
    "metric": text("the metric that ranks the agents", "metric"),
    "agent": text("whose value or rank the rule changes", "agent"),
    "fail_value": figure(
        "value where missing verdicts count as not completed",
        "fail_value",
        "percent",
        title="counted as not completed",
    ),
    "drop_value": figure("value where they are left out", "drop_value", "percent", title="left out"),
    "fail_rank": count("rank where they count as not completed", "fail_rank", title="rank, counted"),
    "drop_rank": count("rank where they are left out", "drop_rank", title="rank, left out"),
    **reasons("fail_value", "drop_value"),
}


def agents_table(corpus: Corpus) -> pd.DataFrame:
    """One row per agent (columns: `AGENTS`), under the rules of the corpus."""
    return frame(AGENTS, corpus.agents)


def rankings_table(corpus: Corpus) -> pd.DataFrame:
    """One row per metric and agent, best first (columns: `RANKINGS`)."""
    rows = [
        RowWith(ranked, metric)
        for metric, standings in corpus.ranking.metrics.items()
        for ranked in standings
    ]
    return frame(RANKINGS, rows)


def agreement_table(corpus: Corpus) -> pd.DataFrame:
    """One row per pair of metrics (columns: `AGREEMENT`)."""
    return frame(AGREEMENT, corpus.ranking.agreement)


def discordant_table(corpus: Corpus) -> pd.DataFrame:
    """One row per pair of agents that two metrics rank oppositely (columns: `DISCORDANT`)."""
    return frame(DISCORDANT, corpus.ranking.discordant)


def contradictions_table(corpus: Corpus) -> pd.DataFrame:
    """One row per run whose outcome and sub-goals disagree, largest first (columns: `CONTRADICTIONS`)."""
    return frame(CONTRADICTIONS, corpus.contradictions)


def pairs_table(corpus: Corpus) -> pd.DataFrame:
    """One row per metric and pair of agents, the one ranked above first (columns: `PAIRS`)."""
    return frame(PAIRS, [pair for found in corpus.ranking.comparisons.values() for pair in found.pairs])


def pass_k_table(corpus: Corpus) -> pd.DataFrame:
    """One row per agent and k (columns: `PASS_K`)."""
    return frame(PASS_K, corpus.ranking.pass_k)


def missing_rule(corpus: Corpus) -> RuleEffect:
    """What the ranking owes to its rule for sub-goals without a verdict (§5)."""
    return other_rule(corpus.runs.values(), corpus.graphs, corpus.ranking, verdicts=corpus.verdicts)


def rule_table(effect: RuleEffect) -> pd.DataFrame:
    """One row per metric and agent that the rule for missing verdicts changes (columns: `MISSING_RULE`)."""
    return frame(MISSING_RULE, effect.changes)


def sub_goal_failures(corpus: Corpus) -> pd.DataFrame:
    """One row per graph, sub-goal and agent: how often it was not completed (columns: `FAILURES`)."""
    seen: dict[tuple[str, str, str], tuple[str, bool]] = {}
    tally: dict[tuple[str, str, str], Counter[Status]] = {}
    alike: dict[tuple[str, str, int], list[RunScore]] = {}
    for score in corpus.scores.values():
        if isinstance(score, RunScore):  # most runs share their results with others
            alike.setdefault((score.graph_id, score.agent, id(score.results)), []).append(score)
    for (graph_id, agent, _), scores in alike.items():
        for node in scores[0].results:  # the same results as those of the others
            key = (graph_id, node.sub_goal, agent)
            seen.setdefault(key, (node.title, node.critical))
            tally.setdefault(key, Counter())[node.status] += len(scores)
    return frame(FAILURES, [FailureRow(*key, *seen[key], statuses) for key, statuses in tally.items()])
