"""Is the workspace as it should be? One check a thing that can go wrong, each with what to do about it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from sqlalchemy import Connection, Engine, func, select

from untaken.errors import UntakenError
from untaken.ledger import verify_ledger
from untaken.limits import MIB
from untaken.workspace import records
from untaken.workspace.content import digest_of
from untaken.workspace.database import reading
from untaken.workspace.removing import KEPT_DAYS
from untaken.workspace.schema import DATABASE, ROOMS, revision
from untaken.workspace.stored_file import StoredFile
from untaken.workspace.tables import appends, bundled, files, graph_versions, heads

Progress = Callable[[int, int, str], None]
State = Literal["ok", "note", "fault"]
NAMED: Final = 20
"""Files named in one check; the rest are counted."""
LOG_BYTES: Final = 256 * MIB
LOW_BYTES: Final = 100 * MIB
_AT_WORK: Final = timedelta(minutes=10)  # an append takes seconds: after this long it was interrupted
_RESTORE: Final = "Restore the last backup; keep this folder until that is done."


class HealthCheck(Struct, frozen=True, kw_only=True):
    """What one check found.

    Attributes:
        name: of the check.
        state: ``fault`` where something is wrong, ``note`` where something is worth knowing.
        message: in words; `hint`: what to do, where there is something to do.
        files: names of the affected files (untrusted), the first ones.
    """

    name: str
    state: State
    message: str
    hint: str = ""
    files: tuple[str, ...] = ()


class Diagnosis(Struct, frozen=True, kw_only=True):
    """Every check, in order."""

    checks: tuple[HealthCheck, ...]

    @property
    def healthy(self) -> bool:
        """Whether no check found a fault."""
        return all(check.state != "fault" for check in self.checks)


def diagnose(engine: Engine, folder: Path, progress: Progress | None = None) -> Diagnosis:
    """Every check of a workspace; what is damaged is reported, not repaired.

    A check that meets a damaged page is a fault; the others are made all the same.
    """
    # Each by itself: one that fails must not silence the others.
    checks = [_asked(engine, *check) for check in (("database", _database), ("rows", _rows))]
    checks.append(_asked(engine, "appends", _appends))
    try:
        with reading(engine) as connection:
            here = records.all_files(connection, folder)
            removed = records.all_files(connection, folder, removed=True)
        stored = [file for file in (*here, *removed) if file.path is not None]
        checks.append(_files(engine, folder, stored, progress))
        checks.append(_orphans(folder, stored))
        checks.append(_removed(removed))
    except UntakenError as error:
        checks.append(unanswered("rows of files", error))
    if engine.dialect.name == "sqlite":
        checks.append(_log(folder / f"{DATABASE}-wal"))
    return Diagnosis(checks=(*checks, free_space(folder)))


def _asked(engine: Engine, name: str, check: Callable[[Connection], HealthCheck]) -> HealthCheck:
    try:
        with reading(engine) as connection:
            return check(connection)
    except UntakenError as error:
        return unanswered(name, error)


def unanswered(name: str, error: UntakenError) -> HealthCheck:
    """A check that the database does not answer."""
    hint = _RESTORE if error.code == "workspace-damaged" else error.hint
    return HealthCheck(name=name, state="fault", message=error.message, hint=hint)


def _database(connection: Connection) -> HealthCheck:
    known = revision(connection)
    if connection.dialect.name == "sqlite":
        result = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())  # one fault is enough
        if result != "ok":
            return HealthCheck(
                name="database", state="fault", message=f"SQLite says: {result}", hint=_RESTORE
            )
        return HealthCheck(name="database", state="ok", message=f"SQLite, tables at {known}")
    version = connection.exec_driver_sql("SHOW server_version").scalar_one()
    return HealthCheck(name="database", state="ok", message=f"PostgreSQL {version}, tables at {known}")


def _rows(connection: Connection) -> HealthCheck:
    """Heads, versions and what is bundled refer to existing files."""
    known = select(files.c.digest)
    lost = [
        *connection.scalars(select(heads.c.run_id).where(~heads.c.file.in_(known))),
        *connection.scalars(select(graph_versions.c.graph_id).where(~graph_versions.c.file.in_(known))),
        *connection.scalars(select(bundled.c.name).where(~bundled.c.bundle.in_(known))),
    ]
    if lost:
        return HealthCheck(
            name="rows",
            state="fault",
            message=f"{len(lost)} heads, versions or ledgers refer to files that are not in the database",
            hint="Restore the last backup.",
            files=some(lost),
        )
    count = connection.execute(select(func.count()).select_from(heads)).scalar_one()
    return HealthCheck(name="rows", state="ok", message=f"{count} recorded heads, each with its file")


def _appends(connection: Connection) -> HealthCheck:
    rows = connection.execute(select(appends.c.run_id, appends.c.created_at)).all()
    old = [r.run_id for r in rows if datetime.fromisoformat(r.created_at) < datetime.now(UTC) - _AT_WORK]
    if old:
        return HealthCheck(
            name="appends",
            state="fault",
            message=f"{len(old)} appends were started and neither completed nor undone",
            hint="Stop all writers to this workspace and run this again. Opening it resolves them.",
            files=some(old),
        )
    at_work = f"{len(rows)} appends are under way" if rows else "no append is unfinished"
    return HealthCheck(name="appends", state="note" if rows else "ok", message=at_work)


def _files(engine: Engine, folder: Path, stored: list[StoredFile], progress: Progress | None) -> HealthCheck:
    damaged = []
    for done, file in enumerate(stored, start=1):
        fault = _fault(engine, folder, file)
        damaged += [f"{file.name} ({fault})"] if fault else []
        if progress:
            progress(done, len(stored), file.name)
    if damaged:
        return HealthCheck(
            name="files",
            state="fault",
            message=f"{len(damaged)} of {len(stored)} stored files differ from the added files",
            hint="Add these files again, or restore the last backup.",
            files=some(damaged),
        )
    return HealthCheck(name="files", state="ok", message=f"{len(stored)} stored files match the added files")


def _fault(engine: Engine, folder: Path, file: StoredFile) -> str | None:
    """What is wrong with a stored file. A ledger may have been appended to: its recorded heads tell."""
    if file.path is None or not file.path.is_file():
        return "gone"
    bytes_digest = file.path.name.split(".")[0]  # of a trace, `file.digest` is that of its name too
    same = digest_of(file.path) == bytes_digest
    if file.kind == "ledger":
        return _broken(engine, folder, file, same=same)
    return None if same else "other bytes"


def _broken(engine: Engine, folder: Path, file: StoredFile, *, same: bool) -> str | None:
    """The runs that are not what was recorded here; one that came broken, and is as it came, is no fault."""
    from untaken.workspace.appending import ledger_snapshot  # noqa: PLC0415 (slow)

    with reading(engine) as connection:
        own = select(heads.c.run_id).where(heads.c.file == file.digest, heads.c.accepted)
        accepted = set(connection.scalars(own))
    try:
        with ledger_snapshot(engine, folder, file.digest) as now:
            verdicts = verify_ledger(now.front, heads=now.heads, name=file.name)
    except UntakenError as error:
        return error.message
    # A file as it was added answers only for runs whose heads it gave. One that was appended to answers for
    # all its runs but those that another file took over, and for lines of no run ("").
    checked = accepted if same else {"", *now.heads} - now.superseded
    broken = [f"{i.run_id}: {i.verdict}" for i in verdicts if i.broken and i.run_id in checked]
    return ", ".join(broken[:3]) or None


def _orphans(folder: Path, stored: list[StoredFile]) -> HealthCheck:
    """Files in the workspace's rooms that no row names, left by a crash or put there by hand."""
    known = {file.path for file in stored}
    found = (path for room in ROOMS for path in (folder / room).iterdir())
    strange = [
        p for p in (*found, *folder.glob(".adding-*")) if p not in known and not _is_companion(p, known)
    ]
    if not strange:
        return HealthCheck(name="orphans", state="ok", message="no file without a row")
    return HealthCheck(
        name="orphans",
        state="note",
        message=f"{len(strange)} unused files without a row",
        hint="Delete them while no files are being added, or add them by name.",
        files=some(sorted(path.relative_to(folder).as_posix() for path in strange)),
    )


def _is_companion(path: Path, known: set[Path | None]) -> bool:
    """Whether a file is kept beside a ledger: its heads, its journal, a lock."""
    if path.name.startswith(".") and path.name.endswith(".lock"):
        return True
    ledger = path.with_name(path.name.split(".heads.", 1)[0])
    return ledger != path and ledger in known


def _removed(removed: list[StoredFile]) -> HealthCheck:
    if not removed:
        return HealthCheck(name="removed", state="ok", message="nothing is removed")
    size = sum(file.bytes for file in removed)
    words = f"{len(removed)} removed files ({size:,} bytes) are deleted {KEPT_DAYS} days after their removal"
    return HealthCheck(name="removed", state="note", message=words, files=some(f.name for f in removed))


def _log(wal: Path) -> HealthCheck:
    """The write-ahead log is folded into the database as long as no reader holds it back."""
    size = wal.stat().st_size if wal.is_file() else 0
    if size > LOG_BYTES:
        hint = "A process keeps a read open. Close all apps and notebooks that use the workspace."
        return HealthCheck(
            name="log", state="note", message=f"the log has grown to {size:,} bytes", hint=hint
        )
    return HealthCheck(name="log", state="ok", message=f"write-ahead log of {size:,} bytes")


def free_space(folder: Path) -> HealthCheck:
    """Whether the disk has room."""
    free = shutil.disk_usage(folder).free
    if free < LOW_BYTES:
        hint = "Free some space, or move the workspace: untaken workspace backup, then restore."
        return HealthCheck(name="disk", state="fault", message=f"only {free:,} bytes are free", hint=hint)
    return HealthCheck(name="disk", state="ok", message=f"{free / 1024**3:,.1f} GiB free")


def some(names: Iterable[str]) -> tuple[str, ...]:
    """The first names, and how many more there are."""
    listed = list(names)
    more = (f"and {len(listed) - NAMED} more",) if len(listed) > NAMED else ()
    return (*listed[:NAMED], *more)
