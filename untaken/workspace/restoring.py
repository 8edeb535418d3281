"""A workspace out of a backup, which may come from anybody: every name, size and digest is checked first."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import msgspec
from sqlalchemy import Boolean, Connection, Engine, Integer, Table, insert, select
from sqlalchemy.exc import DataError, IntegrityError, StatementError

from untaken import limits
from untaken.errors import Finding, UntakenError, Where
from untaken.ledger import disk
from untaken.limits import MIB
from untaken.workspace.archive import (
    DUMPED,
    FILES,
    LOOSE_FILE,
    MANIFEST,
    ROOM_FILE,
    SINCE,
    TABLES,
    ArchiveMember,
    Manifest,
)
from untaken.workspace.database import open_engine, reading, writing
from untaken.workspace.records import batched
from untaken.workspace.schema import DATABASE, REVISION, ROOMS, newer, prepare, revision

_LISTS: Final[Mapping[str, Any]] = {
    "findings": tuple[Finding, ...],
    "loss": tuple[str, ...],
    "tags": list[str],
}
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SPARE: Final = 64 * MIB
_NO_ARCHIVE: Final = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What a damaged archive makes `zipfile` raise."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace that was restored, and from what."""

    folder: Path
    made_at: str
    files: int
    rows: int


def restore_workspace(archive: Path, folder: Path, url: str | None = None) -> Restored:
    """Makes a workspace out of a backup, whole or not at all.

    Args:
        archive: as `Workspace.backup` wrote it; untrusted.
        folder: where the workspace is made; must not exist, or be empty.
        url: address of a PostgreSQL database without a workspace; default: SQLite in the folder.

    Raises:
        UntakenError: ``restore-not-empty``, ``restore-no-space``, ``backup-damaged``, ``workspace-newer``.
        OSError: where the archive cannot be read, or the disk fails.
    """
    refuse_used(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside it, so that the last step is a rename.
    staging = Path(mkdtemp(prefix=".restoring-", dir=folder.parent))
    try:
        manifest = _unpack(archive, staging)
        engine = open_engine(staging / DATABASE, url)
        try:
            _refuse_occupied(engine)
            prepare(engine, staging)
            _fill(engine, archive, staging, manifest)
        finally:
            engine.dispose()  # before the folder is renamed
        shutil.rmtree(staging / TABLES)
        if folder.exists():
            folder.rmdir()
        disk.rename(staging, folder)
        disk.sync_folder(folder.parent)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    files = sum(entry.path.startswith(FILES) for entry in manifest.entries)
    return Restored(folder=folder, made_at=manifest.made_at, files=files, rows=sum(manifest.rows.values()))


def refuse_used(folder: Path) -> None:
    """A workspace is made in a folder that does not exist, or is empty.

    Raises:
        UntakenError: ``restore-not-empty``.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise _not_empty(str(folder), "the folder is not empty", "Choose a folder that does not exist yet.")


def _unpack(archive: Path, staging: Path) -> Manifest:
    """Puts every member in place after its name was checked, and compares it with the manifest."""
    try:
        with zipfile.ZipFile(archive) as zipped:
            manifest = _manifest(archive, zipped)
            need = sum(entry.bytes for entry in manifest.entries)
            free = shutil.disk_usage(staging).free
            if need + _SPARE > free:
                raise UntakenError(
                    "restore-no-space",
                    f"the backup needs {need:,} bytes, and {free:,} are free",
                    where=Where(file=str(staging.parent)),
                    hint="Free some space, or restore to another disk.",
                )
            for room in (*ROOMS, TABLES):
                (staging / room).mkdir()
            for entry in manifest.entries:
                _extract(archive, zipped, entry, staging / entry.path.removeprefix(FILES))
    except _NO_ARCHIVE as error:
        raise _damaged(archive, f"it is not a complete zip archive ({error})") from None
    return manifest


def _manifest(archive: Path, zipped: zipfile.ZipFile) -> Manifest:
    listed = zipped.infolist()
    if any(info.header_offset < 0 for info in listed):  # `zipfile` takes missing bytes for a missing prefix
        raise _damaged(archive, "some of its bytes are missing")
    if len(listed) > limits.BACKUP_MEMBERS:
        raise _damaged(archive, f"it lists {len(listed)} members")
    try:
        with zipped.open(MANIFEST) as member:
            manifest = msgspec.json.decode(member.read(limits.BACKUP_MANIFEST_BYTES), type=Manifest)
    except (KeyError, msgspec.DecodeError, msgspec.ValidationError):
        raise _damaged(archive, "it has no workspace manifest") from None
    if manifest.revision > REVISION:
        raise newer(manifest.revision, Where(file=str(archive)))
    names = [entry.path for entry in manifest.entries]
    # Sorted lists, not sets, so that a name listed twice is noticed.
    if sorted([*names, MANIFEST]) != sorted(info.filename for info in listed):
        raise _damaged(archive, "its members do not match its manifest")
    dumped = {table.name for table in DUMPED if SINCE.get(table.name, "") <= manifest.revision}
    tables = {f"{TABLES}{name}.jsonl" for name in dumped}
    if not tables <= set(names) or manifest.rows.keys() != dumped:
        raise _damaged(archive, "a table is missing")
    for name in set(names) - tables:  # the names become paths
        path = name.removeprefix(FILES)
        if not (path != name and (ROOM_FILE.fullmatch(path) or LOOSE_FILE.fullmatch(path))):
            raise _damaged(archive, f"unexpected file {name[:200]!r}")
    return manifest


def _extract(archive: Path, zipped: zipfile.ZipFile, entry: ArchiveMember, target: Path) -> None:
    hasher, left = hashlib.sha256(), entry.bytes
    with zipped.open(entry.path) as source, target.open("xb") as out:  # never over a file that is there
        while left >= 0 and (piece := source.read(MIB)):  # stops when it is longer than the manifest says
            hasher.update(piece)
            left -= len(piece)
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())
    if left or hasher.hexdigest() != entry.sha256:
        raise _damaged(archive, f"{entry.path} differs from the backed-up file")


def _refuse_occupied(engine: Engine) -> None:
    with reading(engine) as connection:
        if revision(connection) is None:
            return
        occupied = any(connection.execute(select(table).limit(1)).first() for table in DUMPED)
    if occupied:
        hint = "Restore into an empty database, or without UNTAKEN_STORE into SQLite."
        raise _not_empty(str(engine.url.database), "the database already contains a workspace", hint)


def _fill(engine: Engine, archive: Path, staging: Path, manifest: Manifest) -> None:
    with writing(engine) as connection:
        try:
            for table in (table for table in DUMPED if table.name in manifest.rows):
                rows = _insert(connection, table, staging / TABLES / f"{table.name}.jsonl")
                if rows != manifest.rows[table.name]:
                    raise ValueError(f"{rows} rows of {table.name}")
        except (ValueError, OverflowError, DataError, IntegrityError) as error:
            raise _damaged(archive, f"its tables do not fit: {str(error)[:200]}") from None
        except StatementError as error:  # a value that the column's type refuses
            if isinstance(error.orig, (ValueError, OverflowError)):
                raise _damaged(archive, f"its tables do not fit: {str(error.orig)[:200]}") from None
            raise


def _insert(connection: Connection, table: Table, path: Path) -> int:
    count = 0
    for batch in batched(_rows(table, path)):
        connection.execute(insert(table), batch)
        count += len(batch)
    return count


def _rows(table: Table, path: Path) -> Iterator[dict[str, Any]]:
    decoder = msgspec.json.Decoder(dict[str, str | int | bool | None])
    with path.open("rb") as stream:
        while line := stream.readline(limits.BACKUP_ROW_BYTES):
            row = decoder.decode(line)
            _check(table, row)
            yield row


def _check(table: Table, row: Mapping[str, Any]) -> None:
    """Raises ValueError where a row is none that this program wrote: what is read later relies on it."""
    columns = {column.name: column for column in table.c if not column.primary_key}
    if row.keys() != columns.keys():
        raise ValueError(f"a row of {table.name} with other columns")
    for name, value in row.items():
        column = columns[name]
        if value is None:
            fits = bool(column.nullable)
        elif isinstance(column.type, (Boolean, Integer)):
            fits = type(value) is (bool if isinstance(column.type, Boolean) else int)  # a bool is an int, too
        else:
            fits = isinstance(value, str)
        if not fits:
            raise ValueError(f"{value!r:.80} as {name} of {table.name}")
        if value is not None and (name.endswith("_at") or name == "ts"):
            datetime.fromisoformat(value)
        if name in _LISTS:
            msgspec.json.decode(value, type=_LISTS[name])
    if table.name == "files" and row["path"] is not None and not ROOM_FILE.fullmatch(row["path"]):
        raise ValueError(f"{row['path'][:80]!r} as the path of a file")
    if table.name == "bundled" and not _DIGEST.fullmatch(row["digest"]):  # it becomes the name of a file
        raise ValueError(f"{row['digest'][:80]!r} as the digest of a ledger")


def _damaged(archive: Path, why: str) -> UntakenError:
    return UntakenError(
        "backup-damaged",
        f"this is not a valid backup: {why}",
        where=Where(file=str(archive)),
        hint="Nothing was changed. Use another backup.",
    )


def _not_empty(place: str, why: str, hint: str) -> UntakenError:
    return UntakenError("restore-not-empty", why, where=Where(file=place), hint=hint)
