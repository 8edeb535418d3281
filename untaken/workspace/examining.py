"""The doctor: a diagnosis that is given also where the database is damaged, or cannot be opened at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import Run, heads_path, open_view, read_ledger
from untaken.workspace.archive import LOOSE_FILE
from untaken.workspace.content import GRAPHS, LEDGERS, digest_of
from untaken.workspace.database import open_engine, writing
from untaken.workspace.diagnosing import (
    Diagnosis,
    HealthCheck,
    Progress,
    diagnose,
    free_space,
    some,
    unanswered,
)
from untaken.workspace.faults import damaged, integrity
from untaken.workspace.schema import DATABASE
from untaken.workspace.workspace import Workspace

PATIENCE: Final = 2.0
"""Seconds that the doctor waits for another program that holds the database: it has to answer then, too."""
DIGEST_CHARS: Final = 64


class KeptFile(Struct, frozen=True, kw_only=True):
    """A ledger or plan graph of a workspace as its folder alone shows it.

    Attributes:
        digest: of its bytes when it was added: its name.
        kind: ``ledger`` or ``graph``.
        runs: of a ledger, the unbroken ones.
        fault: why it cannot be used; empty where it can.
    """

    path: Path
    digest: str
    kind: str
    runs: int = 0
    fault: str = ""


def examine(folder: Path, url: str | None = None, progress: Progress | None = None) -> Diagnosis:
    """Examines a workspace, whatever state its database is in.

    Where the database is as it should be, this opens the workspace, which settles interrupted appends, and
    deletes what was removed 30 days ago. Where it is not, nothing is changed.

    Args:
        folder: the workspace's.
        url: address of its PostgreSQL database; default: SQLite in the folder.
        progress: called after each file.
    """
    fault = _opened(folder, url)
    if fault is None:
        with Workspace(folder) as workspace:
            return workspace.diagnose(progress)
    checks: tuple[HealthCheck, ...] = ()
    if fault.code == "workspace-damaged":
        engine = open_engine(folder / DATABASE, url, busy_seconds=PATIENCE)
        try:
            checks = diagnose(engine, folder, progress).checks
        finally:
            engine.dispose()
    # The pages are sound, so say why it could not be opened.
    if all(check.state != "fault" for check in checks if check.name == "database"):
        checks = (unanswered("database", fault), *(check for check in checks if check.name != "database"))
    kept = list(kept_files(folder))
    rest = [_whole(kept), free_space(folder)]
    known = {check.name for check in checks}
    rest = [check for check in rest if check.name not in known]
    return Diagnosis(checks=(*checks, *rest, *_rebuildable(kept, fault)))


def kept_files(folder: Path) -> Iterator[KeptFile]:
    """The ledgers and plan graphs in a workspace's folder, by what their names and their bytes say."""
    for room, suffixes, kind in (("ledgers", LEDGERS, "ledger"), ("graphs", (*GRAPHS, ".mmd"), "graph")):
        for path in sorted((folder / room).glob("*")):
            digest = path.name.split(".", 1)[0]
            if path.is_file() and path.name.endswith(suffixes) and len(digest) == DIGEST_CHARS:
                yield _kept(path, digest, kind)


def _kept(path: Path, digest: str, kind: str) -> KeptFile:
    same = digest_of(path) == digest
    if kind == "graph":
        return KeptFile(path=path, digest=digest, kind=kind, fault="" if same else "other bytes")
    try:
        runs: list[Run] = read_ledger(path, strict=False)[0]
        anchored = heads_path(path).exists() or bool(open_view(path, heads=None, name=None).heads)
    except UntakenError as error:
        return KeptFile(path=path, digest=digest, kind=kind, fault=error.message)
    sound = [run for run in runs if not run.integrity.broken]
    if not (same or (anchored and len(sound) == len(runs))):  # what was appended to has its heads beside it
        return KeptFile(path=path, digest=digest, kind=kind, runs=len(sound), fault="other bytes")
    return KeptFile(path=path, digest=digest, kind=kind, runs=len(sound))


def _opened(folder: Path, url: str | None) -> UntakenError | None:
    """Why the database cannot be used; ``None`` where it can."""
    try:
        engine = open_engine(folder / DATABASE, url, busy_seconds=PATIENCE)
    except UntakenError as error:
        return error
    try:
        with writing(engine):  # fails early if it is locked: `Workspace` would wait much longer
            pass
        if engine.dialect.name == "sqlite" and (damage := integrity(engine)) != "ok":
            return damaged(engine.url, damage)
        with Workspace(folder) as workspace:
            workspace.purge()
    except UntakenError as error:
        return error
    finally:
        engine.dispose()
    return None


def _whole(kept: list[KeptFile]) -> HealthCheck:
    bad = [f"{file.kind} {file.digest[:12]} ({file.fault})" for file in kept if file.fault]
    if bad:
        message = f"{len(bad)} of {len(kept)} ledgers and plan graphs differ from the added files"
        hint = "Restore the last backup, or add these files again."
        return HealthCheck(name="files", state="fault", message=message, hint=hint, files=some(bad))
    return HealthCheck(name="files", state="ok", message=f"{len(kept)} ledgers and plan graphs are intact")


def _rebuildable(kept: list[KeptFile], fault: UntakenError) -> list[HealthCheck]:
    """What a workspace can be made of that has lost its database."""
    if fault.code != "workspace-damaged":
        return []
    sound = [file for file in kept if not file.fault]
    ledgers = sum(file.kind == "ledger" for file in sound)
    runs = sum(file.runs for file in sound)
    message = (
        f"{ledgers} ledgers ({runs} runs, with the verdicts and notes in them) and {len(sound) - ledgers} "
        "plan graphs can be rebuilt from the stored files. Reviews, drafts, removals and the audit log "
        "need a backup"
    )
    hint = "`untaken workspace doctor --rebuild FOLDER` creates a new workspace from them."
    return [HealthCheck(name="rebuild", state="note", message=message, hint=hint)]


def loose_files(folder: Path) -> list[Path]:
    """Files beside the rooms that a workspace keeps, such as its policy memory."""
    return sorted(path for path in folder.iterdir() if LOOSE_FILE.fullmatch(path.name) and path.is_file())


def unusable(file: KeptFile) -> Finding:
    """The finding that names a file left behind."""
    return Finding(
        code="stored-file-damaged",
        message=f"this {file.kind} was not copied: {file.fault}",
        where=Where(file=file.path.name),
        hint="Add the file again.",
        severity="error",
    )
