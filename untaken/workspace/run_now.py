"""One run as its stored ledger is now, without reading the others again: what was appended is at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec.structs import replace
from sqlalchemy import Engine

from untaken.ledger import TEXTS_TO_JUDGES, AnyEvent, Head, Run, is_compressed
from untaken.workspace import records
from untaken.workspace.appending import LedgerSnapshot, holding, ledger_snapshot, unknown_run
from untaken.workspace.database import reading
from untaken.workspace.own_events import own_spans, with_own_events
from untaken.workspace.readings import read_files
from untaken.workspace.stored_file import StoredFile

_decode = msgspec.json.Decoder(AnyEvent).decode


def run_now(engine: Engine, folder: Path, run: Run) -> Run:
    """The run with everything that anybody has appended since it was read; itself where nobody has.

    Each new line names the hash of the one before it, and the last one is the recorded head. The whole ledger
    is read where that does not hold: a compressed file, or another one that took the run over.

    Raises:
        UntakenError: ``run-unknown`` where the workspace no longer holds the run.
    """
    with reading(engine) as connection:
        rows = holding(connection, run.run_id)
        spans = own_spans(connection, [run.run_id])
        found = records.find_files(connection, [row.file for row in rows], folder)
    last = run.integrity.head
    if last is None or run.integrity.broken:
        return run
    if not rows:
        raise unknown_run(run)
    if Head(events=rows[0].events, sha256=rows[0].sha256) == last:
        return run
    for row in rows:
        file = found[row.file]
        end = Head(events=row.events, sha256=row.sha256)
        with ledger_snapshot(engine, folder, file.digest) as now:
            new = tuple(_following(run.run_id, last, file, now))
        if new and Head(events=new[-1][0].seq + 1, sha256=new[-1][1]) == end:
            return with_own_events(_extended(run, [event for event, _ in new], end), spans)
    files = [found[row.file] for row in rows]
    every = (one for read in read_files(engine, folder, files) for one in read.runs)
    same = next((one for one in every if one.digest == run.digest), None)
    if same is None:
        raise unknown_run(run)
    return same


def _extended(run: Run, new: Sequence[AnyEvent], end: Head) -> Run:
    before = run.integrity.head.events if run.integrity.head else 0
    # The reason states the number of events.
    words = run.integrity.reason.replace(f" {before:,} events", f" {end.events:,} events")
    integrity = replace(run.integrity, head=end, reason=words)
    found = Run(events=(*run.events, *new), integrity=integrity, source=run.source)
    # Slow to find and still true, because what is written about a run is not searched.
    if (texts := run.__dict__.get(TEXTS_TO_JUDGES)) is not None:
        found.__dict__[TEXTS_TO_JUDGES] = texts
    return found


def _following(
    run_id: str, last: Head, file: StoredFile, now: LedgerSnapshot
) -> Iterator[tuple[AnyEvent, str]]:
    """The events after the last one that was read, each with the hash of its line."""
    if is_compressed(now.front.read(4)):
        return
    seq, before, name = last.events, last.sha256, run_id.encode()
    for line in now.front.after(file.bytes).split(b"\n"):
        if name not in line:  # another run's; one whose id is written with escapes is found by reading all
            continue
        event = _decode(line)
        if event.run_id == run_id and event.seq == seq and event.prev == before:
            seq, before = seq + 1, sha256(line).hexdigest()
            yield event, before
