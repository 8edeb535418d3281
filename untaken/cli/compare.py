"""``untaken compare``: where runs of a task diverge."""

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
    align_runs,
    tasks_of,
)
from untaken.cli.compare_versions import run_versions
from untaken.cli.console import NOTHING, Console, plain
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.score import print_rules, scored_paths, usage_without_graphs
from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.views import COMPARE_DOCUMENT

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
    return f"{_outcome(run)} {run.name}, {run.run_id}: {share}, {counted(run.actions, 'call')}"


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
