"""Blind double reading: a run read again by somebody who does not see what others wrote about it (§9)."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from untaken.ledger import TEXTS_TO_JUDGES, Draft, Event, ModeAssignment, ReviewNote, Run, Verdict


def unseen(run: Run, reader: str | None) -> Run:
    """The run without what people other than `reader` wrote after it; itself for ``None``.

    Recorded checks, judges, and verdicts that the run itself holds stay.
    """
    if reader is None:
        return run
    kept = tuple(one for one in run.events if one.seq < run.own or author_of(one) in (reader, None))
    if len(kept) == len(run.events):
        return run
    found = Run(events=kept, integrity=run.integrity, source=run.source, appended_here=run.appended_here)
    # What is cached stays: it is of the run's own events, which are all still there.
    found.__dict__["digest"] = run.digest
    if (texts := run.__dict__.get(TEXTS_TO_JUDGES)) is not None:
        found.__dict__[TEXTS_TO_JUDGES] = texts
    return found


def has_read(run: Run, reader: str) -> bool:
    """Whether somebody wrote a verdict, a note or a failure mode on the run."""
    return reader in _readers(run)


def other_readers(run: Run, reader: str | None) -> frozenset[str]:
    """The people, other than `reader`, who wrote about the run."""
    return frozenset(_readers(run) - {reader})


def _readers(run: Run) -> set[str]:
    written = (*run.of(Verdict), *run.of(ReviewNote), *run.of(ModeAssignment))
    return {name for one in written if one.seq >= run.own and (name := author_of(one)) is not None}


def author_of(event: Event) -> str | None:
    """The person who wrote an event about a run; ``None`` for any other event."""
    if isinstance(event, ReviewNote):
        name = event.author or ""
        return name if name.startswith("human:") else f"human:{name}"
    if isinstance(event, Verdict | ModeAssignment) and event.by.startswith("human:"):
        return event.by
    return None


def author_of_draft(draft: Draft) -> str | None:
    """The person who writes an event about a run; ``None`` for any other event."""
    name = draft.fields.get("author" if draft.event is ReviewNote else "by")
    people = isinstance(name, str) and name.startswith("human:")
    return name if people and draft.event in (ReviewNote, Verdict, ModeAssignment) else None


def next_to_read_again(runs: Iterable[Run], reader: str | None, *, seed: str = "") -> str | None:
    """Digest of the next run that somebody else has read and `reader` has not; in a random order by seed."""
    found = (
        run.digest
        for run in runs
        if not run.integrity.broken and other_readers(run, reader) and not has_read(run, reader or "")
    )
    # By hash and not by draw: the order stays the same while runs are added and read.
    return min(found, key=lambda digest: sha256(f"{seed} {digest}".encode()).hexdigest(), default=None)
