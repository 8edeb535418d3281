"""Rows of the workspace database as objects, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    Text,
    case,
    cast,
    func,
    insert,
    select,
    true,
    type_coerce,
    update,
)

from untaken.errors import Finding
from untaken.ledger import Head
from untaken.workspace.anchoring import Anchored
from untaken.workspace.faults import of_row, row_reader
from untaken.workspace.stored_file import AuditEntry, StoredFile
from untaken.workspace.tables import appends, audit, files, heads, own_events, removals

FINDINGS_PER_FILE: Final = 500
"""Most findings kept of a file; more are only counted: a hostile file may have a fault in every line."""

AUDIT_ENTRIES: Final = 100_000
VALUES_PER_STATEMENT: Final = 500
_T = TypeVar("_T")


def now() -> str:
    """The moment, as the database writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def bounded(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """At most `FINDINGS_PER_FILE` findings; the last one says how many more there were."""
    if len(findings) <= FINDINGS_PER_FILE:
        return tuple(findings)
    more = len(findings) - FINDINGS_PER_FILE + 1
    rest = Finding(code="more-findings", message=f"{more} more findings are not listed.", severity="note")
    return (*findings[: FINDINGS_PER_FILE - 1], rest)


@row_reader
def stored_file(row: Row[Any], folder: Path) -> StoredFile:
    """A row of `files` as the object callers see."""
    return of_row(
        StoredFile,
        row,
        path=folder / row.path if row.path else None,
        findings=msgspec.json.decode(row.findings, type=tuple[Finding, ...]),
        loss=msgspec.json.decode(row.loss, type=tuple[str, ...]),
    )


def insert_file(connection: Connection, file: StoredFile, folder: Path) -> bool:
    """Writes the row of a file; false where another writer was first with the same bytes."""
    if known_files(connection, [file.digest]):
        return False
    insert_files(connection, [file], folder)
    return True


def insert_files(connection: Connection, given: Iterable[StoredFile], folder: Path) -> None:
    """Writes the rows of files that are not here yet."""
    rows = [
        {
            **{name: getattr(file, name) for name in StoredFile.__struct_fields__},
            "added_at": file.added_at.isoformat(timespec="microseconds"),
            "path": file.path.relative_to(folder).as_posix() if file.path else None,
            **_account(file),
        }
        for file in given
    ]
    if rows:
        connection.execute(insert(files), rows)


def known_files(connection: Connection, digests: Iterable[str]) -> set[str]:
    """Those of the digests that are in the workspace, or were and are removed."""
    asked = (select(files.c.digest).where(part) for part in among(files.c.digest, digests))
    return {digest for one in asked for digest in connection.scalars(one)}


def named_paths(connection: Connection, paths: Iterable[Path], folder: Path) -> set[Path]:
    """Those of the paths that the row of a file names."""
    places = (path.relative_to(folder).as_posix() for path in paths)
    asked = (select(files.c.path).where(part) for part in among(files.c.path, places))
    return {folder / place for one in asked for place in connection.scalars(one) if place}


def known_runs(connection: Connection, run_ids: Iterable[str]) -> set[str]:
    """Those of the run ids of which a head is recorded, of whatever file."""
    asked = (select(heads.c.run_id).where(part) for part in among(heads.c.run_id, run_ids))
    return {run_id for one in asked for run_id in connection.scalars(one)}


def update_account(connection: Connection, file: StoredFile) -> None:
    """Updates the findings and the loss report of a known file."""
    connection.execute(update(files).where(files.c.digest == file.digest).values(_account(file)))


def _account(file: StoredFile) -> dict[str, str]:
    findings = msgspec.json.encode(bounded(file.findings)).decode()
    return {"findings": findings, "loss": msgspec.json.encode(file.loss).decode()}


def find_file(connection: Connection, digest: str, folder: Path) -> StoredFile | None:
    """The file of a digest, if there is one."""
    row = connection.execute(select(files).where(files.c.digest == digest)).one_or_none()
    return None if row is None else stored_file(row, folder)


def find_files(connection: Connection, digests: Iterable[str], folder: Path) -> dict[str, StoredFile]:
    """The files of these digests, by digest, as far as there are any."""
    asked = (select(files).where(part) for part in among(files.c.digest, digests))
    return {row.digest: stored_file(row, folder) for one in asked for row in connection.execute(one)}


def all_files(
    connection: Connection,
    folder: Path,
    *,
    removed: bool = False,
    where: ColumnElement[bool] | None = None,
    first: int = 0,
    most: int | None = None,
) -> list[StoredFile]:
    """The present files (or the restorable ones), in the order in which they were added."""
    gone = files.c.digest.in_(removed_files())
    kept = files.c.digest.in_(removed_files().where(removals.c.purged_at.is_(None)))
    chosen = select(files).where(kept if removed else ~gone).order_by(files.c.position)
    chosen = chosen if where is None else chosen.where(where)
    if most is not None:
        chosen = chosen.offset(first).limit(most)
    return [stored_file(row, folder) for row in connection.execute(chosen).all()]


def count_files(connection: Connection, where: ColumnElement[bool]) -> int:
    """How many present files there are of a kind."""
    counted = select(func.count()).select_from(files).where(~files.c.digest.in_(removed_files()), where)
    return int(connection.execute(counted).scalar_one())


def removed_files() -> Select[tuple[str]]:
    """Digests of the files that are removed now."""
    return select(removals.c.file).where(removals.c.restored_at.is_(None))


def is_removed(connection: Connection, digest: str) -> bool:
    """Whether a file is removed now."""
    return connection.execute(removed_files().where(removals.c.file == digest)).first() is not None


def times_removed(connection: Connection, digest: str) -> int:
    """How many times a file was removed so far."""
    times = select(func.count()).select_from(removals).where(removals.c.file == digest)
    return int(connection.execute(times).scalar_one())


def recorded_heads(
    connection: Connection, run_ids: Iterable[str] | None = None
) -> dict[str, tuple[Head, str | None]]:
    """The recorded head of each of these run ids, or of every one, with the format it was converted from."""
    chosen = (
        select(heads.c.run_id, heads.c.events, heads.c.sha256, files.c.origin)
        .join(files, files.c.digest == heads.c.file)
        .where(heads.c.accepted)
    )
    asked = [chosen] if run_ids is None else [chosen.where(part) for part in among(heads.c.run_id, run_ids)]
    rows = chain.from_iterable(connection.execute(one) for one in asked)
    return {r.run_id: (head_of(r), r.origin) for r in rows}


def ledgers_of(connection: Connection, folder: Path, run_ids: Iterable[str]) -> list[StoredFile]:
    """The ledgers here that hold any of these runs."""
    holding = select(heads.c.file).where(~heads.c.file.in_(removed_files()))
    asked = [holding.where(part) for part in among(heads.c.run_id, run_ids)]
    digests = dict.fromkeys(chain.from_iterable(connection.scalars(one) for one in asked))
    found = (find_file(connection, digest, folder) for digest in digests)
    return [file for file in found if file is not None and file.kind == "ledger"]


def among(column: Column[str], values: Iterable[str]) -> Iterator[ColumnElement[bool]]:
    """Conditions that together choose the rows with these values; databases bound how many one may name."""
    return (column.in_(part) for part in batched(dict.fromkeys(values)))


def batched(values: Iterable[_T]) -> Iterator[list[_T]]:
    """The values, a few hundred at a time."""
    waiting = iter(values)
    while part := list(islice(waiting, VALUES_PER_STATEMENT)):
        yield part


def put(connection: Connection, table: Table, key: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Writes the row of a key, in the place of the one that was there."""
    # SQLite and PostgreSQL have different statements for "insert or update".
    if not connection.execute(update(table).filter_by(**key).values(values)).rowcount:
        connection.execute(insert(table).values({**key, **values}))


def insert_heads(connection: Connection, file: str, anchored: Mapping[str, Anchored]) -> None:
    """Writes what each run of a file is compared with; an accepted head takes the place of an earlier one."""
    accepted = [run_id for run_id, a in anchored.items() if a.accepted]
    for part in among(heads.c.run_id, accepted):
        earlier = update(heads).where(part, heads.c.accepted)
        connection.execute(earlier.values(accepted=False, superseded=True))
    insert_new_heads(connection, {file: anchored})


def insert_new_heads(connection: Connection, anchored: Mapping[str, Mapping[str, Anchored]]) -> None:
    """Writes what the runs of files (by digest) are compared with; no accepted one has a head yet."""
    rows = [
        {
            "run_id": run_id,
            "file": file,
            "events": a.expected.events,
            "sha256": a.expected.sha256,
            "accepted": a.accepted,
            "superseded": False,
            "recorded_at": now(),
        }
        for file, runs in anchored.items()
        for run_id, a in runs.items()
        if a.expected is not None
    ]
    if rows:
        connection.execute(insert(heads), rows)


def expected_heads(
    connection: Connection, digests: Iterable[str]
) -> dict[str, tuple[dict[str, Head], frozenset[str]]]:
    """Of each file, the head to compare each run with, and the run ids that another file has taken over."""
    needed = (heads.c.run_id, heads.c.file, heads.c.events, heads.c.sha256, heads.c.superseded)
    chosen: Select[Any] = select(*needed, heads.c.position).order_by(heads.c.position)
    compared: dict[str, dict[str, Head]] = {digest: {} for digest in digests}
    superseded: dict[str, set[str]] = {}
    for part in among(heads.c.file, compared):
        for row in connection.execute(chosen.where(part)).all():
            run_id, file, events, digest, replaced, _ = row  # by name each takes longer than all the rest
            # Impossible values go to `head_of`, which reports the damage.
            sound = type(events) is int and type(digest) is str
            compared[file][run_id] = Head(events=events, sha256=digest) if sound else head_of(row)
            if replaced and has_successor(connection, row):
                superseded.setdefault(file, set()).add(run_id)
    return {digest: (own, frozenset(superseded.get(digest, ()))) for digest, own in compared.items()}


def has_successor(connection: Connection, row: Row[Any]) -> bool:
    """Whether a file that took over the run is still here: a removed one gives it back."""
    later = (
        (heads.c.run_id == row.run_id)
        & (heads.c.position > row.position)
        & (heads.c.accepted | heads.c.superseded)
        & ~heads.c.file.in_(removed_files())
    )
    return connection.execute(select(heads.c.position).where(later).limit(1)).first() is not None


def up_to(position: int | None) -> ColumnElement[bool]:
    """The files that were added up to a place, and every plan graph; without a place, all files."""
    return true() if position is None else (files.c.kind == "graph") | (files.c.position <= position)


def last_position(connection: Connection) -> int:
    """The place of the file that was added last; 0 where there is none."""
    return connection.execute(select(func.max(files.c.position))).scalar() or 0


def content_digest(connection: Connection, position: int | None = None) -> str:
    """One digest over everything that can change what is read of the files up to a place.

    Every page asks for it. The database puts the rows together: of many thousands, each would cost the
    interpreter, and waiting for it while another thread is at work.
    """
    here = up_to(position)
    mark = case((heads.c.superseded, "-"), else_="+")
    parts = (
        # All digests have the same length, so no separator is needed.
        select((files.c.digest + _text(files.c.name)).label("line")).where(here).order_by(files.c.position),
        select((heads.c.file + heads.c.sha256 + mark + _text(heads.c.run_id)).label("line"))
        .where(true() if position is None else heads.c.file.in_(select(files.c.digest).where(here)))
        .order_by(heads.c.position),
        select(removals.c.file.label("line"))
        .where(removals.c.restored_at.is_(None))
        .order_by(removals.c.position),
    )
    return _digest(connection, parts)


def reading_digest(connection: Connection) -> str | None:
    """One digest over every row that decides what reading the ledgers of this moment gives.

    With the bytes of the ledgers it says all that is read. ``None`` while something is being appended.
    """
    if connection.execute(select(func.count()).select_from(appends)).scalar_one():
        return None
    tables = (
        _lines(files, "digest", "kind", "path", "name"),
        _lines(heads, "file", "events", "sha256", "accepted", "superseded", "run_id"),
        _lines(removals, "file", "restored_at"),
        _lines(own_events, "events_before", "sha256_before", "events_after", "sha256_after", "run_id"),
    )
    return _digest(connection, tables)


def _digest(connection: Connection, parts: Iterable[Select[Any]]) -> str:
    """One digest over the lines that each of these gives."""
    found = sha256()
    for rows in parts:
        together = select(func.aggregate_strings(rows.subquery().c.line, "\n"))
        lines = (connection.execute(together).scalar() or "").encode(errors="surrogatepass")
        found.update(len(lines).to_bytes(8))
        found.update(lines)
    return found.hexdigest()


def _lines(table: Table, *columns: str) -> Select[Any]:
    """Each row as one text, in the order in which they came; only the last column holds free text."""
    first, *others = (func.coalesce(cast(table.c[column], Text), "-") for column in columns)
    line: ColumnElement[str] = first
    for word in others:
        line = line + "\t" + word
    return select(line.label("line")).order_by(table.c.position)


def _text(words: Column[Any]) -> ColumnElement[str]:
    return type_coerce(words, Text)


def insert_audit(connection: Connection, code: str, message: str, run: str | None) -> None:
    """Writes an audit line once; saying the same of the same run again changes nothing."""
    if connection.execute(select(func.count()).select_from(audit)).scalar_one() >= AUDIT_ENTRIES:
        return
    digest = sha256("\0".join((code, message, run or "")).encode(errors="surrogatepass")).hexdigest()
    if connection.execute(select(audit.c.position).where(audit.c["said"] == digest)).first() is None:
        row = {"ts": now(), "code": code, "message": message, "run": run or "", "said": digest}
        connection.execute(insert(audit).values(row))


def audit_entries(connection: Connection) -> list[AuditEntry]:
    """The audit log, oldest first."""
    rows = connection.execute(select(audit).order_by(audit.c.position))
    return [_audit_entry(row) for row in rows]


@row_reader
def _audit_entry(row: Row[Any]) -> AuditEntry:
    return of_row(AuditEntry, row, run=row.run or None)


@row_reader
def head_of(row: Row[Any]) -> Head:
    """The head in a row of `heads`."""
    return Head(events=row.events, sha256=row.sha256)
