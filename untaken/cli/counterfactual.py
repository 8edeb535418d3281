"""``untaken counterfactual``: the paths not taken."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from untaken.analysis import agents_compared_with, left_out, memories_of
from untaken.cli.appending import append_drafts, broken_files, refuse_compressed
from untaken.cli.console import NOTHING, Console, rate, signed
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.inputs import paths_of, read_graphs, read_ledgers, weights_of
from untaken.counterfactual import (
    ASSOCIATION,
    FROM_ODDS,
    THRESHOLD,
    Balance,
    Diagnostics,
    Influence,
    OffPolicyContrast,
    Placebo,
    PolicyMemory,
    RunEvaluation,
    abort_unread,
    by_memory,
    collect_signals,
    diagnose,
    evaluate_runs,
    insight_events,
    queue_signals,
    summarise,
)
from untaken.errors import Finding
from untaken.facts import Ledgers, Scoring
from untaken.numbers import counted, interval
from untaken.views import Part, counterfactual_document
from untaken.workspace import settings_of

CHOICE: Final = "taken=selected, not taken=alternative, context=context_hash:.12"
"""The columns that say which choice."""


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "counterfactual", counterfactual)
    parser.takes_ledgers(few="*")
    parser.takes_cluster()
    parser.takes_compared()
    parser.takes_memory()
    parser.takes_many(
        "--graphs",
        "PATH",
        "plan graphs: compares each plan change with what other runs of the task did",
        default=None,
    )
    parser.takes_flag("--card", "accuracy of forecasts for left-out tasks (needs --graphs)")
    parser.takes_flag("--append", "append the insights to the ledgers, once only")
    parser.takes_weights()
    parser.takes_flag("--diagnostics", "placebo test, influence of single runs, logged probabilities")
    parser.takes_number("--threshold", THRESHOLD, "a delta must exceed it to count", metavar=None)


def counterfactual(args: argparse.Namespace, console: Console) -> int:
    """Prints decision points with their deltas; 1 where a ledger is broken (its evaluation is aborted)."""
    if args.card and not args.graphs:
        raise UsageError("card-without-graphs", "--card needs plan decisions", hint="Add --graphs DIR.")
    # In a fixed order: the same files give the same document, however they are named.
    paths, graphs = sorted(paths_of(args)), read_graphs(args.graphs) if args.graphs else None
    weights, identity = weights_of(args), settings_of(args.paths).identity
    scoring = Scoring(graphs=graphs) if graphs else None
    ledgers = read_ledgers(paths, console, cluster=args.cluster, scoring=scoring)
    if args.append:  # before the work, not after it
        refuse_compressed(ledgers)
    runs = ledgers.every_run
    memories = (
        dict.fromkeys((run.digest for run in runs), PolicyMemory.load(Path(args.memory)))
        if args.memory
        else memories_of(runs, identity=identity)
    )
    # All runs, then the part that is shown: as the app does, so that both give the same figures.
    whole = {run.digest: run for run in runs}
    evaluated = evaluate_runs(whole.values(), memories, weights=weights, threshold=args.threshold)
    if args.compared is not None:
        kept = frozenset(agents_compared_with(runs, args.compared).digests)
        runs = [run for run in runs if run.digest in kept]
        ledgers = replace(ledgers, runs=tuple(one for one in ledgers.runs if one[1].digest in kept))
    by_digest = {run.digest: run for run in runs}
    evaluations = [evaluated[run.digest] for run in runs]
    console.progress(len(runs), len(runs), "evaluating alternatives")
    unread = [abort_unread(str(f.where.run), f.message, f.where) for f in ledgers.unread]
    _print([*evaluations, *unread], args.threshold, console)
    diagnostics = None
    if args.diagnostics:
        diagnostics = diagnose(runs, memories, evaluations, weights=weights, threshold=args.threshold)
        print_diagnostics(diagnostics, console)
    plan: Part | None = None
    about_graphs: tuple[Finding, ...] = ()
    if graphs:
        from untaken.cli.counterfactual_plan import plan_part  # noqa: PLC0415 (slow: it loads SciPy)

        plan, about_graphs = plan_part(whole, by_digest, graphs, console, card=args.card, identity=identity)
    unwritten = _append(ledgers, evaluations, console, args.memory) if args.append else []
    about_memory = [finding for memory, _ in by_memory(memories, by_digest) for finding in memory.findings]
    others = left_out(whole, by_digest)
    # Several steps notice the same.
    findings = tuple(dict.fromkeys((*ledgers.findings, *about_graphs, *others, *about_memory, *unwritten)))
    console.document(
        counterfactual_document(
            [*evaluations, *unread],
            weights=weights,
            threshold=args.threshold,
            diagnostics=diagnostics,
            plan=plan,
            findings=findings,
        )
    )
    return 1 if ledgers.broken else 0


def _print(evaluations: list[RunEvaluation], threshold: float, console: Console) -> None:
    higher = [
        (
            b.levels,
            e.run_id,
            d.decision_point,
            d.selected,
            b.alternative,
            b.n,
            rate(b.score),
            signed(b.delta),
            interval(b.delta_low, b.delta_high, signed, unknown=NOTHING),
            signed(b.advantage),
            b.support,
            f"{b.level} of {b.levels}",
            b.parts.words if b.parts else NOTHING,
        )
        for e in evaluations
        for d in e.decisions
        for b in d.branches
        if b.verdict == "alternative_may_be_better"
    ]
    heads = ("run", "at", "taken", "not taken", "n", "score", "delta", "95%", "advantage", "support")
    if any(levels > 1 for levels, *_ in higher):  # only where contexts are layered
        console.table((*heads, "level", "what differs"), [tuple(row) for _, *row in higher])
    else:
        console.table((*heads, "what differs"), [(*row[:-2], row[-1]) for _, *row in higher])
    total = summarise(evaluations)
    console.say()
    console.say(
        f"{counted(total.runs, 'run')}: {total.evaluated} evaluated, "
        f"{total.skipped} skipped, {total.aborted} aborted"
    )
    for code, count in total.codes:
        console.say(f"  {count} {code}")
    console.say(
        f"{counted(total.decisions, 'decision point')}, {counted(total.alternatives, 'alternative')}: "
        f"{total.alternative_may_be_better} score higher (delta > {threshold:g}), "
        f"{total.actual_was_better} lower, {total.equivalent} equivalent, {total.unknown} unknown"
    )
    console.say(
        f"mean delta {signed(total.mean_delta)}, max {signed(total.max_delta)}; association, not effect"
    )


def _append(
    ledgers: Ledgers, evaluations: list[RunEvaluation], console: Console, memory: str | None
) -> list[Finding]:
    """Writes the insights of each run to its ledger; one that holds an evaluation already gets nothing.

    Nothing is written to a file in which anything is broken; those that would have got insights are named.
    """
    evaluated = [
        (file, run, evaluation)
        for (file, run), evaluation in zip(ledgers.runs, evaluations, strict=True)
        if insight_events(run, evaluation)
    ]
    if memory is not None:
        broken = broken_files(ledgers)  # whose ledger gets no insights gets no signals
        fresh = [evaluation for file, _, evaluation in evaluated if file not in broken]
        run_ids = [evaluation.run_id for evaluation in fresh]
        # Signals first: a ledger that holds insights gives none a second time, as after a crash in between.
        new = queue_signals(memory, collect_signals(fresh), evaluated=run_ids)
        console.say(f"{counted(new, 'signal')} queued")
    wanted = [(file, run, partial(insight_events, evaluation=one)) for file, run, one in evaluated]
    return append_drafts(ledgers, wanted, console, code="insights-not-appended")


def print_diagnostics(diagnostics: Diagnostics, console: Console) -> None:
    """The placebo, what hangs on single runs, and what logged odds say."""
    console.say()
    _print_placebo(diagnostics.placebo, console)
    _print_balance(diagnostics.balance, console)
    _print_influence(diagnostics.influence, console)
    _print_contrasts(diagnostics.contrasts, console)


def _print_placebo(placebo: Placebo, console: Console) -> None:
    console.say(
        f"placebo: skills shuffled within context, task and agent, {counted(placebo.rounds, 'round')}, "
        f"{counted(placebo.comparisons, 'comparison')}"
    )
    for what, value, low, high in (
        ("mean advantage", placebo.advantage, placebo.advantage_low, placebo.advantage_high),
        ("mean delta", placebo.delta, placebo.delta_low, placebo.delta_high),
    ):
        console.say(f"  {what} {signed(value)} (95%: {interval(low, high, signed, unknown=NOTHING)})")
    share = (rate(value) for value in (placebo.supported, placebo.supported_low, placebo.supported_high))
    console.say("  share supported {} (95%: {} to {}; up to 0.05 is chance)".format(*share))
    console.say("  means away from 0 are what tasks and agents alone make of it")


def _print_balance(balance: tuple[Balance, ...], console: Console) -> None:
    console.say()
    if not balance:
        console.say("balance: no two skills of one context have both been taken")
        return
    both = sum(bool(one.strata_both) for one in balance)
    pairs = counted(len(balance), "pair")
    console.say(f"balance: in {both} of {pairs} both skills were taken within a task and agent")
    console.columns(
        balance,
        CHOICE,
        ("runs", lambda one: f"{one.runs_selected}, {one.runs_alternative}"),
        ("tasks", lambda one: f"{one.tasks_selected}, {one.tasks_alternative}"),
        ("agents", lambda one: f"{one.agents_selected}, {one.agents_alternative}"),
        "strata with both=strata_both, runs in them=runs_both",
    )


def _print_influence(influence: tuple[Influence, ...], console: Console) -> None:
    console.say()
    if not influence:
        console.say("leaving out single runs: no comparison is supported")
        return
    alone = sum(bool(one.lost_without) for one in influence)
    console.say(
        f"without single runs: {alone} of {counted(len(influence), 'supported comparison')} lose support"
    )
    console.columns(
        influence,
        CHOICE,
        "advantage:+, 95%=low…high:+, runs, moved most by=moved_by, without it=advantage_without:+",
        ("lost without", lambda one: len(one.lost_without)),
    )


def _print_contrasts(contrasts: tuple[OffPolicyContrast, ...], console: Console) -> None:
    console.say()
    if not contrasts:
        console.say(f"no probabilities were logged for these choices: each figure is an {ASSOCIATION}")
        return
    console.say(f"{FROM_ODDS}: expected score of the alternative minus that of the selected skill")
    console.columns(
        contrasts,
        CHOICE,
        ("n", lambda one: f"{one.n_selected}+{one.n_alternative}"),
        "left out=left_out, runs' worth=effective, top share=largest_share",
        "SNIPS=snips:+, 95%=snips_low…snips_high:+, DR=dr:+, 95%=dr_low…dr_high:+",
    )
    if caution := next((one.caution for one in contrasts if one.caution), ""):
        console.say(caution)
