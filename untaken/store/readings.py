"""What a ledger of the workspace held when it was read, and whether it has to be read again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import Connection, Engine

from untaken.errors import Finding, UntakenError
from untaken.ledger import Head, Run, read_ledger
from untaken.ledger.lines import Readable
from untaken.ledger.reader import read_runs_as
from untaken.ledger.run_lines import CHANGED, RunLines
from untaken.ledger.source import Front
from untaken.limits import MIB
from untaken.store import records
from untaken.store.appending import NOT_FOUND, LedgerSnapshot, ledger_snapshot, ledger_snapshots
from untaken.store.database import reading
from untaken.store.own_events import OwnSpan, own_spans, with_own_events
from untaken.store.stored_file import StoredFile

_AT_ONCE: Final = 100
"""Ledgers that are open at a time: the database is asked once about all of them."""
_RUNS_AT_ONCE: Final = 32
"""Runs that are whole together, where something is made of them."""

Make = Callable[[StoredFile, Sequence[tuple[Run, RunLines | None]]], Sequence[Run]]
"""What stays of some whole runs of a ledger; with each, where its lines are, if they can be found again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """The runs of one stored ledger.

    Attributes:
        key: the file was compared with these heads under this name; while it is the same, so is what is read.
        runs: those that no other file has taken over.
        findings: what was noticed.
        content: digest of all that they follow from: every byte that was read, the heads, and what was
            appended here; empty for a missing file.
        sha256: of every byte that was read; empty for a missing file.
    """

    key: str
    runs: tuple[Run, ...]
    findings: tuple[Finding, ...]
    content: str = ""
    sha256: str = ""


class LedgerContent(NamedTuple):
    """What a reading of a ledger would have now: `FileReading.key`, `content` and `sha256`."""

    key: str
    content: str
    sha256: str


class _Hashed:
    """The bytes of a stream, and their digest."""

    def __init__(self, stream: Front) -> None:
        self._stream, self._hasher = stream, sha256()

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        data = self._stream.read(size)
        self._hasher.update(data)
        return data

    def digest(self) -> str:
        """SHA-256 of the whole stream; what is left of it is read."""
        while self.read(MIB):
            pass
        return self._hasher.hexdigest()


def keys_of(connection: Connection, files: Sequence[StoredFile]) -> dict[str, str]:
    """The key that a reading of each file would have now, by its digest."""
    compared = records.expected_heads(connection, [file.digest for file in files])
    return {file.digest: _key(file, *compared[file.digest]) for file in files}


def contents_of(engine: Engine, folder: Path, files: Sequence[StoredFile]) -> Iterator[LedgerContent | None]:
    """The key and the content that a reading of each file would have now; it is hashed, not decoded.

    ``None`` for one that is gone, or that changes just now.
    """
    for at in range(0, len(files), _AT_ONCE):
        some = files[at : at + _AT_ONCE]
        with ledger_snapshots(engine, folder, [file.digest for file in some]) as at_once:
            spans = _own_spans(engine, at_once.values())
            for file in some:
                now = at_once.get(file.digest)
                yield _now(file, now, _Hashed(now.front).digest(), _own(now, spans)) if now else None


def _now(
    file: StoredFile, now: LedgerSnapshot, digest: str, own: Mapping[str, Sequence[OwnSpan]]
) -> LedgerContent:
    """The key and the content of a ledger whose bytes have this digest."""
    key = _key(file, now.heads, now.superseded)
    content = sha256(repr((key, digest, sorted(own.items()))).encode()).hexdigest()
    return LedgerContent(key, content, digest)


def _own_spans(engine: Engine, ledgers: Iterable[LedgerSnapshot]) -> dict[str, list[OwnSpan]]:
    with reading(engine) as connection:
        return own_spans(connection, [run_id for now in ledgers for run_id in now.heads])


def _own(now: LedgerSnapshot, spans: Mapping[str, Sequence[OwnSpan]]) -> dict[str, Sequence[OwnSpan]]:
    """What was appended here to the runs of one ledger."""
    return {run_id: spans[run_id] for run_id in now.heads if run_id in spans}


def read_files(
    engine: Engine, folder: Path, files: Sequence[StoredFile], make: Make | None = None
) -> Iterator[FileReading]:
    """Reads stored ledgers and compares each run with its head; a missing file is a finding.

    Args:
        engine: of the workspace's database.
        folder: of the workspace.
        files: the ledgers.
        make: what is made of the runs, some at a time, while they are at hand; without it they stay whole.
    """
    for at in range(0, len(files), _AT_ONCE):
        yield from _read(engine, folder, files[at : at + _AT_ONCE], make)


def _read(
    engine: Engine, folder: Path, files: Sequence[StoredFile], make: Make | None
) -> Iterator[FileReading]:
    with ledger_snapshots(engine, folder, [file.digest for file in files]) as at_once:
        spans = _own_spans(engine, at_once.values())
        read = {
            file.digest: _read_one(file, now, spans, make)
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
        return FileReading(key=key, runs=(), findings=(error.finding(),))


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
    here = _now(file, now, hashed.digest(), own)
    return FileReading(
        key=here.key,
        runs=tuple(run for run in found[0] if run.run_id not in now.superseded),
        findings=tuple(found[1]),
        content=here.content,
        sha256=here.sha256,
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
