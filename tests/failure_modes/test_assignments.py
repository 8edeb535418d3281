"""What counts of the notes and failure modes in a ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import RunBuilder, a_run

from untaken.analysis.failure_modes import (
    Place,
    Taxonomy,
    assignment_draft,
    assignments_of,
    counted,
    modes_by_run,
    modes_of,
    note_draft,
    note_without_mode,
    notes_of,
)
from untaken.analysis.failure_modes.assignments import withdrawal_draft
from untaken.errors import UntakenError
from untaken.ledger import ModeAssignment, ReviewNote, Run, read_ledger
from untaken.workspace import Workspace


def read(builder: RunBuilder) -> Run:
    (run,) = read_ledger(builder.ledger())
    return run


def finished() -> RunBuilder:
    return a_run("r1").call("look").finish()


def word(
    builder: RunBuilder, mode: str, by: str = "human:ann", status: str = "accepted", **place: object
) -> RunBuilder:
    return builder.add(ModeAssignment, mode=mode, by=by, status=status, **place)


def test_a_mode_at_two_places_of_a_run_counts_once_and_each_place_is_withdrawn_by_itself() -> None:
    builder = word(word(finished(), "m", event=1), "m", sub_goal="s")
    run = read(builder)
    assert [one.place for one in counted(run)] == [Place(event=1), Place(sub_goal="s")]
    assert modes_of(run, Taxonomy()).modes == ("m",)
    later = read(word(builder, "m", status="withdrawn", event=1))
    assert [one.place for one in counted(later)] == [Place(sub_goal="s")]


def test_a_broken_run_counts_nothing() -> None:
    data = word(word(finished(), "m"), "n").ledger()
    (broken,), _ = read_ledger(data[:-20], strict=False)
    assert assignments_of(broken)
    assert counted(broken) == ()
    assert modes_by_run([broken], Taxonomy()) == {}


def test_a_run_is_read_once_a_person_said_something_even_if_they_took_it_back() -> None:
    runs = {
        "nobody": finished(),
        "judge": word(finished(), "m", "judge:x", "suggested"),
        "note": finished().add(ReviewNote, author="human:ann", text="hm"),
        "note of another program": finished().add(ReviewNote, author="ann", text="hm"),
        "note of a judge": finished().add(ReviewNote, author="judge:x", text="hm"),
        "empty note": finished().add(ReviewNote, author="human:ann", text="  "),
        "withdrawn": word(word(finished(), "m"), "m", status="withdrawn"),
    }
    found = {name for name, builder in runs.items() if modes_of(read(builder), Taxonomy()).read}
    assert found == {"note", "note of another program", "withdrawn"}


def test_notes_and_modes_written_in_a_workspace_are_read_back_once_and_as_its_own(tmp_path: Path) -> None:
    place = Place(event=1)
    note = note_draft(" did not look ", author="human:ann", place=place)
    assigned = assignment_draft("m", by="human:ann", place=place, note=3)
    with Workspace(tmp_path) as store:
        store.add("r.jsonl", finished().ledger())
        (run,), _ = store.read_runs()
        for _ in range(2):
            store.append_events(run, [note, assigned])
        (after,), _ = store.read_runs()
        (kept,), (one,) = notes_of(after), assignments_of(after)
        assert (kept.text, kept.author, kept.place, kept.imported) == (
            "did not look",
            "human:ann",
            place,
            False,
        )
        assert (one.mode, one.status, one.note, one.imported) == ("m", "accepted", 3, False)
        assert (kept.run, one.run) == (run.digest, run.digest)
        assert after.integrity.verdict == "INTACT"
        for status in ("withdrawn", "accepted"):  # what was withdrawn can be accepted again
            store.append_events(run, [assignment_draft("m", by="human:ann", status=status, place=place)])
        (after,), _ = store.read_runs()
    assert [e.status for e in after.of(ModeAssignment)] == ["accepted", "withdrawn", "accepted"]


@pytest.mark.parametrize("text", ["", "  \n", "x" * 4001])
def test_a_note_says_something_and_fits(text: str) -> None:
    with pytest.raises(UntakenError) as fault:
        note_draft(text, author="human:ann")
    assert fault.value.code == "note-invalid"


def test_only_ones_own_note_is_taken_back() -> None:
    noted = finished().add(ReviewNote, author="human:ann", text="odd")
    run = read(noted.add(ReviewNote, author="human:bob", text="odd"))
    mine, other = (note.seq for note in notes_of(run))
    assert withdrawal_draft(run, mine, author="human:ann").fields["withdraws"] == mine
    with pytest.raises(UntakenError, match=f"no note {other} in this run") as fault:
        withdrawal_draft(run, other, author="human:ann")
    assert fault.value.hint == f"Own notes: {mine}."
    unsigned = finished().add(ReviewNote, text="odd").add(ReviewNote, withdraws=3)
    assert [note.seq for note in notes_of(read(unsigned))] == [3]


def test_the_note_to_make_a_mode_of_is_the_authors_last_one_that_none_was_read_from() -> None:
    run = finished()
    for author in ("human:ann", "human:ann", "human:ann", "human:bob"):
        run.add(ReviewNote, author=author, text="odd")
    first, second, third, _ = (note.seq for note in notes_of(read(run)))
    run.add(ModeAssignment, mode="m", by="human:ann", note=third)
    run.add(ModeAssignment, mode="n", by="human:ann", note=second, status="suggested")
    found = note_without_mode(read(run), "human:ann")
    assert found.seq == second
    run.add(ModeAssignment, mode="n", by="human:bob", note=second)
    run.add(ModeAssignment, mode="o", by="human:bob", note=first)
    assert note_without_mode(read(run), "human:ann") is None
