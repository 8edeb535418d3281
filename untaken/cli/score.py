"""``untaken score``: sub-goals by agent and by run."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from untaken.analysis import (
    Corpus,
    agents_compared_with,
    countable,
    evaluate_corpus,
    left_out,
    ranking,
    score_runs,
)
from untaken.cli.console import NOTHING, Console, plain, rate
from untaken.cli.grammar import Verbs, rules_in_words, verb
from untaken.cli.inputs import compared_part, paths_of, read_graphs, read_ledgers, weights_of
from untaken.counterfactual import PolicyMemory
from untaken.errors import Finding, Unscored
from untaken.facts import Ledgers, Scoring
from untaken.judging import (
    distrusted,
    judge_standings,
    judge_trust,
    load_passports,
    passports_beside,
    uncalibrated,
)
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import GraphSet
from untaken.scoring import AgentScore, MissingRule, RunScore
from untaken.views import MEASURES, AgentUsage, figure_words, score_document, usage
from untaken.workspace import settings_of

MOST_TASKS: Final = 40
"""Rows by agent and task that are printed."""


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "score", score)
    parser.takes_graphs()
    parser.takes_compared()
    parser.takes_flag("--runs", "also list the runs")


class Scored(Struct, frozen=True, kw_only=True):
    """The runs named on the command line, scored."""

    ledgers: Ledgers
    graphs: GraphSet
    scores: Mapping[str, RunScore | Unscored]
    counted: list[RunScore]  # agents are ranked by it: runs without a score count by their outcome
    findings: tuple[Finding, ...]

    @property
    def broken(self) -> bool:
        """Whether a ledger is not to be trusted, or a plan graph not to be used."""
        return self.graphs.invalid or self.ledgers.broken > 0

    @property
    def known(self) -> list[RunScore]:
        """The scores there are."""
        return [score for score in self.scores.values() if isinstance(score, RunScore)]


def scored_paths(args: argparse.Namespace, console: Console, *, detail: bool = False) -> Scored:
    """Reads and scores what the command line names, as `read_to_score`."""
    ledgers, graphs = read_to_score(args, console, detail=detail)
    scored = _scored(ledgers, graphs, args.missing, args.verdicts, console)
    name = getattr(args, "compared", None)
    return scored if name is None else _compared(scored, name, args.missing)


def _compared(scored: Scored, name: str, missing: MissingRule) -> Scored:
    """The runs of the agents that can be compared with the one named."""
    whole = {run.digest: run for run in scored.ledgers.every_run}
    kept = set(agents_compared_with(whole.values(), name).digests)
    ledgers = replace(
        scored.ledgers, runs=tuple((at, run) for at, run in scored.ledgers.runs if run.digest in kept)
    )
    return replace(
        scored,
        ledgers=ledgers,
        scores={digest: score for digest, score in scored.scores.items() if digest in kept},
        counted=countable(ledgers.every_run, scored.scores, missing),
        findings=(*scored.findings, *left_out(whole, {run.digest: run for run in ledgers.every_run})),
    )


def evaluated_paths(args: argparse.Namespace, console: Console) -> tuple[Scored, Corpus]:
    """The same with all that a corpus holds, by the policy memory in the file that ``--memory`` names."""
    ledgers, graphs = read_to_score(args, console, features=True)
    corpus = evaluate_corpus(
        ledgers.every_run,
        graphs,
        memory=PolicyMemory.load(Path(args.memory)) if args.memory else None,
        missing=args.missing,
        verdicts=args.verdicts,
        weights=weights_of(args),
        identity=settings_of(args.paths).identity,
        progress=console.progress,
        cluster=args.cluster,
    )
    if args.compared is not None:
        corpus = compared_part(corpus, args.compared)
    return Scored(
        ledgers=ledgers,
        graphs=graphs,
        scores=corpus.scores,
        counted=countable(corpus.runs.values(), corpus.scores, args.missing),
        findings=tuple(dict.fromkeys((*ledgers.findings, *corpus.findings))),
    ), corpus


def read_to_score(
    args: argparse.Namespace, console: Console, *, detail: bool = False, features: bool = False
) -> tuple[Ledgers, GraphSet]:
    """Reads ledgers and graphs; `args.verdicts` then says which judges were left out.

    `detail` and `features` are as in `Scoring`.
    """
    paths, graphs = paths_of(args), read_graphs(args.graphs)
    ledgers = leave_out_judges(args, console, paths, graphs)
    # The workers of a cluster score what they read: they read again, as only now it is known who counts.
    if ledgers and args.cluster is None:
        return ledgers, graphs
    scoring = Scoring(
        graphs=graphs,
        missing=args.missing,
        verdicts=tuple(args.verdicts),
        detail=detail,
        features=features,
    )
    return read_ledgers(paths, console, cluster=args.cluster, scoring=scoring), graphs


def leave_out_judges(
    args: argparse.Namespace, console: Console, paths: Sequence[str], graphs: GraphSet
) -> Ledgers | None:
    """Adds to `args.verdicts` which judges are left out; gives the runs that were read for it.

    For ``--min-kappa``; and where a verb takes ``--passport``, those that are not calibrated, which it then
    finds in `args.standings`.
    """
    if args.min_kappa is None and "passport" not in args:
        return None
    ledgers = read_ledgers(paths, console, cluster=args.cluster)
    leave_out_distrusted_of(ledgers.every_run, args, console)
    if "passport" in args:
        known = load_passports(args.passport) if args.passport else passports_beside(paths)
        args.standings = judge_standings(ledgers.every_run, graphs, known, verdicts=args.verdicts)
        if not args.allow_uncalibrated:
            args.verdicts = [*args.verdicts, *(one.glob for one in uncalibrated(args.standings))]
    return ledgers


def leave_out_distrusted_of(runs: Sequence[Run], args: argparse.Namespace, console: Console) -> None:
    """Adds to `args.verdicts` which judges of these runs are left out for ``--min-kappa``, if given."""
    if args.min_kappa is None:
        return
    found = distrusted(judge_trust(runs, least=args.min_kappa))
    # Once: a second call for this command adds nothing.
    args.verdicts, least, args.min_kappa = [*args.verdicts, *found], args.min_kappa, None
    what = ", ".join(glob[1:] for glob in found[:5]) or "none"
    console.say(plain(f"verdicts left out, as κ against people is below {least:g}: {what}"))


def _scored(
    ledgers: Ledgers, graphs: GraphSet, missing: MissingRule, verdicts: Sequence[str], console: Console
) -> Scored:
    runs = ledgers.every_run
    scores, score_findings = score_runs(
        runs, graphs, missing=missing, verdicts=verdicts, progress=console.progress
    )
    findings = tuple(dict.fromkeys((*ledgers.findings, *graphs.findings, *score_findings)))
    counted = countable(runs, scores, missing)
    return Scored(ledgers=ledgers, graphs=graphs, scores=scores, counted=counted, findings=findings)


def score(args: argparse.Namespace, console: Console) -> int:
    """Prints sub-goal scores by agent, and where ranking over shared tasks orders them otherwise.

    1 where a ledger is broken or a plan graph invalid.
    """
    scored = scored_paths(args, console, detail=console.json)
    # Intervals are not printed here.
    pooled = ranking.PooledScores.of(scored.counted, resamples=0)
    agents = pooled.agents
    findings = (*scored.findings, *ranking.pooled_reversals(agents, pooled.ranking))
    used = usage_without_graphs(scored, console)
    if not used:
        _print_agents(agents, console)
    if args.runs:
        console.say()
        _print_runs(scored.known, console)
    print_rules(args, scored, console)
    console.document(
        score_document(
            agents,
            scored.scores,
            run_ids={run.digest: run.run_id for _, run in scored.ledgers.runs},
            missing=args.missing,
            verdicts=args.verdicts,
            runs=args.runs,
            used=used,
            findings=findings,
        )
    )
    return 1 if scored.broken else 0


def _print_agents(agents: Sequence[AgentScore], console: Console) -> None:
    console.columns(
        agents,
        "agent, runs, success=success_rate successes/outcome_runs, coverage=coverage attempted/coverage_of",
        "completion=completion completed/sub_goals",
        ("(mean of runs)", lambda agent: rate(agent.completion_macro, of=f"n={agent.scored_runs}")),
        "critical=critical_completion critical_completed/critical",
        "with deps=completed_with_deps/sub_goals, violations, replans/run=replanning_events_per_trace",
    )
    if agents:
        console.say("Rates are pooled over runs; untaken rank has means over tasks.")


def usage_without_graphs(
    scored: Scored, console: Console, *, task: str | None = None
) -> tuple[AgentUsage, ...]:
    """What runs (of a task) come to by agent and task, printed where no plan graph was given; else empty."""
    if scored.graphs.graphs:
        return ()
    found = usage(run for run in scored.ledgers.every_run if task in (None, run.task_id))
    agents, tasks = ([one for one in found if (one.task_id is None) is whole] for whole in (True, False))
    _print_usage(agents, console)
    if len(tasks) > len(agents):  # of one task each, they would say the same again
        console.say()
        _print_usage(tasks[:MOST_TASKS], console)
        if len(tasks) > MOST_TASKS:
            console.say(f"the first {MOST_TASKS} of {len(tasks):,} rows; --json lists them all")
    console.say()
    console.say(
        "No plan graph: outcome, cost, tokens and steps alone (means over tasks, with 95% intervals). "
        "untaken graph discover drafts a plan."
    )
    return found


def _print_usage(rows: Sequence[AgentUsage], console: Console) -> None:
    def cell(one: AgentUsage, name: str) -> str:
        words = figure_words(one, name, one.cost_unit or "")
        return f"{words[0]} ({words[1]})" if words else NOTHING

    tasks = ["task=task_id"] if any(one.task_id is not None for one in rows) else []
    console.columns(
        rows,
        "agent",
        *tasks,
        "runs",
        *((name, partial(cell, name=name)) for name in MEASURES),
    )


def _print_runs(runs: Sequence[RunScore], console: Console) -> None:
    console.columns(
        runs,
        "run=run_id, agent, task=task_id, success, completion=completion completed/required",
        "critical=critical_completion critical_completed/critical, diagnosis",
        (
            "not completed",
            lambda run: ", ".join(
                f"{node.sub_goal} {node.status}" for node in run.counted if node.status != "completed"
            ),
        ),
    )


def print_rules(
    args: argparse.Namespace, scored: Scored, console: Console, missing: MissingRule | None = None
) -> None:
    """The rules in force (`missing`: another than was asked for), and what could not be scored."""
    unscored = sum(score.unscored for score in scored.known)
    console.say()
    words = rules_in_words(missing or args.missing, args.verdicts)
    console.say(plain(f"{words}; {counted(unscored, 'sub-goal')} without evidence"))
    # What follows the colon of a reason is about one run.
    reasons = Counter(
        score.reason.split(": ")[0] for score in scored.scores.values() if isinstance(score, Unscored)
    )
    for reason, count in reasons.most_common(5):
        console.say(f"{counted(count, 'run')} unscored: {plain(reason)}")
