"""What a ledger of the workspace held when it was read, and whether it has to be read again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, Engine

from untaken.errors import Finding, UntakenError
from untaken.ledger import Head, Run, read_ledger
from untaken.ledger.source import Front
from untaken.limits import MIB
from untaken.store import records
from untaken.store.appending import NOT_FOUND, ledger_snapshot
from untaken.store.database import reading
from untaken.store.model import StoredFile
from untaken.store.own_events import OwnSpan, own_spans, with_own_events


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """The runs of one stored ledger.

    Attributes:
        key: the file was compared with these heads under this name; while it is the same, so is what is read.
        runs: those that no other file has taken over.
        findings: what was noticed.
        content: digest of all that they follow from: every byte that was read, the heads, and what was
            appended here; empty for a missing file.
    """

    key: str
    runs: tuple[Run, ...]
    findings: tuple[Finding, ...]
    content: str = ""


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


def key_of(connection: Connection, file: StoredFile) -> str:
    """The key that a reading of the file would have now."""
    return _key(file, *records.expected_heads(connection, file.digest))


def content_of(engine: Engine, folder: Path, file: StoredFile) -> tuple[str, str]:
    """The key and the content that a reading of the file would have now; it is hashed, not decoded.

    Raises:
        UntakenError: ``ledger-not-found``.
    """
    with ledger_snapshot(engine, folder, file.digest) as now:
        key, digest = _key(file, now.heads, now.superseded), _Hashed(now.front).digest()
    with reading(engine) as connection:
        return key, _content(key, digest, own_spans(connection, list(now.heads)))


def read_file(engine: Engine, folder: Path, file: StoredFile) -> FileReading:
    """Reads a stored ledger and compares each run with its head; a missing file is a finding."""
    try:
        with ledger_snapshot(engine, folder, file.digest) as now:
            key = _key(file, now.heads, now.superseded)
            hashed = _Hashed(now.front)
            runs, findings = read_ledger(hashed, strict=False, heads=now.heads, name=file.name)
            digest = hashed.digest()
    except UntakenError as error:
        if error.code != NOT_FOUND:  # a database that does not answer says nothing about the file
            raise
        with reading(engine) as connection:
            return FileReading(key=key_of(connection, file), runs=(), findings=(error.finding(),))
    kept = [run for run in runs if run.run_id not in now.superseded]
    with reading(engine) as connection:
        own = own_spans(connection, list({**now.heads, **{run.run_id: None for run in kept}}))
    return FileReading(
        key=key,
        runs=tuple(with_own_events(run, own) for run in kept),
        findings=tuple(findings),
        content=_content(key, digest, own),
    )


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


def _content(key: str, digest: str, own: Mapping[str, Sequence[OwnSpan]]) -> str:
    return sha256(repr((key, digest, sorted(own.items()))).encode()).hexdigest()
