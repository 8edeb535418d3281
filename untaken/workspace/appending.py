"""Events appended to the workspace's ledgers: announced in the database, written, then the head moves (§1).

The file has its own journal (`untaken.ledger`). A row in `appends` protects it: while the row exists,
readers ignore the new part of the file, and the next process completes or undoes what a crash interrupted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final

import filelock
from msgspec import Struct
from sqlalchemy import Connection, Engine, Row, delete, insert, select, update

from untaken.errors import UntakenError, Where
from untaken.ledger import (
    Clock,
    Draft,
    Front,
    Head,
    LedgerWriter,
    Run,
    View,
    disk,
    heads_path,
    is_compressed,
    load_heads,
    plain_chunks,
    read_ledger,
    read_one,
    recover,
    save_heads,
    without_repeats,
)
from untaken.workspace import records
from untaken.workspace.content import Staged, first_runs, peek
from untaken.workspace.database import reading, writing
from untaken.workspace.own_events import OwnSpan, remember
from untaken.workspace.stored_file import StoredFile
from untaken.workspace.tables import appends, files, heads

LOCK_SECONDS: Final = 30.0
NOT_FOUND: Final = "ledger-not-found"
"""Code of the error for a stored ledger that is not on disk."""
_TRIES: Final = 20  # attempts to look at a ledger that others are changing, before it counts as gone
_CHUNK: Final = 1 << 20


class LedgerSnapshot(Struct, frozen=True, kw_only=True):
    """A stored ledger at one moment, as far as nobody is writing.

    Attributes:
        heads: what each run is compared with.
        superseded: run ids that another file has taken over.
        front: the bytes that count.
    """

    heads: dict[str, Head]
    superseded: frozenset[str]
    front: Front


def append_to_run(
    engine: Engine, folder: Path, run: Run, drafts: Sequence[Draft], *, clock: Clock | None = None
) -> Head:
    """Appends events to a run's stored ledger, all or none even in a crash, and gives the run's new head.

    Events that the ledger already contains are not written again (`without_repeats`), even if written
    meanwhile.

    Raises:
        UntakenError: ``ledger-broken-run``, ``ledger-torn-line``, ``run-unknown``, ``ledger-locked``,
            ``ledger-unwritable``; nothing was written then. OSError passes through: the next process
            completes or undoes the append.
    """
    if run.integrity.broken:
        raise _refused(run, f"the run is {run.integrity.verdict}: {run.integrity.reason}")
    try:
        for _ in range(_TRIES):
            digest = _holder(engine, folder, run)
            with suppress(_FileReplaced), _alone(folder, digest):
                _settle(engine, folder, digest)  # an interrupted append may have left bytes beyond the head
                return _append(engine, folder, digest, run, drafts, clock=clock)
        raise unknown_run(run)
    except UntakenError as error:  # it names the stored file, which nobody knows
        where = Where(file=run.source or None, run=run.run_id)
        raise UntakenError(error.code, error.message, where=where, hint=error.hint) from None
    except filelock.Timeout:
        where = Where(file=run.source or None, run=run.run_id)
        raise UntakenError(
            "ledger-locked",
            "another program is writing to this ledger",
            where=where,
            hint="Try again in a moment.",
        ) from None


def _append(
    engine: Engine, folder: Path, digest: str, run: Run, drafts: Sequence[Draft], *, clock: Clock | None
) -> Head:
    path, recorded = _ready(engine, folder, digest)
    with LedgerWriter(
        path, clock=clock, fsync="always", timeout=LOCK_SECONDS, torn="refuse", only=run.run_id
    ) as ledger:
        start = ledger.head(run.run_id)
        if start != recorded.get(run.run_id):
            raise _refused(run, "its stored ledger does not end at the recorded head")
        fresh = without_repeats(_now(path, run, start), drafts)
        announced = _Announcement(engine, digest, run.run_id, start, path.stat().st_size)
        end = ledger.append(run.run_id, fresh, intend=announced.write)
    if fresh:
        announced.done(end)
    return end


def _now(path: Path, run: Run, head: Head) -> Run:
    """The run with what others have appended since it was read."""
    if run.integrity.head == head:
        return run
    alone = read_one(View(name=str(path), heads={run.run_id: head}, path=path), run.run_id)
    if alone is not None:
        return alone
    found, _ = read_ledger(path, strict=False)
    return next(one for one in found if one.run_id == run.run_id)


def settle_all(engine: Engine, folder: Path) -> None:
    """Completes or undoes every append that a crash cut short, except where a writer is at work."""
    with reading(engine) as connection:
        begun = connection.execute(select(appends.c.file).distinct()).scalars().all()
    for digest in begun:
        with suppress(filelock.Timeout), _alone(folder, digest, timeout=0):
            _settle(engine, folder, digest)


@contextmanager
def ledger_snapshot(engine: Engine, folder: Path, digest: str) -> Iterator[LedgerSnapshot]:
    """A stored ledger and its heads, of one moment, while others append.

    Raises:
        UntakenError: ``ledger-not-found``.
    """
    for _ in range(_TRIES):
        with ledger_snapshots(engine, folder, [digest]) as found:
            if digest in found:
                yield found[digest]
                return
    file = _recorded(engine, folder, [digest])[digest].file
    raise UntakenError(NOT_FOUND, "no such file", where=Where(file=file.name if file else digest))


@contextmanager
def ledger_snapshots(
    engine: Engine, folder: Path, digests: Sequence[str]
) -> Iterator[dict[str, LedgerSnapshot]]:
    """Several stored ledgers, each of one moment; without those that are gone, or change just now.

    The database is asked before and after the files are measured: where it says the same of one, every byte
    within its size is covered by a head or by an announced append, and what is only announced is left out.
    """
    before = _recorded(engine, folder, digests)
    with ExitStack() as opened:
        streams: dict[str, BinaryIO] = {}
        for digest, recorded in before.items():
            with suppress(FileNotFoundError):
                if recorded.file and recorded.file.path:
                    streams[digest] = opened.enter_context(recorded.file.path.open("rb"))
        # Of the open file, because another file may take its name meanwhile.
        sizes = {digest: os.fstat(stream.fileno()).st_size for digest, stream in streams.items()}
        after = _recorded(engine, folder, digests)
        yield {
            digest: LedgerSnapshot(
                heads=after[digest].heads,
                superseded=after[digest].superseded,
                front=Front(stream, min([sizes[digest], *after[digest].pending])),
            )
            for digest, stream in streams.items()
            if before[digest] == after[digest]
        }


def extended_here(engine: Engine, folder: Path, copy: Staged) -> StoredFile | None:
    """The ledger that was appended to here, and of which a copy is the present or an earlier state."""
    with reading(engine) as connection:
        stored = records.ledgers_of(connection, folder, first_runs(peek(copy.content)))
    for file in stored:
        # Only ledgers that were appended to here have a heads file beside them.
        if file.path is None or not heads_path(file.path).exists() or not file.path.is_file():
            continue
        size = file.path.stat().st_size
        # Appending never changes earlier bytes, so the file still begins with what was added.
        earlier = file.bytes < copy.bytes <= size and _digest(file.path, file.bytes) == file.digest
        if (earlier or copy.bytes == size) and _digest(file.path, copy.bytes) == copy.digest:
            return file
    return None


def holds_later(connection: Connection, folder: Path, run_id: str, head: Head) -> bool:
    """Whether a chain that ends in `head` is the recorded one before something was written about the run."""
    chosen = (heads.c.run_id == run_id) & heads.c.accepted
    digest = connection.execute(select(heads.c.file).where(chosen)).scalar()
    file = records.find_file(connection, digest, folder) if digest else None
    if file is None or file.path is None or not file.path.is_file():
        return False
    runs, _ = read_ledger(file.path, strict=False, heads={}, name=file.name)
    found = next((run for run in runs if run.run_id == run_id), None)
    # The copy has the whole run, but not yet everything that was written about it.
    if found is None or not found.own <= head.events < len(found.events):
        return False
    return found.events[head.events].prev == head.sha256


class _FileReplaced(Exception):
    """The file is not here any more: its runs are in other files (`untaken.workspace.bundles`)."""


class _Announcement(Struct, frozen=True):
    engine: Engine
    file: str
    run_id: str
    start: Head
    size: int

    def write(self, end: Head) -> None:
        """Announces it; what is not announced is not written.

        Raises:
            _FileReplaced: the runs of the file have been given to others since it was looked for.
        """
        with writing(self.engine) as connection:
            if not records.known_files(connection, [self.file]):
                raise _FileReplaced
            connection.execute(
                insert(appends).values(
                    file=self.file,
                    run_id=self.run_id,
                    events_before=self.start.events,
                    sha256_before=self.start.sha256,
                    events_after=end.events,
                    sha256_after=end.sha256,
                    bytes_before=self.size,
                    created_at=records.now(),
                )
            )

    def done(self, end: Head) -> None:
        with writing(self.engine) as connection:
            move_head(connection, self.file, self.run_id, end)
            remember(connection, self.run_id, OwnSpan(start=self.start, end=end))
            connection.execute(delete(appends).where(appends.c.file == self.file))


def _settle(engine: Engine, folder: Path, digest: str) -> None:
    """What the file's own journal completed or undid, said to the database. Under the file's lock."""
    with reading(engine) as connection:
        begun = connection.execute(select(appends).where(appends.c.file == digest)).all()
        file = records.find_file(connection, digest, folder)
    if not begun:
        return
    now: dict[str, Head] = {}
    if file is not None and file.path is not None and file.path.is_file():
        recover(file.path, timeout=LOCK_SECONDS)
        now = load_heads(heads_path(file.path)) if heads_path(file.path).exists() else {}
    with writing(engine) as connection:
        for row in begun:
            end = Head(events=row.events_after, sha256=row.sha256_after)
            if now.get(row.run_id) == end:  # otherwise the journal undid it, and the head stays
                move_head(connection, digest, row.run_id, end)
                start = Head(events=row.events_before, sha256=row.sha256_before)
                remember(connection, row.run_id, OwnSpan(start=start, end=end))
        connection.execute(delete(appends).where(appends.c.file == digest))


def _ready(engine: Engine, folder: Path, digest: str) -> tuple[Path, dict[str, Head]]:
    """The stored file, uncompressed, with its recorded heads beside it."""
    with reading(engine) as connection:
        file = records.find_file(connection, digest, folder)
        expected, _ = records.expected_heads(connection, [digest])[digest]
    if file is None or file.path is None or not file.path.is_file():
        name = file.name if file else None
        raise UntakenError(NOT_FOUND, "no such file", where=Where(file=name))
    path = _uncompressed(engine, folder, file, file.path)
    sidecar = heads_path(path)
    # The database is the authority. The heads beside the file are there for its writer.
    if not sidecar.exists() or load_heads(sidecar) != expected:
        save_heads(sidecar, expected)
    return path, expected


def _uncompressed(engine: Engine, folder: Path, file: StoredFile, path: Path) -> Path:
    """A ledger that came compressed is written out once: nothing can be appended to it as it is."""
    with path.open("rb") as stream:
        if not is_compressed(stream.read(4)):
            return path
        stream.seek(0)
        plain = path.with_name(f"{file.digest}.jsonl")
        # A process that is killed leaves only this temporary file, which the next one overwrites.
        fresh = path.with_name(f".{file.digest}.plain")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o644)
        try:
            for chunk in plain_chunks(stream, name=file.name):
                disk.write_all(descriptor, chunk)
            disk.fsync(descriptor)
        finally:
            os.close(descriptor)
    disk.rename(fresh, plain)
    disk.sync_folder(plain.parent)
    # Before the old file is removed, so that the row names a complete file at every moment.
    with writing(engine) as connection:
        place = plain.relative_to(folder).as_posix()
        connection.execute(update(files).where(files.c.digest == file.digest).values(path=place))
    if plain != path:
        with suppress(PermissionError):  # where a file that is being read cannot be removed, it stays
            disk.remove(path)
    return plain


def move_head(connection: Connection, file: str, run_id: str, end: Head) -> None:
    """The recorded head of a run is that of this file from now on."""
    of_run = heads.c.run_id == run_id
    connection.execute(
        update(heads)
        .where(of_run, heads.c.accepted, heads.c.file != file)
        .values(accepted=False, superseded=True)
    )
    connection.execute(
        update(heads)
        .where(of_run, heads.c.file == file)
        .values(events=end.events, sha256=end.sha256, accepted=True, superseded=False)
    )


def _holder(engine: Engine, folder: Path, run: Run) -> str:
    """Digest of the file that a run is read from."""
    with reading(engine) as connection:
        rows = holding(connection, run.run_id)
    for row in rows:
        if Head(events=row.events, sha256=row.sha256) == run.integrity.head:
            return str(row.file)
    # The head has moved since the run was read. Its digest, which later events do not change, identifies it.
    for row in rows:
        with ledger_snapshot(engine, folder, row.file) as now:
            alone = read_one(View(name=row.file, heads=now.heads, stream=now.front), run.run_id)
            now.front.rewind()
            found = [alone] if alone else read_ledger(now.front, strict=False, heads=now.heads)[0]
        if any(one.digest == run.digest for one in found):
            return str(row.file)
    raise unknown_run(run)


def holding(connection: Connection, run_id: str) -> list[Row[Any]]:
    """Rows of `heads` of the files that are here and hold the run, the recorded head first."""
    chosen = select(heads).where(heads.c.run_id == run_id, ~heads.c.file.in_(records.removed_files()))
    rows = connection.execute(chosen.order_by(heads.c.accepted.desc(), heads.c.position)).all()
    return [row for row in rows if not (row.superseded and records.has_successor(connection, row))]


class _Recorded(Struct, frozen=True):
    """What the database says of a ledger; `pending`: its size before each append that is announced."""

    file: StoredFile | None
    heads: dict[str, Head]
    superseded: frozenset[str]
    pending: tuple[int, ...]


def _recorded(engine: Engine, folder: Path, digests: Sequence[str]) -> dict[str, _Recorded]:
    with reading(engine) as connection:
        compared = records.expected_heads(connection, digests)
        stored = records.find_files(connection, digests, folder)
        pending: dict[str, list[int]] = {}
        for part in records.among(appends.c.file, digests):
            for row in connection.execute(select(appends.c.file, appends.c.bytes_before).where(part)):
                pending.setdefault(row.file, []).append(row.bytes_before)
    return {
        digest: _Recorded(stored.get(digest), *compared[digest], tuple(pending.get(digest, ())))
        for digest in digests
    }


@contextmanager
def _alone(folder: Path, digest: str, *, timeout: float = LOCK_SECONDS) -> Iterator[None]:
    """One process at a time appends to a file."""
    with filelock.FileLock(folder / "ledgers" / f".{digest}.appending.lock", timeout=timeout):
        yield


def _digest(path: Path, size: int) -> str:
    hasher = sha256()
    with path.open("rb") as stream:
        while size > 0 and (piece := stream.read(min(size, _CHUNK))):
            hasher.update(piece)
            size -= len(piece)
    return hasher.hexdigest()


def unknown_run(run: Run) -> UntakenError:
    """The error where the workspace holds a run no longer."""
    return UntakenError(
        "run-unknown",
        "the run is no longer in this workspace",
        where=Where(file=run.source or None, run=run.run_id),
        hint="Its ledger may have been removed. Reload the workspace.",
    )


def _refused(run: Run, why: str) -> UntakenError:
    return UntakenError(
        "ledger-broken-run",
        why,
        where=Where(file=run.source or None, run=run.run_id),
        hint="Broken runs cannot be extended. Restore the ledger first.",
    )
