"""Which events of a run this workspace appended itself; every other one was imported with a file (§1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Row, insert, select

from untaken.ledger import Head, Run
from untaken.workspace.faults import row_reader
from untaken.workspace.records import among, now
from untaken.workspace.tables import own_events


class OwnSpan(Struct, frozen=True, kw_only=True):
    """Events that one append of this workspace wrote: those after `start`, up to `end`."""

    start: Head
    end: Head


def remember(connection: Connection, run_id: str, span: OwnSpan) -> None:
    """Records what was appended, with the hashes before and after it: in another chain it is not ours."""
    connection.execute(
        insert(own_events).values(
            run_id=run_id,
            events_before=span.start.events,
            sha256_before=span.start.sha256,
            events_after=span.end.events,
            sha256_after=span.end.sha256,
            written_at=now(),
        )
    )


def own_spans(connection: Connection, run_ids: Sequence[str]) -> dict[str, list[OwnSpan]]:
    """What was appended here to each of these runs."""
    found: dict[str, list[OwnSpan]] = {}
    for part in among(own_events.c.run_id, run_ids):
        for row in connection.execute(select(own_events).where(part).order_by(own_events.c.position)):
            found.setdefault(row.run_id, []).append(_span(row))
    return found


@row_reader
def _span(row: Row[Any]) -> OwnSpan:
    return OwnSpan(
        start=Head(events=row.events_before, sha256=row.sha256_before),
        end=Head(events=row.events_after, sha256=row.sha256_after),
    )


def with_own_events(run: Run, spans: Mapping[str, Sequence[OwnSpan]]) -> Run:
    """The run with the `seq` of what was appended here, as far as its chain passes through it."""
    own = frozenset(
        event.seq
        for span in spans.get(run.run_id, ())
        if _hash_after(run, span.start.events) == span.start.sha256
        and _hash_after(run, span.end.events) == span.end.sha256
        for event in run.events[span.start.events : span.end.events]
    )
    return replace(run, appended_here=own) if own else run


def _hash_after(run: Run, events: int) -> str | None:
    """SHA-256 of the last of the first `events` lines of a run, where its chain says it."""
    if events < len(run.events):
        return run.events[events].prev  # a line names the hash of the one before
    head = run.integrity.head
    return head.sha256 if head is not None and head.events == events else None
