"""What a ledger of the workspace held when it was read, and whether it has to be read again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Engine

from untaken.errors import Finding, UntakenError
from untaken.ledger import Head, Run, read_ledger
from untaken.store import records
from untaken.store.appending import NOT_FOUND, ledger_snapshot
from untaken.store.database import reading
from untaken.store.model import StoredFile
from untaken.store.own_events import own_spans, with_own_events


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """The runs of one stored ledger.

    Attributes:
        key: the file was compared with these heads under this name; while it is the same, so is what is read.
        runs: those that no other file has taken over.
        findings: what was noticed.
    """

    key: str
    runs: tuple[Run, ...]
    findings: tuple[Finding, ...]


def key_of(engine: Engine, file: StoredFile) -> str:
    """The key that a reading of the file would have now."""
    with reading(engine) as connection:
        return _key(file, *records.expected_heads(connection, file.digest))


def read_file(engine: Engine, folder: Path, file: StoredFile) -> FileReading:
    """Reads a stored ledger and compares each run with its head; a missing file is a finding."""
    try:
        with ledger_snapshot(engine, folder, file.digest) as now:
            key = _key(file, now.heads, now.superseded)
            runs, findings = read_ledger(now.front, strict=False, heads=now.heads, name=file.name)
    except UntakenError as error:
        if error.code != NOT_FOUND:  # a database that does not answer says nothing about the file
            raise
        return FileReading(key=key_of(engine, file), runs=(), findings=(error.finding(),))
    kept = [run for run in runs if run.run_id not in now.superseded]
    with reading(engine) as connection:
        own = own_spans(connection, [run.run_id for run in kept])
    return FileReading(
        key=key, runs=tuple(with_own_events(run, own) for run in kept), findings=tuple(findings)
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
