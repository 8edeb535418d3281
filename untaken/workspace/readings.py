"""What a ledger of the workspace held when it was read, and whether it has to be read again."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection, Engine

from untaken.errors import Finding, UntakenError
from untaken.ledger import (
    CHANGED,
    SPANS,
    AnyEvent,
    Chain,
    Front,
    Head,
    Readable,
    Reading,
    Run,
    RunLines,
    open_view,
    read_ledger,
    read_runs_as,
    run_of,
)
from untaken.limits import MIB
from untaken.workspace import records, tables
from untaken.workspace.appending import NOT_FOUND, LedgerSnapshot, ledger_snapshot, ledger_snapshots
from untaken.workspace.content import digest_of
from untaken.workspace.database import reading
from untaken.workspace.own_events import OwnSpan, own_spans, with_own_events
from untaken.workspace.stored_file import StoredFile

_AT_ONCE: Final = 100
"""Ledgers that are open at a time: the database is asked once about all of them."""
_RUNS_AT_ONCE: Final = 32
"""Runs that are whole together, where something is made of them."""

_NEW_BYTES: Final = 8 * MIB
"""Of a ledger to which more was added all of it is read again."""

Make = Callable[[StoredFile, Sequence[tuple[Run, RunLines | None]]], Sequence[Run]]
"""What stays of some whole runs of a ledger; with each, where its lines are, if they can be found again."""


class FileReading(Struct, frozen=True, kw_only=True):
    """The runs of one stored ledger.

    Attributes:
        content: what they follow from.
        runs: those that no other file has taken over.
        findings: what was noticed.
    """

    content: LedgerContent
    runs: tuple[Run, ...]
    findings: tuple[Finding, ...]


class LedgerContent(NamedTuple):
    """All that reading a ledger gives follows from; of a missing file, the key alone.

    Attributes:
        key: the file was compared with these heads under this name; while it is the same, so is what is read.
        digest: of every byte that counts, the heads, and what was appended here.
        sha256: of every byte that counts; `bytes`, how many there are.
        own: what was appended here, by run.
    """

    key: str
    digest: str = ""
    sha256: str = ""
    bytes: int = 0
    own: Mapping[str, Sequence[OwnSpan]] = MappingProxyType({})


class _Hashed:
    """The bytes of a stream, how many were read, and their digest."""

    def __init__(self, stream: Front) -> None:
        self._stream, self._hasher, self.bytes = stream, sha256(), 0

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        data = self._stream.read(size)
        self._hasher.update(data)
        self.bytes += len(data)
        return data

    def begins_with(self, content: LedgerContent) -> bool:
        """Whether the stream, of which nothing was read, begins with what was read before."""
        while self.bytes < content.bytes and self.read(min(MIB, content.bytes - self.bytes)):
            pass
        return self.bytes == content.bytes > 0 and self._hasher.hexdigest() == content.sha256

    def digest(self) -> str:
        """SHA-256 of the whole stream; what is left of it is read."""
        while self.read(MIB):
            pass  # the digest covers every byte, read by somebody or not
        return self._hasher.hexdigest()


def keys_of(connection: Connection, files: Sequence[StoredFile]) -> dict[str, str]:
    """The key that a reading of each file would have now, by its digest."""
    compared = records.expected_heads(connection, [file.digest for file in files])
    return {file.digest: _key(file, *compared[file.digest]) for file in files}


def contents_of(engine: Engine, folder: Path, files: Sequence[StoredFile]) -> Iterator[LedgerContent | None]:
    """The content that a reading of each file would have now; it is hashed, not decoded.

    ``None`` for one that is gone, or that changes just now.
    """
    for at in range(0, len(files), _AT_ONCE):
        some = files[at : at + _AT_ONCE]
        with ledger_snapshots(engine, folder, [file.digest for file in some]) as at_once:
            spans = _own_spans(engine, at_once.values())
            for file in some:
                now = at_once.get(file.digest)
                yield _now(file, now, _Hashed(now.front), _own(now, spans)) if now else None


def _now(
    file: StoredFile, now: LedgerSnapshot, stream: _Hashed, own: Mapping[str, Sequence[OwnSpan]]
) -> LedgerContent:
    """The content of a ledger; what is left of the stream is read."""
    key, read = _key(file, now.heads, now.superseded), stream.digest()
    digest = sha256(repr((key, read, sorted(own.items()))).encode()).hexdigest()
    return LedgerContent(key, digest, read, stream.bytes, own)


def _own_spans(engine: Engine, ledgers: Iterable[LedgerSnapshot]) -> dict[str, list[OwnSpan]]:
    with reading(engine) as connection:
        return own_spans(connection, [run_id for now in ledgers for run_id in now.heads])


def _own(now: LedgerSnapshot, spans: Mapping[str, Sequence[OwnSpan]]) -> dict[str, Sequence[OwnSpan]]:
    """What was appended here to the runs of one ledger."""
    return {run_id: spans[run_id] for run_id in now.heads if run_id in spans}


def read_files(
    engine: Engine,
    folder: Path,
    files: Sequence[StoredFile],
    make: Make | None = None,
    before: Mapping[str, FileReading] = MappingProxyType({}),
) -> Iterator[FileReading]:
    """Reads stored ledgers and compares each run with its head; a missing file is a finding.

    Args:
        engine: of the workspace's database.
        folder: of the workspace.
        files: the ledgers.
        make: what is made of the runs, some at a time, while they are at hand; without it they stay whole.
        before: by the file's digest, what `make` made of it before. Where a ledger only grew, the other runs
            stay what they are.
    """
    for at in range(0, len(files), _AT_ONCE):
        yield from _read(engine, folder, files[at : at + _AT_ONCE], make, before)


def look_through(
    engine: Engine,
    folder: Path,
    files: Sequence[StoredFile],
    look: Callable[[Chain, Sequence[AnyEvent]], None],
) -> Iterator[Chain]:
    """The chain of every run of stored ledgers, of which no event is kept.

    Args:
        engine: of the workspace's database.
        folder: of the workspace.
        files: the ledgers; one that is gone, or that changes just now, is left out.
        look: called with the next events of a run.
    """
    for at in range(0, len(files), _AT_ONCE):
        with ledger_snapshots(engine, folder, [one.digest for one in files[at : at + _AT_ONCE]]) as at_once:
            for now in at_once.values():
                view = open_view(now.front, heads=now.heads, name=None)
                yield from Reading(view, lambda _: None, keep=look).chains()


def _read(
    engine: Engine,
    folder: Path,
    files: Sequence[StoredFile],
    make: Make | None,
    before: Mapping[str, FileReading],
) -> Iterator[FileReading]:
    with ledger_snapshots(engine, folder, [file.digest for file in files]) as at_once:
        spans = _own_spans(engine, at_once.values())
        read = {
            file.digest: _grown(file, now, spans, make, before.get(file.digest))
            or _read_one(file, now, spans, make)
            for file in files
            if (now := at_once.get(file.digest))
        }
    for file in files:
        yield read.get(file.digest) or _read_by_itself(engine, folder, file, make)


def _read_by_itself(engine: Engine, folder: Path, file: StoredFile, make: Make | None) -> FileReading:
    """A ledger that is gone, or that changed while it was looked for with others."""
    try:
        with ledger_snapshot(engine, folder, file.digest) as now:
            return _read_one(file, now, _own_spans(engine, [now]), make)
    except UntakenError as error:
        if error.code != NOT_FOUND:  # a database that does not answer says nothing about the file
            raise
        with reading(engine) as connection:
            (key,) = keys_of(connection, [file]).values()
        return FileReading(content=LedgerContent(key), runs=(), findings=(error.finding(),))


def _grown(
    file: StoredFile,
    now: LedgerSnapshot,
    spans: Mapping[str, Sequence[OwnSpan]],
    make: Make | None,
    before: FileReading | None,
) -> FileReading | None:
    """A ledger that only grew: the runs that were written about are read again, alone.

    ``None`` where something else has changed, or some run of it is not intact.
    """
    if make is None or before is None or file.path is None:
        return None
    own, stream = _own(now, spans), _Hashed(now.front)
    grown = _appended(file, now, own, stream, before)
    again = [
        (run, RunLines(file.path, run.spans + grown[run.run_id]))
        for run in before.runs
        if run.run_id in grown and run.spans is not None
    ]
    read = [(lines.run(run.run_id, now.heads[run.run_id], name=file.name), lines) for run, lines in again]
    whole = [(with_own_events(run, own), lines) for run, lines in read if run is not None]
    if not grown or len(whole) < len(grown):  # or a run of them cannot be read alone
        now.front.rewind()
        return None
    made = {run.run_id: run for run in make(file, whole)}
    return FileReading(
        content=_now(file, now, stream, own),
        runs=tuple([made.get(run.run_id, run) for run in before.runs]),
        findings=before.findings,
    )


def _appended(
    file: StoredFile,
    now: LedgerSnapshot,
    own: Mapping[str, Sequence[OwnSpan]],
    stream: _Hashed,
    before: FileReading,
) -> dict[str, array[int]]:
    """By run, where its new lines are; empty unless every byte and every other run is as it was."""
    runs = {run.run_id: run for run in before.runs}
    if before.findings or now.superseded or len(runs) < len(before.runs) or runs.keys() != now.heads.keys():
        return {}
    if not stream.begins_with(before.content):
        return {}
    begin, lines = stream.bytes, stream.read(_NEW_BYTES)
    places: dict[str, array[int]] = {}
    # More than that, or a last line without its end: none is taken, so that all is read again.
    for line in lines.splitlines(keepends=True) if lines.endswith(b"\n") and not stream.read(1) else ():
        places.setdefault(run_of(line) or "", array(SPANS)).extend((begin, begin + len(line)))
        begin += len(line)
    same = all(
        run.integrity.verdict == "INTACT"
        and run.source == file.name
        and (
            name in places
            or (run.integrity.head == now.heads[name] and own.get(name) == before.content.own.get(name))
        )
        for name, run in runs.items()
    )
    return places if same and places.keys() <= runs.keys() else {}


def _read_one(
    file: StoredFile, now: LedgerSnapshot, spans: Mapping[str, Sequence[OwnSpan]], make: Make | None
) -> FileReading:
    own = _own(now, spans)

    def made(some: Sequence[tuple[Run, RunLines | None]]) -> Sequence[Run]:
        counted = [(with_own_events(run, own), lines) for run, lines in some]
        return make(file, counted) if make else [run for run, _ in counted]

    hashed = _Hashed(now.front)
    found = _read_apart(file, now, hashed, made) if make else None
    if found is None:
        now.front.rewind()
        hashed = _Hashed(now.front)
        runs, findings = read_ledger(hashed, strict=False, heads=now.heads, name=file.name)
        parts = (runs[at : at + _RUNS_AT_ONCE] for at in range(0, len(runs), _RUNS_AT_ONCE))
        found = [run for part in parts for run in made([(one, None) for one in part])], findings
    return FileReading(
        content=_now(file, now, hashed, own),
        runs=tuple(run for run in found[0] if run.run_id not in now.superseded),
        findings=tuple(found[1]),
    )


def _read_apart(
    file: StoredFile,
    now: LedgerSnapshot,
    stream: Readable,
    make: Callable[[Sequence[tuple[Run, RunLines]]], Sequence[Run]],
) -> tuple[list[Run], list[Finding]] | None:
    """A ledger whose runs are let go one after the other; ``None`` where that cannot be done."""
    if file.path is None:
        return None
    try:
        return read_runs_as(
            file.path, make, at_once=_RUNS_AT_ONCE, name=file.name, heads=now.heads, stream=stream
        )
    except UntakenError as error:
        if error.code != CHANGED:
            raise
        return None


def joined(readings: Iterable[FileReading]) -> tuple[list[Run], list[Finding]]:
    """All runs and findings; of a run that came twice, the copy about which more was written."""
    runs: dict[str, Run] = {}
    findings: list[Finding] = []
    for one in readings:
        for run in one.runs:
            known = runs.get(run.digest)
            if known is None or len(run.events) > len(known.events):
                runs[run.digest] = run
        findings += one.findings
    return list(runs.values()), findings


def _key(file: StoredFile, heads: Mapping[str, Head], superseded: Collection[str]) -> str:
    compared = sorted((run_id, head.events, head.sha256) for run_id, head in heads.items())
    return sha256(repr((file.digest, file.name, compared, sorted(superseded))).encode()).hexdigest()


class LedgerState:
    """The state of a workspace's ledgers: of every byte of them, and of what the database says of them.

    Args:
        engine: of the workspace's database.
        folder: of the workspace.
    """

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine, self._folder = engine, folder

    def rows(self) -> str | None:
        """Digest of what the database says; ``None`` while something is being appended."""
        with reading(self._engine) as connection:
            return records.reading_digest(connection)

    def now(self, rows: str | None = None) -> str | None:
        """The state of this moment, for which every ledger is hashed.

        ``None`` where a ledger is missing, or something is being changed.

        Args:
            rows: what `rows` was just now, if somebody has asked.
        """
        rows = rows or self.rows()
        with reading(self._engine) as connection:
            ledgers = records.all_files(connection, self._folder, where=tables.files.c.kind == "ledger")
        return self._state(rows, [(file.digest, _hashed(file.path)) for file in ledgers])

    def of(self, readings: Mapping[str, FileReading], rows: str | None) -> str | None:
        """The state that all ledgers had when they were read; ``None`` as for `now`.

        Args:
            readings: by the file's digest.
            rows: what `rows` was before they were read.
        """
        return self._state(rows, [(digest, file.content.sha256) for digest, file in readings.items()])

    def _state(self, rows: str | None, ledgers: Iterable[tuple[str, str]]) -> str | None:
        found = list(ledgers)
        # Rows that changed while files were hashed say nothing about them.
        if rows is None or not all(digest for _, digest in found) or rows != self.rows():
            return None
        return sha256(repr((rows, found)).encode()).hexdigest()


def _hashed(path: Path | None) -> str:
    """SHA-256 of a file; empty where it is gone."""
    try:
        return digest_of(path) if path else ""
    except FileNotFoundError:
        return ""
