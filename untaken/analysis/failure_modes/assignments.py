"""Notes and assigned failure modes, as the ledger of a run keeps them (§9).

A note is a ``REVIEW_NOTE``, an assignment a ``FAILURE_MODE``: appended to the run's ledger, never rewritten.
What counts is each author's latest word on one mode at one place of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from untaken import limits
from untaken.analysis.failure_modes.failure_mode import Taxonomy
from untaken.errors import UntakenError
from untaken.ledger import Draft, ModeAssignment, ReviewNote, Run

AssignmentStatus = Literal["accepted", "suggested", "withdrawn"]


class Place(Struct, frozen=True, kw_only=True):
    """Where in a run a note or a mode belongs; without either it is about the whole run.

    Attributes:
        sub_goal: id of a sub-goal of the run's plan graph (untrusted).
        event: `seq` of an event of the run.
    """

    sub_goal: str | None = None
    event: int | None = None


RUN: Final = Place()
"""The whole run."""


class Note(Struct, frozen=True, kw_only=True):
    """What somebody wrote about a run (untrusted text).

    Attributes:
        run: digest of the run; `run_id` its own id.
        seq: of the note itself.
        author: ``human:…`` where it was written in the app; ``None`` where not recorded.
        imported: it came with a file, signed in any name.
    """

    run: str
    run_id: str
    seq: int
    text: str
    author: str | None
    at: datetime
    place: Place
    imported: bool


class Assignment(Struct, frozen=True, kw_only=True):
    """One author's latest word on one mode at one place of a run.

    Attributes:
        run: digest of the run; `run_id` its own id.
        seq: of the event that says so.
        mode: the id as it was assigned (`Taxonomy.current` gives the one it counts as).
        by: ``human:…`` or ``judge:…``.
        status: a judge's word is a suggestion, whatever it says.
        note: `seq` of the note that the mode was read from.
        imported: it came with a file, signed in any name.
    """

    run: str
    run_id: str
    seq: int
    mode: str
    by: str
    status: AssignmentStatus
    at: datetime
    place: Place
    note: int | None
    reason: str | None
    imported: bool


class RunModes(Struct, frozen=True, kw_only=True):
    """What people found in one run.

    Attributes:
        run: digest of the run; `run_id` its own id.
        modes: ids of the modes that count, as the taxonomy names them now; each once, in order assigned.
        assignments: those behind `modes`.
        notes: every note that was not withdrawn.
        read: a person wrote a note on the run or a word on a mode, withdrawn or not. A run without either was
            perhaps never opened: it says nothing about which modes are in it.
    """

    run: str
    run_id: str
    agent: str
    task_id: str
    modes: tuple[str, ...]
    assignments: tuple[Assignment, ...]
    notes: tuple[Note, ...]
    read: bool


def notes_of(run: Run) -> tuple[Note, ...]:
    """The notes on a run that say something and were not withdrawn by their author, oldest first."""
    written = run.of(ReviewNote)
    # A withdrawal without an author could be anybody's: it takes nothing back.
    withdrawn = {(one.author, one.withdraws) for one in written if one.author}
    return tuple(
        Note(
            run=run.digest,
            run_id=run.run_id,
            seq=note.seq,
            text=note.text,
            author=note.author,
            at=note.ts,
            place=Place(sub_goal=note.sub_goal, event=note.event),
            imported=run.imported(note),
        )
        for note in written
        if note.text.strip() and (note.author, note.seq) not in withdrawn
    )


def note_without_mode(run: Run, author: str | None) -> Note | None:
    """The author's last note on a run that no failure mode was read from."""
    filed = {one.note for one in assignments_of(run) if one.status == "accepted"}
    return next((n for n in reversed(notes_of(run)) if n.author == author and n.seq not in filed), None)


def readers_of(run: Run) -> frozenset[str]:
    """The people who read a run: they wrote a note on it or a word on a mode, withdrawn or not.

    Empty for a note without an author.
    """
    notes = {_signed(note.author or "") for note in run.of(ReviewNote) if note.text.strip()}
    words = {word.by for word in run.of(ModeAssignment)}
    return frozenset(who for who in notes | words if not who or who.startswith("human:"))


def _signed(author: str) -> str:
    """The author of a note as verdicts name authors: other programs sign with the bare name of a person."""
    known = not author or author in ("test", "rule") or author.startswith(("human:", "judge:"))
    return author if known else f"human:{author}"


def assignments_of(run: Run) -> tuple[Assignment, ...]:
    """Each author's latest word on each mode at each place of a run, in order of the ledger."""
    latest: dict[tuple[str, str, Place], Assignment] = {}
    for event in run.of(ModeAssignment):
        place = Place(sub_goal=event.sub_goal, event=event.event)
        key = (event.by, event.mode, place)
        latest.pop(key, None)  # so that the newer word comes last
        judged = event.by.startswith("judge:") and event.status == "accepted"
        latest[key] = Assignment(
            run=run.digest,
            run_id=run.run_id,
            seq=event.seq,
            mode=event.mode,
            by=event.by,
            status="suggested" if judged else event.status,
            at=event.ts,
            place=place,
            note=event.note,
            reason=event.reason,
            imported=run.imported(event),
        )
    return tuple(latest.values())


def counted(run: Run) -> tuple[Assignment, ...]:
    """The assignments that count: those that people accepted.

    None of a broken run: nothing may be concluded from it.
    """
    if run.integrity.broken:
        return ()
    # A judge's word is never among them: it is a suggestion, whatever it says.
    return tuple(one for one in assignments_of(run) if one.status == "accepted")


def modes_of(run: Run, taxonomy: Taxonomy) -> RunModes:
    """What people found in a run, with modes as the taxonomy names them now.

    One person's word is enough for a mode to count; how far two people agree is a figure of its own.
    """
    found, notes = counted(run), notes_of(run)
    return RunModes(
        run=run.digest,
        run_id=run.run_id,
        agent=run.agent,
        task_id=run.task_id,
        modes=tuple(dict.fromkeys(taxonomy.current(one.mode) for one in found)),
        assignments=found,
        notes=notes,
        read=bool(readers_of(run)),
    )


def modes_by_run(runs: Iterable[Run], taxonomy: Taxonomy) -> dict[str, RunModes]:
    """What people found in each run, by the run's digest; without broken runs."""
    return {run.digest: modes_of(run, taxonomy) for run in runs if not run.integrity.broken}


def note_draft(text: str, *, author: str, place: Place = RUN) -> Draft:
    """A note, to be appended to a run's ledger (`Workspace.append_events`).

    Raises:
        UntakenError: ``note-invalid`` for an empty text or one above the limit.
    """
    words = text.encode(errors="replace").decode().strip()  # a lone surrogate fits in no file
    if not words or len(words) > limits.NOTE_CHARS:
        raise UntakenError(
            "note-invalid",
            f"the note has {len(words):,} characters" if words else "the note is empty",
            hint=f"Write 1 to {limits.NOTE_CHARS:,} characters.",
        )
    fields = {"author": author, "text": words, "sub_goal": place.sub_goal, "event": place.event}
    return Draft(ReviewNote, {name: value for name, value in fields.items() if value is not None})


def withdrawal_draft(run: Run, seq: int, *, author: str) -> Draft:
    """Takes back one's own note, to be appended to the run's ledger.

    Raises:
        UntakenError: ``note-invalid`` where the author has no such note in the run.
    """
    own = [note.seq for note in notes_of(run) if note.author == author]
    if seq not in own:
        raise UntakenError(
            "note-invalid",
            f"{author} has no note {seq} in this run",
            hint=f"Own notes: {', '.join(map(str, own)) or 'none'}.",
        )
    return Draft(ReviewNote, {"author": author, "withdraws": seq})


def assignment_draft(
    mode: str,
    *,
    by: str,
    status: AssignmentStatus = "accepted",
    place: Place = RUN,
    note: int | None = None,
    reason: str | None = None,
) -> Draft:
    """A label of a failure mode, to append to a run's ledger; repeating it appends nothing."""
    fields = {
        "mode": mode,
        "by": by,
        "status": status,
        "sub_goal": place.sub_goal,
        "event": place.event,
        "note": note,
        "reason": reason,
    }
    return Draft(ModeAssignment, {name: value for name, value in fields.items() if value is not None})
