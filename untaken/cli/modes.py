"""``untaken modes``: the failure modes of a workspace, notes on its runs, assigning and suggesting modes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from untaken.analysis import (
    AssignmentStatus,
    Place,
    Taxonomy,
    agents_compared_with,
    assignment_draft,
    assignments_of,
    change_taxonomy,
    create_mode,
    find_mode,
    kept_taxonomy,
    note_draft,
    notes_of,
    withdrawal_draft,
)
from untaken.cli import modes_agree, modes_pivot, modes_suggest, modes_taxonomy
from untaken.cli.console import Console, plain
from untaken.cli.grammar import UsageError, Verbs, group, verb
from untaken.cli.inputs import open_workspace
from untaken.cli.modes_taxonomy import print_modes, takes_workspace
from untaken.ledger import Draft, Run
from untaken.numbers import counted
from untaken.views import (
    modes_notes_document,
    modes_overview,
)


def add_to(verbs: Verbs) -> None:
    """Adds the verb and its own."""
    inner = group(verbs, "modes")
    parser = verb(inner, "list", listed, "list the failure modes and how many runs have each")
    takes_workspace(parser)
    parser.takes_compared()
    modes_pivot.add_to(inner)
    modes_taxonomy.add_to(inner)
    modes_agree.add_to(inner)
    parser = verb(inner, "assign", assign, "write a note on a run, assign a mode to it, or both")
    takes_workspace(parser, by=True)
    parser.takes_one("--run", "ID", "run id or digest", dest="of_run", required=True)
    parser.takes_one("--mode", "MODE", "id or name of a mode in the taxonomy")
    parser.takes_one("--note", "TEXT", "what you saw")
    parser.takes_one("--event", "SEQ", "the event it is about", type=int)
    parser.takes_one("--sub-goal", "ID", "the sub-goal it is about")
    parser.takes_flag("--new", "create the mode if the taxonomy has none so named")
    parser.takes_flag("--withdraw", "withdraw the mode, or dismiss a suggestion")
    parser.takes_one("--withdraw-note", "SEQ", "withdraw your note of this seq", type=int)
    parser = verb(inner, "notes", notes, "list the notes on runs, and the modes assigned")
    takes_workspace(parser)
    parser.takes_one("--runs", "ID", "only these: run ids or digests", nargs="+", default=[])
    modes_suggest.add_to(inner)


def listed(args: argparse.Namespace, console: Console) -> int:
    """Prints the taxonomy with counts."""
    with open_workspace(args) as store:
        runs = store.read_runs()[0]
        if args.compared is not None:
            kept = frozenset(agents_compared_with(runs, args.compared).digests)
            runs = [run for run in runs if run.digest in kept]
        found = modes_overview(runs, kept_taxonomy(store.path))
    print_modes(found, args.top or None, console)
    console.document(found)
    return 0


def assign(args: argparse.Namespace, console: Console) -> int:
    """Appends to the run's ledger what was asked for; prints what the run has now."""
    if not args.mode and args.note is None and args.withdraw_note is None:
        raise UsageError("mode-unknown", "name a mode, a note, or both", hint="--mode MODE, --note TEXT")
    by = f"human:{args.by}"
    with open_workspace(args) as store:
        (run,) = _chosen(store.read_runs()[0], [args.of_run])
        place = Place(sub_goal=args.sub_goal, event=_event(args.event, run))
        drafts = [note_draft(args.note, author=by, place=place)] if args.note is not None else []
        if args.withdraw_note is not None:
            drafts.append(withdrawal_draft(run, args.withdraw_note, author=by))
        taxonomy = kept_taxonomy(store.path)
        if args.mode:
            taxonomy, draft = _assigned(store.path, taxonomy, args, by, place)
            drafts.append(draft)
        store.append_events(run, drafts)  # in one call: all of it or none
        # Read again, with what was just written: a note does not change the digest of a run.
        (run,) = _chosen(store.read_runs()[0], [run.digest])
    _print_notes([run], taxonomy, None, console)
    console.document(modes_notes_document([run], taxonomy))
    return 0


def notes(args: argparse.Namespace, console: Console) -> int:
    """Prints notes and modes, oldest first in each run."""
    with open_workspace(args) as store:
        taxonomy, runs = kept_taxonomy(store.path), store.read_runs()[0]
    chosen = _chosen(runs, args.runs) if args.runs else runs
    _print_notes(chosen, taxonomy, args.top or None, console)
    console.document(modes_notes_document(chosen, taxonomy))
    return 0


def _chosen(runs: Sequence[Run], asked: Sequence[str]) -> list[Run]:
    """The runs of these ids or digests, each once.

    Raises:
        UsageError: ``run-unknown`` for one that is not there, or an id that several runs have.
    """
    found = []
    for name in dict.fromkeys(asked):
        named = [run for run in runs if name in (run.run_id, run.digest)]
        if len(named) != 1:
            what = "no run" if not named else f"{len(named)} runs"
            raise UsageError("run-unknown", f"{what} {plain(name)!r}", hint="Name a run id or a digest.")
        found += named
    return found


def _event(event: int | None, run: Run) -> int | None:
    if event is None or any(one.seq == event for one in run.events):
        return event
    raise UsageError("event-unknown", f"run {plain(run.run_id)} has no event {event}")


def _assigned(
    folder: Path, taxonomy: Taxonomy, args: argparse.Namespace, by: str, place: Place
) -> tuple[Taxonomy, Draft]:
    if args.new and not any(args.mode in (mode.id, mode.name) for mode in taxonomy.active):
        taxonomy = change_taxonomy(folder, lambda known: create_mode(known, args.mode, by=by)[0])
    mode = find_mode(taxonomy, args.mode)
    if not (mode.active or args.withdraw):  # what an old mode was assigned to can still be taken back
        raise UsageError(
            "mode-unknown", f"{plain(mode.name)!r} is {mode.status}", hint="Assign an active mode."
        )
    status: AssignmentStatus = "withdrawn" if args.withdraw else "accepted"
    return taxonomy, assignment_draft(mode.id, by=by, status=status, place=place)


def _print_notes(runs: Sequence[Run], taxonomy: Taxonomy, top: int | None, console: Console) -> None:
    notes = [note for run in runs for note in notes_of(run)]
    console.columns(
        notes[:top], "run=run_id, note=seq, by=author", ("about", lambda note: _place(note.place)), "text"
    )
    words = [one for run in runs for one in assignments_of(run)]
    console.say()
    console.columns(
        words[:top],
        "run=run_id",
        ("mode", lambda one: taxonomy.name(taxonomy.current(one.mode))),
        "status, by",
        ("at", lambda one: _place(one.place)),
    )
    for kind, total in (("note", len(notes)), ("word on modes", len(words))):
        if top is not None and total > top:
            console.say(f"… and more: {counted(total, kind)} in all; --top 0 lists them")


def _place(place: Place) -> str:
    parts = [f"event {place.event}"] if place.event is not None else []
    parts += [place.sub_goal] if place.sub_goal is not None else []
    return ", ".join(parts) or "run"
