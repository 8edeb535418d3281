"""``untaken compare``: where runs of a task diverge, or what changed between two versions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from untaken.analysis import (
    FIELDS,
    MOST_SHOWN,
    AlignedRow,
    CellStatus,
    ComparedRun,
    OutcomeSplit,
    SideBySide,
    VersionComparison,
    align_runs,
    evaluate_corpus,
    tasks_of,
    triage,
)
from untaken.cli.console import NOTHING, Console, decimal, plain, signed
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.packet import print_packet
from untaken.cli.score import print_rules, scored_paths, usage_without_graphs
from untaken.counterfactual import PolicyMemory
from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.numbers import counted, p_value
from untaken.views import (
    COMPARE_DOCUMENT,
    STAR,
    causes_of_versions,
    nth,
    suspect_words,
    version_changes,
    version_headline,
    versions_document,
    versions_packet,
)

ICONS: Final[dict[CellStatus, str]] = {
    "completed": "✓",
    "attempted": "✗",
    "skipped": "–",
    "unscored": "?",
    "not_required": "·",
    "called": "●",
    "not_called": "–",
}
OUTCOMES: Final = {True: "✓", False: "✗"}
TOP: Final = 10


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "compare", compare)
    parser.takes_graphs()
    parser.takes_one(
        "--task",
        "ID",
        "the task; by default the task of the runs, else the task with most to compare",
    )
    parser.takes_many(
        "--runs",
        "ID",
        f"run ids or digests; by default the {MOST_SHOWN} runs of the task that differ most",
    )
    parser.takes_one("--reference", "ID", "the reference run; by default the best success")
    words = "instead: what changed from version A to version B"
    parser.add_argument("--versions", nargs=2, default=None, metavar=("A", "B"), help=words)
    parser.add_argument(
        "--by", choices=FIELDS, default="version", help="what the two are versions of (default version)"
    )
    parser.takes_flag("--discordant", "also list pairs of runs of which only one succeeded")
    parser.takes_packet("pair N of --versions")


def compare(args: argparse.Namespace, console: Console) -> int:
    """Prints the matrix, where each run diverges from the reference, and what is associated with success."""
    if args.versions:
        return run_versions(args, console)
    scored = scored_paths(args, console)
    runs = scored.ledgers.every_run
    named = _named(args.runs, runs, args.task)
    held = _named([args.reference], runs, args.task) if args.reference else []
    task = _task(args.task, [*named, *held], runs)
    found = align_runs(
        task,
        runs,
        scored.scores,
        scored.graphs,
        # a reference alone leaves the choice open
        shown=[run.digest for run in (*named, *held)] if named else (),
        reference=held[0].digest if held else None,
    )
    _print(found, console)
    used = usage_without_graphs(scored, console, task=task)
    print_rules(args, scored, console)
    console.document(
        COMPARE_DOCUMENT(
            found,
            missing=args.missing,
            verdicts=args.verdicts,
            usage=used or UNSET,
            findings=scored.findings,
        )
    )
    return 1 if scored.broken else 0


def _named(names: Sequence[str], runs: Sequence[Run], task: str | None) -> list[Run]:
    """The runs with these ids or digests."""
    found: dict[str, Run] = {}
    for name in names:
        # Ids may come twice, in several tasks.
        here = [run for run in runs if name in (run.run_id, run.digest) and task in (None, run.task_id)]
        if not here:
            raise UsageError(
                "run-unknown",
                f"no run {name!r}" + (f" of the task {task!r}" if task else ""),
                hint="`untaken score PATH… --graphs PATH… --runs` lists them.",
            )
        found |= {run.digest: run for run in here}  # named twice, it is one column all the same
    return list(found.values())


def _task(asked: str | None, named: Sequence[Run], runs: Sequence[Run]) -> str:
    """The task asked for, else that of the runs named, else the one with most to compare."""
    of_named = sorted({run.task_id for run in named})
    if len(of_named) > 1:
        raise UsageError(
            "runs-of-different-tasks",
            f"the given runs belong to {len(of_named)} tasks: {', '.join(map(repr, of_named[:5]))}",
            hint="Only runs of the same task can be compared.",
        )
    if asked is not None and all(run.task_id != asked for run in runs):
        raise UsageError("task-unknown", f"no run of the task {asked!r}", hint="Task ids must match exactly.")
    tasks = [*of_named, *(task.task_id for task in tasks_of(runs))]
    if not (asked or tasks):
        hint = "Runs of one task share its task_id: add another run of one, by the same agent or another."
        raise UsageError("compare-too-few", "no task has two runs, so there is nothing to compare", hint=hint)
    return asked or tasks[0]


def _print(found: SideBySide, console: Console) -> None:
    console.say(plain(_head(found)))
    console.say()
    for number, run in enumerate(found.runs, start=1):
        console.say(plain(f"  {number:>2}  {_run_words(run)}{'  reference' * (number == 1)}"))
    console.say()
    what = "sub-goal" if found.basis == "sub_goal" else "tool"
    headings = [what, *(f"{n} {_outcome(run)}" for n, run in enumerate(found.runs, start=1)), "parts"]
    console.table(headings, [_row(row) for row in found.rows])
    console.say("status and number of actions; ! where one of them failed")
    console.say()
    _print_divergences(found, console)
    _print_outcomes(found.outcome_splits, what, console)


def _head(found: SideBySide) -> str:
    how = (
        f"aligned by the sub-goals of {found.graph_id} version {found.graph_version}"
        if found.basis == "sub_goal"
        else f"aligned by tool: {found.basis_reason}"
    )
    broken = f"; {counted(found.broken, 'broken run')} left out" if found.broken else ""
    return f"{found.task_id}: {len(found.runs)} of {counted(found.of_task, 'run')}, {how}{broken}"


def _run_words(run: ComparedRun) -> str:
    share = "no sub-goal score" if isinstance(run.completed, Unscored) else f"{run.completed}/{run.required}"
    named = f"{run.agent if run.mark == run.run_id else run.name}, {run.run_id}"
    return f"{_outcome(run)} {named}: {share}, {counted(run.actions, 'call')}"


def _outcome(run: ComparedRun) -> str:
    return "?" if isinstance(run.success, Unscored) else OUTCOMES[run.success]


def _row(row: AlignedRow) -> tuple[object, ...]:
    cells = (
        f"{ICONS[cell.status]} {cell.steps or ''}{'!' * bool(cell.failures)}".strip() for cell in row.cells
    )
    return (f"{row.title}{' ★' * row.critical}", *cells, "≠" if row.parts else "")


def _print_divergences(found: SideBySide, console: Console) -> None:
    """Where each run differs from the reference, in each way of looking at it."""
    # The reference is number 1.
    what = "sub-goals" if found.basis == "sub_goal" else "tools"
    for number, divergence in enumerate(found.divergences, start=2):
        known = divergence.alike + divergence.different
        console.say(
            f"Run {number} differs from run 1 at {divergence.different} of {known} {what} known in both"
        )
        for split in divergence.splits:
            console.say(plain(f"    {split.level:<9}  {split.words}"))
        if not divergence.splits:
            console.say("    no recorded status, choice or call differs")
    console.say()


def _print_outcomes(splits: Sequence[OutcomeSplit], what: str, console: Console) -> None:
    if splits:
        console.columns(
            splits[:TOP],
            f"{what}=title, in successes=done_in_successes/successes, in failures=done_in_failures/failures",
            "difference:+, p:p, Holm=p_holm:p",
            ("unknown", lambda split: split.unknown or NOTHING),
        )
        console.say("over all runs of the task; association, not effect")


def run_versions(args: argparse.Namespace, console: Console) -> int:
    """Prints what changed from the first version to the second; 1 where a ledger or graph is broken."""
    scored = scored_paths(args, console)
    corpus = evaluate_corpus(
        scored.ledgers.every_run,
        scored.graphs,
        memory=PolicyMemory.build([]),  # empty: nothing here asks for the history of a skill
        missing=args.missing,
        verdicts=args.verdicts,
    )
    first, second = args.versions
    found = version_changes(corpus, first, second, args.by)
    if args.packet is not None:
        return print_packet(versions_packet(corpus, nth(found.discordant, args.packet)), console)
    _print_versions(found, console)
    if args.discordant:
        _print_pairs(found, console)
    print_rules(args, scored, console, missing="drop")  # differences are of runs with evidence
    console.document(
        versions_document(
            found,
            corpus.runs,
            causes=causes_of_versions(triage(corpus), corpus.runs, found),
            discordant=args.discordant,
            findings=scored.findings,
        )
    )
    return 1 if scored.broken else 0


def _print_versions(found: VersionComparison, console: Console) -> None:
    console.say(plain(version_headline(found)))
    if suspect := suspect_words(found):
        console.say(plain(suspect))
    outcome = found.outcome
    if outcome.difference is not None:
        console.say(
            f"Success {outcome.a_succeeded} of {outcome.a_runs} → {outcome.b_succeeded} of {outcome.b_runs}, "
            f"{signed(outcome.difference)} inside tasks (p {p_value(outcome.p, unknown=NOTHING)})"
        )
    console.say()
    console.columns(
        found.sub_goals,
        ("sub-goal", lambda one: f"{one.title}{f' {STAR}' if one.critical else ''}"),
        (plain(found.a), lambda one: f"{one.a_completed}/{one.a_reached}"),
        (plain(found.b), lambda one: f"{one.b_completed}/{one.b_reached}"),
        "difference:+, p (Holm)=p_holm:p",
        ("changed", lambda one: ", ".join(filter(None, ("yes", one.kind))) if one.called else ""),
    )
    if found.costs:
        console.say()
        console.columns(
            found.costs,
            "per run=measure",
            (plain(found.a), lambda one: decimal(one.a, 2)),
            (plain(found.b), lambda one: decimal(one.b, 2)),
            "p (Holm)=p_holm:p",
            ("changed", lambda one: "yes" if one.called else ""),
        )


def _print_pairs(found: VersionComparison, console: Console) -> None:
    console.say()
    console.say(
        plain(f"Pairs of which one succeeded: {found.a_only} only {found.a}, {found.b_only} only {found.b}")
    )
    console.columns(
        found.discordant,
        "task=task_id",
        ("succeeded", lambda one: found.b if one.second_succeeded else found.a),
        "the other missed=sub_goal, why=reason:.160",
    )
