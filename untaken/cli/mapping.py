"""``untaken mapping check|draft``: formats of your own, said in a mapping file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from untaken.cli import USAGE
from untaken.cli.console import Console
from untaken.cli.grammar import Verbs, group, verb
from untaken.ledger import disk
from untaken.numbers import counted
from untaken.traces import MappingCheck, check_mapping, drafted_mapping, mapped_importer, read_mapping
from untaken.views import MAPPING_CHECK_DOCUMENT

SHOWN: Final = 12
ROOM: Final = 60


def add_to(verbs: Verbs) -> None:
    """Adds the verbs."""
    inner = group(verbs, "mapping")
    parser = verb(inner, "check", check, "convert data with a mapping file, and compare counts")
    parser.add_argument("file", metavar="FILE", help="a mapping file (*.mapping.yaml)")
    parser.add_argument("sources", nargs="+", metavar="SRC", help="file, folder or zip archive")
    parser = verb(inner, "draft", draft, "draft a mapping file from data; correct it before use")
    parser.add_argument(
        "sources", nargs="+", metavar="SRC", help="JSON, JSON Lines or CSV files of one format"
    )
    parser.takes_one("--name", "NAME", "of the format (default: mine)", default="mine")
    parser.takes_out("FILE", "a *.mapping.yaml file; by default it is printed")


def check(args: argparse.Namespace, console: Console) -> int:
    """Prints both counts; 1 where a call has no name or an answer no call, 2 where no run was made."""
    importer = mapped_importer(read_mapping(args.file))
    found = check_mapping(importer, [Path(source) for source in args.sources])
    console.say(f"{counted(found.records, 'record')} → {counted(found.runs, 'run')} of {found.format}")
    held = ("outcome", "agent", "task", "tokens", "cost")
    rows = [(name, f"{getattr(found, f'with_{name}')} of {found.runs}") for name in held]
    console.table(("of each run", "runs that have it"), rows)
    console.say()
    console.table(("events", "number"), sorted(found.events.items()))
    console.say()
    console.columns(
        found.lists[:SHOWN],
        ("list in the data", lambda each: each.place or "(the file)"),
        "elements, read",
    )
    if found.unread:
        console.say(f"\nNot read ({counted(len(found.unread), 'field')}):")
        console.columns(found.unread[:SHOWN], "field=path, values=dropped")
    for trouble in _troubles(found):
        console.say(trouble)
    console.document(MAPPING_CHECK_DOCUMENT(found))
    if not found.runs:
        return USAGE
    # A call without an answer is no fault: a run may end with one.
    return 1 if found.unnamed_calls or found.stray_answers else 0


def _troubles(found: MappingCheck) -> list[str]:
    parts = (
        (found.unnamed_calls, "call without a tool's name", "calls without a tool's name"),
        (found.stray_answers, "observation that matches no call", "observations that match no call"),
        (found.unanswered_calls, "call without an observation", "calls without an observation"),
    )
    return [f"{n} {one if n == 1 else many}" for n, one, many in parts if n]


def draft(args: argparse.Namespace, console: Console) -> int:
    """Writes or prints a draft."""
    written = drafted_mapping([Path(source) for source in args.sources], args.name)
    if args.out:
        disk.replace(Path(args.out), written.encode(), sync=False)
        console.say(f"a draft of {counted(len(written.splitlines()), 'line')} → {args.out}")
        console.say(f"Try it: untaken mapping check {args.out} …")
    else:
        console.say(written.rstrip())
    return 0
