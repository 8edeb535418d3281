"""The verbs of ``untaken modes`` that change the taxonomy: ``import``, ``rename``, ``merge``, ``split``, …"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final

from untaken.analysis import (
    PRESETS,
    TITLES,
    Taxonomy,
    change_taxonomy,
    edit_mode,
    import_modes,
    merge_modes,
    preset_modes,
    restore_mode,
    retire_mode,
    split_mode,
)
from untaken.cli.console import Console
from untaken.cli.grammar import Parser, Verbs, verb
from untaken.cli.inputs import open_workspace
from untaken.numbers import counted
from untaken.views import Part, modes_overview

TOP = 20
CHANGES: Final[dict[str, Callable[[Taxonomy, argparse.Namespace, str], Taxonomy]]] = {
    "import": lambda known, args, by: import_modes(known, preset_modes(args.preset), by=by),
    "rename": lambda known, args, by: edit_mode(
        known, args.mode, name=args.name, definition=args.definition, by=by, why=args.why
    ),
    "merge": lambda known, args, by: merge_modes(known, args.modes, args.into, by=by, why=args.why),
    "split": lambda known, args, by: split_mode(known, args.mode, args.into, by=by, why=args.why),
    "retire": lambda known, args, by: retire_mode(known, args.mode, by=by, why=args.why),
    "restore": lambda known, args, by: restore_mode(known, args.mode, by=by, why=args.why),
}
"""What each verb makes of the taxonomy, by what was given and who asks."""


def add_to(verbs: Verbs) -> None:
    """Adds the verbs to those of ``modes``."""
    parser = _changes(verbs, "import", "add the modes of a preset to the taxonomy")
    offered = "; ".join(f"{name}: {title}" for name, title in TITLES.items())
    parser.add_argument("preset", choices=tuple(PRESETS), metavar="PRESET", help=offered)
    parser = _changes(verbs, "rename", "give a mode another name or definition; its id stays")
    _takes_mode(parser)
    parser.add_argument("name", metavar="NAME", help="the new name")
    parser.takes_one("--definition", "TEXT", "another definition, too")
    parser = _changes(verbs, "merge", "merge modes into one: their runs count as it")
    parser.add_argument("modes", nargs="+", metavar="MODE", help="ids or names")
    parser.takes_one("--into", "MODE", "the one that takes them over", required=True)
    parser = _changes(verbs, "split", "split a mode into new ones; its runs wait to be assigned again")
    _takes_mode(parser)
    parser.takes_one("--into", "NAME", "names, two at least", nargs="+", required=True)
    _takes_mode(_changes(verbs, "retire", "no longer offer a mode; its runs still count"))
    _takes_mode(_changes(verbs, "restore", "make a merged, split or retired mode active again"))


def _changes(verbs: Verbs, name: str, does: str) -> Parser:
    parser = verb(verbs, name, changed, does)
    takes_workspace(parser, by=True)
    if name != "import":
        parser.takes_one("--why", "TEXT", "kept in the history of the mode", default="")
    return parser


def _takes_mode(parser: Parser) -> None:
    parser.add_argument("mode", metavar="MODE", help="id or name of a mode in the taxonomy")


def takes_workspace(parser: Parser, *, by: bool = False) -> None:
    """``--workspace``, and ``--by`` for what is signed, else ``--top``."""
    parser.takes_one("--workspace", "FOLDER", "the folder of untaken app", required=True)
    if by:
        parser.takes_one("--by", "NAME", "your name; kept as human:NAME", required=True)
    else:
        parser.takes_top(TOP)


def changed(args: argparse.Namespace, console: Console) -> int:
    """Changes the taxonomy in one step, and prints it."""
    with open_workspace(args) as store:
        # Of the taxonomy as it is while nobody else can change it.
        after = change_taxonomy(
            store.path, lambda known: CHANGES[args.modes_verb](known, args, f"human:{args.by}")
        )
        found = modes_overview(store.read_runs()[0], after)
    print_modes(found, None, console)
    console.document(found)
    return 0


def print_modes(found: Part, top: int | None, console: Console) -> None:
    """The taxonomy with counts."""
    console.columns(found.modes[:top], "id, name, status, became=into, runs")
    console.say()
    read = f"{found.read} of {counted(found.runs, 'run')} read (a note or a mode by a person)"
    console.say(f"version {found.version}; {read}")
