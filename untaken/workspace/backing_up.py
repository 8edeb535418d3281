"""Backing a workspace up while it is in use."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Final

import msgspec
from sqlalchemy import Connection, Engine, Table, select

from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import disk
from untaken.limits import MIB
from untaken.workspace import records
from untaken.workspace.archive import (
    DUMPED,
    FILES,
    LOOSE_FILE,
    MANIFEST,
    NUMBERED,
    TABLES,
    ArchiveMember,
    Manifest,
)
from untaken.workspace.database import is_read_only, reading, writing
from untaken.workspace.schema import REVISION
from untaken.workspace.stored_file import StoredFile
from untaken.workspace.tables import appends

Progress = Callable[[int, int, str], None]
ATTEMPTS: Final = 3
_IN_MEMORY: Final = 16 * MIB
_COMPRESSED: Final = (".gz", ".zst")


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """A backup that was written.

    Attributes:
        rows: of all tables.
        findings: stored files that are missing or damaged, also in the backup.
    """

    path: Path
    bytes: int
    files: int
    rows: int
    findings: tuple[Finding, ...] = ()


class _Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the workspace as far as it counts: a ledger is only ever longer later."""

    path: str
    size: int
    file: StoredFile | None = None


class _Moved(Exception):
    """A file went away while it was to be copied."""


def back_up(engine: Engine, folder: Path, target: Path, progress: Progress | None = None) -> Backup:
    """Writes a backup, whole or not at all.

    The tables and the size of every file are taken under the write lock, in one moment; the files are copied
    after it, each up to that size.

    Raises:
        UntakenError: ``backup-exists``; ``workspace-busy`` where files keep going away meanwhile.
    """
    made_at = datetime.now(UTC)
    if target.is_dir():
        target = target / f"untaken-workspace-{made_at:%Y%m%dT%H%M%SZ}.zip"
    if target.exists():
        raise UntakenError(
            "backup-exists",
            "the file already exists",
            where=Where(file=str(target)),
            hint="Name another.",
        )
    part = target.with_name(f".{target.name}.part")
    try:
        for _ in range(ATTEMPTS):
            try:
                files, rows, findings = _write(engine, folder, part, made_at, progress)
            except _Moved:
                continue
            disk.rename(part, target)
            disk.sync_folder(target.parent)
            size = target.stat().st_size
            return Backup(path=target, bytes=size, files=files, rows=rows, findings=findings)
    finally:
        part.unlink(missing_ok=True)
    raise UntakenError(
        "workspace-busy",
        "stored files were removed repeatedly while being copied",
        where=Where(file=str(folder)),
        hint="Try again, or run `untaken workspace doctor`.",
    )


def _write(
    engine: Engine, folder: Path, part: Path, made_at: datetime, progress: Progress | None
) -> tuple[int, int, tuple[Finding, ...]]:
    with (
        open(part, "wb", opener=_private) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        entries: list[ArchiveMember] = []
        findings: list[Finding] = []
        rows: dict[str, int] = {}
        # Tables are spooled here and compressed after the transaction, because writers wait for its lock.
        with SpooledTemporaryFile(_IN_MEMORY) as spool:
            # A read-only database has no write lock to take.
            with (reading if is_read_only(engine) else writing)(engine) as connection:
                ends = [(table.name, *_dump(connection, table, spool)) for table in DUMPED]
                wanted = list(_wanted(connection, folder))
            spool.seek(0)
            for name, rows[name], size in ends:
                entries.append(_member(archive, f"{TABLES}{name}.jsonl", spool, size))
        for done, one in enumerate(wanted, start=1):
            entry, finding = _copied(archive, folder, one)
            entries += [entry] if entry else []
            findings += [finding] if finding else []
            if progress:
                progress(done, len(wanted), one.file.name if one.file else one.path)
        manifest = Manifest(made_at=made_at.isoformat(), revision=REVISION, rows=rows, entries=entries)
        archive.writestr(MANIFEST, msgspec.json.encode(manifest))
        archive.close()  # writes the directory of the archive, which has to be synced, too
        stream.flush()
        disk.fsync(stream.fileno())
    files = sum(entry.path.startswith(FILES) for entry in entries)
    return files, sum(rows.values()), tuple(findings)


def _private(path: str, flags: int) -> int:
    """A backup holds everything that a workspace does: its owner alone may read it."""
    return os.open(path, flags, 0o600)


def _dump(connection: Connection, table: Table, out: IO[bytes]) -> tuple[int, int]:
    """Writes a table's rows in their order; how many, and how many bytes."""
    start, count = out.tell(), 0
    columns = [column for column in table.c if column.name != NUMBERED]
    for row in connection.execute(select(*columns).order_by(table.c[NUMBERED])):
        out.write(msgspec.json.encode(dict(row._mapping)) + b"\n")
        count += 1
    return count, out.tell() - start


def _wanted(connection: Connection, folder: Path) -> Iterator[_Wanted]:
    """Every file with its size now; of a ledger that is being appended to, the size before."""
    begun = connection.execute(select(appends.c.file, appends.c.bytes_before)).all()
    before = {row.file: row.bytes_before for row in begun}
    # Removed files are included: they can still be restored.
    stored = [*records.all_files(connection, folder), *records.all_files(connection, folder, removed=True)]
    seen: set[Path] = set()
    for file in stored:
        if file.path is None or file.path in seen:  # two traces with different names may have the same bytes
            continue
        seen.add(file.path)
        size = file.path.stat().st_size if file.path.is_file() else -1
        size = min(size, before.get(file.digest, size))
        yield _Wanted(path=file.path.relative_to(folder).as_posix(), size=size, file=file)
    for path in sorted(folder.iterdir()):
        # A link could point to a file outside of the workspace.
        if LOOSE_FILE.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            yield _Wanted(path=path.name, size=path.stat().st_size)


def _copied(
    archive: zipfile.ZipFile, folder: Path, wanted: _Wanted
) -> tuple[ArchiveMember | None, Finding | None]:
    """Copies a file, and says where it differs from the added file."""
    name, file = FILES + wanted.path, wanted.file
    if wanted.size < 0:
        return None, _damaged(file, "is gone")
    try:
        with (folder / wanted.path).open("rb") as source:
            now = os.fstat(source.fileno()).st_size
            grows = file is not None or wanted.path.endswith(".jsonl")
            if grows and now < wanted.size:
                raise _Moved
            entry = _member(archive, name, source, wanted.size if grows else now)  # others are replaced whole
    except FileNotFoundError:
        raise _Moved from None
    # Only graphs can be compared: ledgers grow, and the digest of a trace also covers its name.
    changed = file and file.kind == "graph" and entry.sha256 != file.digest
    return entry, _damaged(file, "differs from the added file") if changed else None


def _member(archive: zipfile.ZipFile, name: str, source: IO[bytes], size: int) -> ArchiveMember:
    """Copies the next `size` bytes into the archive, hashing them on the way."""
    hasher, left = hashlib.sha256(), size
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_STORED if name.endswith(_COMPRESSED) else zipfile.ZIP_DEFLATED
    with archive.open(info, "w", force_zip64=True) as member:  # the size is not known in advance
        while left and (piece := source.read(min(left, MIB))):
            hasher.update(piece)
            member.write(piece)
            left -= len(piece)
    if left:
        raise _Moved
    return ArchiveMember(path=name, bytes=size, sha256=hasher.hexdigest())


def _damaged(file: StoredFile | None, how: str) -> Finding:
    return Finding(
        code="stored-file-damaged",
        message=f"the workspace's copy of this file {how}; the backup has the same fault",
        where=Where(file=file.name if file else None),
        hint="Add the file again and create another backup.",
        severity="error",
    )
