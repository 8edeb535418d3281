"""``untaken rank``: what ranking by sub-goals says that ranking by outcome does not."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from untaken import facts, judging
from untaken.analysis import (
    Comparison,
    RankedAgent,
    RankReport,
    RuleEffect,
    other_rule,
    ranking,
    ties_in_words,
)
from untaken.cli.agree import print_rates, read_odds, takes_odds
from untaken.cli.console import NOTHING, Console, plain, signed
from untaken.cli.grammar import UsageError, Verbs, rules_in_words, verb
from untaken.cli.inputs import paths_of
from untaken.cli.score import print_rules, scored_paths, usage_without_graphs
from untaken.numbers import counted, interval
from untaken.views import rank_document

WINS: Final = {
    "workflow": "the workflow wins until the gap is explained",
    "agent": "the agent completes more critical sub-goals",
    "level": "level",
    "unscored": "unscored",
}
MOST: Final = 200
"""Rows of a table, and lines of a list."""


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "rank", rank)
    parser.takes_graphs()
    parser.takes_compared()
    parser.takes_labels()
    takes_odds(parser)
    parser.takes_resamples()


def rank(args: argparse.Namespace, console: Console) -> int:
    """Prints the rankings, how they agree, and where not; 1 where a ledger or graph is broken."""
    if len(paths := paths_of(args)) == 1 and (Path(paths[0]) / facts.MANIFEST).is_file():
        return _rank_facts(args, paths[0], console)
    scored = scored_paths(args, console)
    runs = scored.ledgers.sound_runs
    pooled = ranking.PooledScores.of(
        scored.counted, missing=args.missing, resamples=args.resamples, seed=args.seed
    )
    report = pooled.ranking
    wanted = args.labels or args.odds is not None
    labels = judging.labelled_rates(runs, target="tasks", odds=read_odds(args.odds)) if wanted else None
    findings = (*pooled.findings, *scored.findings, *(labels.findings if labels else ()))
    rule = other_rule(runs, scored.graphs, report, verdicts=args.verdicts)
    if words := ranking.remarks(report):
        for sentence in words:
            console.say(plain(sentence))
        console.say()
    # Without plans all other metrics are unscored.
    _print_metrics(report, tuple(report.metrics) if scored.graphs.graphs else (ranking.OUTCOME,), console)
    used = usage_without_graphs(scored, console)
    if not used:  # without plans there is nothing for the outcome to agree with
        _print_agreement(report, console)
        _print_contradictory(report, console)
        _print_shared(report, console)
    _print_workflows(report, console)
    if labels:
        console.say()
        print_rates(labels, console)
    print_rules(args, scored, console)
    if not used:
        _print_rule(rule, console)
    console.document(rank_document(report, rule=rule, labels=labels, used=used, findings=findings))
    return 1 if scored.broken else 0


def _rank_facts(args: argparse.Namespace, folder: str, console: Console) -> int:
    """The same from facts, which say nothing of single runs."""
    given = {
        **{f"--{name}": getattr(args, name) for name in ("graphs", "verdicts", "compared", "labels", "odds")},
        "--missing": args.missing != "fail",
    }
    if asked := [option for option, value in given.items() if value]:
        what = f"{', '.join(asked)}: facts were scored when they were exported, and name no single run"
        raise UsageError("facts-options", what, hint="rank the ledgers, or export again with these options")
    with facts.open(folder) as opened:
        report = ranking.rank_facts(opened, resamples=args.resamples, seed=args.seed)
        _print_metrics(report, tuple(report.metrics), console)
        _print_agreement(report, console)
        _print_shared(report, console)
        console.say()
        rules = rules_in_words(report.missing, list(opened.manifest.verdicts))
        console.say(plain(f"{rules}; contradictory runs are not listed from facts"))
        console.document(rank_document(report))
    return 0


def _print_metrics(report: RankReport, metrics: Sequence[str], console: Console) -> None:
    for metric in metrics:
        standings = report.metrics[metric]
        console.say(metric)
        console.columns(
            standings[:MOST],
            "rank, agent, value, 95%=low…high",
            ("ranks", partial(_ranks, silent=ranking.unrankable(report, metric))),
            "tasks=n_tasks, runs=n_runs",
        )
        _say_left(len(standings), "agents", console)
        console.say()
        _print_pairs(report.comparisons[metric], console)


def _ranks(one: RankedAgent, *, silent: bool) -> str:
    """The interval of a rank, where the intervals say anything."""
    return NOTHING if silent or one.rank_low is None else f"{one.rank_low}–{one.rank_high}"


def _print_pairs(compared: Comparison, console: Console) -> None:
    """Every pair, the higher-ranked agent first, and the groups without a clear difference."""
    if not compared.pairs:
        return
    console.columns(
        compared.pairs[:MOST],
        "above=first, below=second, by=difference:+, 95%=low…high:+",
        "p:p, Holm=p_holm:p, P(above)=p_above, MDE=mde",
    )
    _say_left(len(compared.pairs), "pairs", console)
    console.say(ties_in_words(compared, lambda agent: plain(agent, 40)))
    console.say()


def _say_left(of: int, what: str, console: Console) -> None:
    if of > MOST:
        console.say(f"the first {MOST} of {of:,} {what}; --json lists them all")


def _print_workflows(report: RankReport, console: Console) -> None:
    """Workflow against agent: who wins by critical completion, and the sub-goal most of the gap is at."""
    for verdict in report.workflows:
        gap = verdict.gap
        most = next(iter(report.sub_goal_gaps(gap.metric, gap.first, gap.second)), None)
        words = f"workflow {verdict.workflow} against agent {verdict.agent}: {WINS[verdict.wins]}"
        ends = interval(gap.low, gap.high, signed, unknown=NOTHING)
        span = f" (critical completion {signed(gap.difference)}, 95% {ends})"
        where = f"; most of the gap is at {most.sub_goal} ({signed(most.contribution)})" if most else ""
        where += "" if gap.clear_difference else "; the gap does not differ clearly from 0"
        console.say(plain(words + span + where))


def _print_rule(rule: RuleEffect, console: Console) -> None:
    """What the other rule for missing verdicts changes."""
    agents = len({change.agent for change in rule.changes})
    flips = f"{counted(len(rule.flips), 'pair', 'change')} order" if rule.flips else "no pair changes order"
    console.say(f"with the other rule, the values or ranks of {counted(agents, 'agent')} differ; {flips}")


def _print_agreement(report: RankReport, console: Console) -> None:
    console.columns(
        report.agreement,
        "metric=a, against=b, τ-b=tau_b:+, 95%=low…high:+, p:p, Spearman=spearman:+, agents=n",
    )
    if report.discordant:
        console.say()
    for pair in report.discordant[:MOST]:
        words = f"{pair.first} is above {pair.second} by {pair.a_metric}, and below by {pair.b_metric}"
        console.say(plain(f"{words}{': a clear reversal' if pair.clear else ''}"))
    _say_left(len(report.discordant), "discordant pairs", console)
    console.say()


def _print_contradictory(report: RankReport, console: Console) -> None:
    kinds = Counter(c.kind for c in report.contradictions)
    ranked = report.metrics.get("critical_completion", ())
    # Ranked, but no run has a critical sub-goal.
    nothing_critical = bool(ranked) and not any(agent.n_runs for agent in ranked)
    lucky = (
        "no sub-goal is critical"
        if nothing_critical
        else f"{counted(kinds['lucky'], 'run')} succeeded with a critical sub-goal not completed"
    )
    unlucky = counted(kinds["unlucky"], "run")
    console.say(f"{lucky}; {unlucky} failed with all sub-goals completed")


def _print_shared(report: RankReport, console: Console) -> None:
    shared = counted(len(report.shared_tasks), "task")
    console.say(f"{shared} shared by all agents{_unmatched(report.unmatched_tasks)}")


def _unmatched(tasks: Sequence[str]) -> str:
    if not tasks:
        return ""
    named = ", ".join(plain(task, 40) for task in tasks[:5]) + (", …" if len(tasks) > 5 else "")
    return f"; {len(tasks)} are left out: {named}"
