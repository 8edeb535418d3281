"""``untaken modes pivot``: failure modes by group, against successes, and how many are still unseen."""

from __future__ import annotations

import argparse

from untaken.analysis import BY
from untaken.cli.analysed import read_analysed, takes_runs
from untaken.cli.console import Console, plain
from untaken.cli.grammar import Verbs, verb
from untaken.numbers import counted
from untaken.views import (
    ModeAnalysis,
    analyse_modes,
    modes_document,
    reviewed_runs,
    runs_to_read,
)

TOP = 20


def add_to(verbs: Verbs) -> None:
    """Adds the verb to those of ``modes``."""
    does = "count failure modes by group, compare them with successes, and estimate how many are unseen"
    parser = verb(verbs, "pivot", pivot, does)
    takes_runs(parser)
    parser.add_argument("--by", choices=BY, default="agent", help="what to group by (default agent)")
    parser.takes_flag("--all-read", "every run was read: one without a mode is free of all modes")
    parser.takes_one("--seed", "TEXT", "of the random draw (default: empty)", default="")
    parser.takes_top(TOP)


def pivot(args: argparse.Namespace, console: Console) -> int:
    """Prints the tables; 1 where a ledger is broken."""
    given = read_analysed(args, console)
    known = runs_to_read(given.corpus)
    found = analyse_modes(
        given.corpus,
        known,
        given.taxonomy,
        by=args.by,
        reviewed=known.unbroken if args.all_read else reviewed_runs(given.reviews),
        seed=args.seed,
    )
    run_ids = {digest: run.run_id for digest, run in given.corpus.runs.items()}
    _print(found, args.top or None, run_ids, console)
    console.document(modes_document(found, run_ids, findings=given.findings))
    return 1 if given.broken else 0


def _print(found: ModeAnalysis, top: int | None, run_ids: dict[str, str], console: Console) -> None:
    totals = [*found.pivot.totals, *(cell for cell in found.pivot.cells if cell.count)]
    # The sort is stable: the total of a mode stays before its groups.
    ordered = sorted(totals, key=lambda cell: found.pivot.modes.index(cell.mode))
    console.columns(
        ordered[:top],
        ("mode", lambda one: found.names[one.mode]),
        f"{found.pivot.by.replace('_', '-')}=group, runs=count/n, rate, 95%=low…high",
    )
    console.say()
    if found.contrasts:
        console.columns(
            found.contrasts[:top],
            ("mode", lambda one: found.names[one.mode]),
            "failed=k1/n1, successes=k0/n0, tasks",
            "difference:+, 95%=low…high, p:p, q:p, says=words",
        )
        console.say()
    console.say(
        f"{len(found.read)} of {counted(found.runs, 'run')} read, {found.failed} of them failed; rates are "
        "over failed runs that were read"
    )
    console.say(found.saturation.words)
    if found.order:
        first = found.order[0]
        console.say(plain(f"Read next: {run_ids[first.run]} ({first.words})"))
    if found.draw.following:
        console.say(plain(f"Next of the random draw: {run_ids[found.draw.following]}"))
