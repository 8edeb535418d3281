"""``untaken workspace``: back a workspace up, restore it, and ask whether it is well."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from untaken import workspace as store
from untaken.cli.console import Console, plain
from untaken.cli.grammar import Parser, UsageError, Verbs, group, verb
from untaken.errors import Where
from untaken.numbers import counted
from untaken.views import (
    BACKUP_DOCUMENT,
    DOCTOR_DOCUMENT,
    REBUILT_WORKSPACE,
    RESTORE_DOCUMENT,
    Part,
)

FOLDER: Final = "UNTAKEN_WORKSPACE"
DEFAULT: Final = "untaken-workspace"
STORE: Final = "UNTAKEN_STORE"
STATES: Final = {"ok": "ok", "note": "note", "fault": "FAULT"}


def add_to(verbs: Verbs) -> None:
    """Adds the verb and its three parts."""
    parts = group(verbs, "workspace")
    backup = verb(parts, "backup", back_up, "back up a workspace to one archive, even while it is in use")
    backup.add_argument("target", metavar="TARGET", help="the archive, or a folder for it")
    _takes_workspace(backup)
    restore = verb(parts, "restore", restored, "create a workspace from a backup; never overwrites")
    restore.add_argument("archive", metavar="ARCHIVE", help="an archive written by `workspace backup`")
    words = "must not exist yet, or be empty"
    restore.add_argument("-o", "--out", "--to", dest="to", metavar="FOLDER", help=words, required=True)
    doctor = verb(parts, "doctor", examined, "compare every stored file with its record; exit 1 on a fault")
    doctor.takes_one(
        "--rebuild",
        "FOLDER",
        "if the database is damaged: create a new workspace there from this one's files",
    )
    _takes_workspace(doctor)


def back_up(args: argparse.Namespace, console: Console) -> int:
    """Writes a backup; 1 where a stored file is damaged."""
    with store.Workspace(_existing(args)) as workspace:
        done = workspace.backup(args.target, progress=console.progress)
    console.findings(done.findings)
    held = f"{counted(done.files, 'file')}, {counted(done.rows, 'row')}, {done.bytes:,} bytes"
    console.say(f"{plain(done.path)}: {held}")
    console.document(BACKUP_DOCUMENT(done, file=str(done.path)))
    return 1 if done.findings else 0


def restored(args: argparse.Namespace, console: Console) -> int:
    """Makes a workspace out of a backup."""
    done = store.restore_workspace(Path(args.archive), Path(args.to), os.environ.get(STORE))
    held = f"{counted(done.files, 'file')}, {counted(done.rows, 'row')}"
    console.say(f"{plain(done.folder)}: {held}, as of {plain(done.made_at, 40)}")
    console.document(RESTORE_DOCUMENT(done, folder=str(done.folder)))
    return 0


def examined(args: argparse.Namespace, console: Console) -> int:
    """Prints what each check found; 1 on a fault."""
    folder = _existing(args)
    diagnosis = store.examine(folder, os.environ.get(STORE), console.progress)
    state = ("state", lambda check: STATES[check.state])
    console.columns(diagnosis.checks, state, "check=name, what was found=message")
    for check in diagnosis.checks:
        for name in check.files:
            console.say(f"  {check.name}: {plain(name, 200)}")
        if check.hint:
            console.say(f"  {check.name} → {check.hint}")
    rebuilt = _rebuilt(folder, args.rebuild, console) if args.rebuild else None
    console.document(DOCTOR_DOCUMENT(diagnosis, rebuilt=rebuilt))
    return 0 if diagnosis.healthy else 1


def _rebuilt(folder: Path, target: str, console: Console) -> Part:
    """Makes a new workspace of the files of this one."""
    done = store.rebuild_workspace(folder, Path(target), os.environ.get(STORE))
    console.findings(done.findings)
    held = f"{counted(done.ledgers, 'ledger')}, {counted(done.graphs, 'plan graph')}"
    console.say(f"{plain(done.folder)}: rebuilt with {held}")
    return REBUILT_WORKSPACE(done, folder=str(done.folder))


def _takes_workspace(parser: Parser) -> None:
    parser.takes_one("--workspace", "FOLDER", f"default: ${FOLDER}, else {DEFAULT}; never created")


def _existing(args: argparse.Namespace) -> Path:
    folder = Path(args.workspace or os.environ.get(FOLDER) or DEFAULT)
    # Where `untaken app FOLDER` keeps the workspace of plain files.
    for place in (folder, folder / ".untaken"):
        if store.is_workspace(place):
            return place
    raise UsageError(
        "workspace-not-found",
        "no workspace in this folder",
        where=Where(file=str(folder)),
        hint="Name its folder with --workspace.",
    )
