"""``untaken convert``: foreign traces become ledgers and plan graphs."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from shlex import quote
from typing import Final

from untaken.cli import USAGE
from untaken.cli.console import NOTHING, Console
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.numbers import counted
from untaken.traces import Conversion, convert, mapped_importer, own_importers, read_mapping
from untaken.views import CONVERT_DOCUMENT

FILES_SHOWN: Final = 20


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "convert", convert_traces)
    parser.takes_one("--from", "FMT", "by default detected from the content", dest="format")
    parser.takes_one("--mapping", "FILE", "a mapping file for a format of your own (*.mapping.yaml)")
    parser.add_argument("sources", nargs="+", metavar="SRC", help="file, folder or zip archive")
    parser.takes_out("DIR", "ledgers/, graphs/ and loss.json go here", required=True)
    parser.takes_one("--outcomes", "FILE", "outcomes that the traces do not record: run_id,success,cost")
    parser.takes_one("--outcome", "FIELD", "the field of the traces that is the outcome, e.g. info.passed")
    parser.takes_one("--agent", "NAME", "the agent's name if the traces do not record it")


def convert_traces(args: argparse.Namespace, console: Console) -> int:
    """Converts, and says what was kept and what was not; 2 where neither run nor graph was found."""
    sources = [Path(source) for source in args.sources]
    if args.mapping and args.format:
        raise UsageError("format-twice", "--from and --mapping both name the format: give one of them")
    own = [mapped_importer(read_mapping(args.mapping))] if args.mapping else []
    # A format of the user's own is known by its name within this block alone.
    with own_importers(own):
        done = convert(
            own[0].info.name if own else args.format,
            sources,
            Path(args.out),
            progress=console.progress,
            agent=args.agent,
            outcomes=args.outcomes,
            outcome=args.outcome,
        )
    console.say(
        f"{counted(done.runs, 'run')} in {counted(len(done.ledgers), 'ledger')}, "
        f"{counted(len(done.graphs), 'plan graph')} → {args.out}"
    )
    shown = done.losses[:FILES_SHOWN]
    kept = ("values kept", lambda loss: f"{loss.kept}/{loss.held}" if loss.held else NOTHING)
    console.columns(shown, "file=name, records, runs", kept)
    if len(done.losses) > len(shown):
        console.say(f"… and {counted(len(done.losses) - len(shown), 'more file')}")
    if "native" in done.format.split(", "):
        console.say("Files that are ledgers already are copied byte for byte; scores read them without this.")
    _print_loss(done, console)
    if done.runs:
        graphs = f" --graphs {quote(f'{args.out}/graphs')}" if done.graphs else ""
        console.say(f"\nNext: untaken triage {quote(f'{args.out}/ledgers')}{graphs}")
    console.document(CONVERT_DOCUMENT(done))
    return 0 if done.runs or done.graphs else USAGE


def _print_loss(done: Conversion, console: Console) -> None:
    """What was not carried over, over all files, the most frequent first."""
    dropped: Counter[str] = Counter()
    for loss in done.losses:
        dropped.update({field.path: field.dropped for field in loss.fields if field.dropped})
    if dropped:
        console.say(f"\nNot carried over ({counted(len(dropped), 'field')}, all in {done.loss_report}):")
        console.table(("field", "values"), dropped.most_common(10))
