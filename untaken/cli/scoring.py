"""``untaken score`` and ``untaken rank``: sub-goals, and what ranking by them says."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from untaken.cli.console import NOTHING, Console, plain, rate, signed
from untaken.cli.grammar import Verbs, rules_in_words, takes_graphs, takes_ledgers, verb
from untaken.cli.inputs import Ledgers, read_graphs, read_ledgers
from untaken.corpus import score_runs
from untaken.errors import Finding, Unscored
from untaken.ranking import RankReport, Standing, rank_agents
from untaken.report import rank_document, score_document
from untaken.subgoals import AgentScore, RunScore, score_agents


def add_to(verbs: Verbs) -> None:
    """Adds the verbs."""
    parser = verb(verbs, "score", "score runs against their plan graphs, by agent", score)
    takes_ledgers(parser)
    takes_graphs(parser)
    parser.add_argument("--runs", action="store_true", help="list the runs too")
    parser = verb(
        verbs, "rank", "rank agents by outcome and by sub-goals, and say where the two disagree", rank
    )
    takes_ledgers(parser)
    takes_graphs(parser)
    parser.add_argument("--resamples", type=int, default=10_000, help="of the bootstrap (default 10000)")
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (default 0)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The runs named on the command line, scored."""

    ledgers: Ledgers
    scores: Mapping[str, RunScore | Unscored]
    findings: tuple[Finding, ...]

    @property
    def known(self) -> list[RunScore]:
        """The scores there are."""
        return [score for score in self.scores.values() if isinstance(score, RunScore)]


def _scored(args: argparse.Namespace, console: Console) -> Scored:
    ledgers = read_ledgers(args.paths, console)
    graphs = read_graphs(args.graphs)
    scores, noticed = score_runs(
        [run for _, run in ledgers.runs],
        graphs,
        missing=args.missing,
        verdicts=args.verdicts,
        progress=console.progress,
    )
    findings = tuple(dict.fromkeys((*ledgers.findings, *graphs.findings, *noticed)))
    return Scored(ledgers=ledgers, scores=scores, findings=findings)


def score(args: argparse.Namespace, console: Console) -> int:
    """Prints sub-goal scores by agent; 1 where a ledger is broken."""
    scored = _scored(args, console)
    agents = score_agents(scored.known)
    console.table(_AGENT_HEADINGS, [_agent_row(agent) for agent in agents])
    if args.runs:
        console.say()
        console.table(_RUN_HEADINGS, [_run_row(run) for run in scored.known])
    _say_rules(args, scored, console)
    console.findings(scored.findings)
    console.document(
        score_document(
            agents,
            scored.scores,
            run_ids={run.digest: run.run_id for _, run in scored.ledgers.runs},
            missing=args.missing,
            verdicts=args.verdicts,
            runs=args.runs,
            findings=scored.findings,
        )
    )
    return 1 if scored.ledgers.broken else 0


_AGENT_HEADINGS = (
    "agent",
    "runs",
    "success",
    "coverage",
    "completion",
    "(mean of runs)",
    "critical",
    "with deps",
    "violations",
    "replans/run",
)


def _agent_row(agent: AgentScore) -> tuple[object, ...]:
    return (
        agent.agent,
        agent.runs,
        rate(agent.success_rate, of=f"{agent.successes}/{agent.outcome_runs}"),
        rate(agent.coverage, of=f"n={agent.attempts_known}"),
        rate(agent.completion, of=f"{agent.completed}/{agent.sub_goals}"),
        rate(agent.completion_macro, of=f"n={agent.scored_runs}"),
        rate(agent.critical_completion, of=f"{agent.critical_completed}/{agent.critical}"),
        f"{agent.completed_with_deps}/{agent.sub_goals}",
        agent.violations,
        rate(agent.replanning_events_per_trace),
    )


_RUN_HEADINGS = ("run", "agent", "task", "success", "completion", "critical", "diagnosis", "not completed")


def _run_row(run: RunScore) -> tuple[object, ...]:
    undone = [f"{node.sub_goal} {node.status}" for node in run.counted if node.status != "completed"]
    return (
        run.run_id,
        run.agent,
        run.task_id,
        NOTHING if isinstance(run.success, Unscored) else ("yes" if run.success else "no"),
        rate(run.completion, of=f"{run.completed}/{run.required}"),
        rate(run.critical_completion, of=f"{run.critical_completed}/{run.critical}"),
        run.diagnosis,
        ", ".join(undone),
    )


def _say_rules(args: argparse.Namespace, scored: Scored, console: Console) -> None:
    unscored = sum(score.unscored for score in scored.known)
    console.say()
    console.say(
        f"{rules_in_words(args.missing, args.verdicts)}; {unscored} sub-goals have no evidence".capitalize()
    )
    reasons = Counter(score.reason for score in scored.scores.values() if isinstance(score, Unscored))
    for reason, count in reasons.most_common(5):
        console.say(f"{count} runs unscored: {plain(reason)}")


def rank(args: argparse.Namespace, console: Console) -> int:
    """Prints the rankings, how they agree, and where they do not; 1 where a ledger is broken."""
    scored = _scored(args, console)
    report = rank_agents(scored.known, missing=args.missing, resamples=args.resamples, seed=args.seed)
    for metric, standings in report.metrics.items():
        console.say(metric)
        console.table(
            ("rank", "agent", "value", "95 %", "ranks", "tasks", "runs"), [_row(s) for s in standings]
        )
        console.say()
    _say_agreement(report, console)
    _say_rules(args, scored, console)
    console.findings(scored.findings)
    console.document(rank_document(report, findings=scored.findings))
    return 1 if scored.ledgers.broken else 0


def _row(standing: Standing) -> tuple[object, ...]:
    ranks = f"{standing.rank_low}–{standing.rank_high}" if standing.rank_low is not None else NOTHING
    return (
        standing.rank if standing.rank is not None else NOTHING,
        standing.agent,
        rate(standing.value),
        f"{rate(standing.low)}–{rate(standing.high)}",
        ranks,
        standing.n_tasks,
        standing.n_runs,
    )


def _say_agreement(report: RankReport, console: Console) -> None:
    rows = [
        (a.a, a.b, signed(a.tau_b), f"{signed(a.low)} … {signed(a.high)}", rate(a.p), signed(a.spearman), a.n)
        for a in report.agreement
    ]
    console.table(("metric", "against", "τ-b", "95 %", "p", "Spearman", "agents"), rows)
    if report.discordant:
        console.say()
    for pair in report.discordant:
        words = f"{pair.first} is above {pair.second} by {pair.a_metric}, and below by {pair.b_metric}"
        console.say(plain(words))
    console.say()
    kinds = Counter(c.kind for c in report.contradictions)
    console.say(
        f"{kinds['lucky']} runs succeeded with a critical sub-goal undone; "
        f"{kinds['unlucky']} failed with everything completed"
    )
    console.say(
        f"{len(report.shared_tasks)} tasks are shared by all agents{_unmatched(report.unmatched_tasks)}"
    )


def _unmatched(tasks: Sequence[str]) -> str:
    if not tasks:
        return ""
    named = ", ".join(plain(task, 40) for task in tasks[:5]) + (", …" if len(tasks) > 5 else "")
    return f"; {len(tasks)} are not, and are left out: {named}"
