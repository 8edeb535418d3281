"""What counts of the notes and modes in a ledger, and how far two people agree on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import RunBuilder, a_run

from untaken.analysis.failure_modes import (
    ModeAgreement,
    Place,
    Taxonomy,
    assignment_draft,
    assignments_of,
    counted,
    create_mode,
    merge_modes,
    mode_agreement,
    modes_by_run,
    modes_of,
    note_draft,
    note_without_mode,
    notes_of,
)
from untaken.analysis.failure_modes.assignments import withdrawal_draft
from untaken.analysis.failure_modes.root_causes import (
    DECISIVE,
    DECISIVE_RECORD,
    RootCause,
    blame_words,
    ceiling_words,
    root_cause_agreement,
    root_causes,
)
from untaken.errors import Unscored, UntakenError
from untaken.ledger import ModeAssignment, ReviewNote, Run, Verdict, read_ledger
from untaken.ledger.events import Evidence
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


ANN, BOB = "human:ann", "human:bob"
Seen = dict[str, int | None]


def a_reading(number: int, ann: Seen | None, bob: Seen | None) -> Run:
    """A run that each may have read (a note), with the modes they see and at which event."""
    builder = a_run(f"r{number}", task=f"t{number}").call("look").call("pay").call("send").finish()
    for by, seen in ((ANN, ann), (BOB, bob)):
        if seen is not None:
            builder.add(ReviewNote, author=by, text="read it")
        for mode, event in (seen or {}).items():
            builder.add(ModeAssignment, mode=mode, by=by, **({} if event is None else {"event": event}))
    (run,) = read_ledger(builder.ledger())
    return run


def found(*runs: Run, taxonomy: Taxonomy | None = None) -> dict[str, ModeAgreement]:
    return {one.mode: one for one in mode_agreement(runs, taxonomy or Taxonomy())}


def test_kappa_of_a_mode_is_that_of_its_yes_and_no_over_the_runs_that_both_read() -> None:
    runs = [a_reading(i, {"m": None}, {"m": None}) for i in range(3)]
    runs += [a_reading(i, {}, {}) for i in range(3, 6)]
    runs += [a_reading(6, {"m": None}, {}), a_reading(7, {}, {"m": None}), a_reading(8, {"m": None}, None)]
    one = found(*runs)["m"]
    assert (one.a, one.b) == (ANN, BOB)
    assert (one.n, one.both, one.only_a, one.only_b, one.neither, one.runs) == (8, 3, 1, 1, 3, 8)
    assert one.agreement == pytest.approx(0.75)
    assert one.kappa == pytest.approx(0.5)
    assert isinstance(one.low, float)
    assert (one.kappa_low, one.kappa_high) == (pytest.approx(-0.57, abs=0.01), pytest.approx(0.94, abs=0.01))


DISTANCES = [
    ("the same event", {"m": 2}, {"m": 2}, (1, 1, 1, 0.0)),
    ("one apart", {"m": 2}, {"m": 3}, (1, 0, 1, 1.0)),
    ("two apart", {"m": 1}, {"m": 3}, (1, 0, 0, 2.0)),
    ("one of them names no event", {"m": 2}, {"m": None}, (0, 0, 0, None)),
    ("one of them does not see it", {"m": 2}, {}, (0, 0, 0, None)),
]


@pytest.mark.parametrize(("_desc", "ann", "bob", "want"), DISTANCES, ids=[d for d, *_ in DISTANCES])
def test_steps_are_compared_where_both_name_an_event(_desc, ann, bob, want) -> None:
    one = found(a_reading(0, ann, bob))["m"]
    distance = None if isinstance(one.median_distance, Unscored) else one.median_distance
    assert (one.located, one.same_step, one.near_step, distance) == want


def test_all_modes_together_come_first_and_count_each_mode_of_each_run() -> None:
    runs = [a_reading(0, {"m": None, "n": None}, {"m": None}), a_reading(1, {}, {"n": None})]
    whole = mode_agreement(runs, Taxonomy())[0]
    assert (whole.mode, whole.n, whole.both, whole.only_a, whole.only_b, whole.neither) == ("", 4, 1, 1, 1, 1)


def test_merged_modes_are_one() -> None:
    taxonomy = Taxonomy()
    for name in ("m", "n"):
        taxonomy, _ = create_mode(taxonomy, name, by=ANN)
    runs = [a_reading(0, {"m": None}, {"n": None})]
    assert found(*runs, taxonomy=taxonomy).keys() == {"", "m", "n"}
    one = found(*runs, taxonomy=merge_modes(taxonomy, ["n"], "m", by=ANN))["m"]
    assert (one.both, one.only_a, one.only_b) == (1, 0, 0)


def test_a_judge_and_an_unsigned_note_are_nobody_and_who_saw_nothing_has_nothing_to_compare() -> None:
    builder = a_run("r").call("look").finish().add(ReviewNote, text="hm")
    builder.add(ReviewNote, author=ANN, text="read it")
    builder.add(ModeAssignment, mode="m", by="judge:x", status="suggested")
    (run,) = read_ledger(builder.ledger())
    assert mode_agreement([run], Taxonomy()) == ()
    (whole,) = mode_agreement([a_reading(0, {}, {})], Taxonomy())
    assert (whole.n, whole.runs, whole.kappa) == (0, 1, Unscored("neither saw any mode"))


Utterance = tuple[type, dict[str, object]]


def failed(sub_goal: str, seq: int | None, *, by: str = ANN, passed: bool = False) -> Utterance:
    """A verdict that points at an event."""
    quotes = {} if seq is None else {"evidence": [Evidence(seq=seq, quote="pay")]}
    return Verdict, {"sub_goal": sub_goal, "passed": passed, "by": by, **quotes}


def mode_at(event: int, *, by: str = ANN) -> Utterance:
    return ModeAssignment, {"mode": "m", "by": by, "event": event}


def a_labelled_run(*said: Utterance, number: int = 0) -> Run:
    builder = a_run(f"r{number}", task=f"t{number}").call("look").call("pay").call("send")
    builder = builder.finish(success=False)
    for kind, fields in said:
        builder.add(kind, **fields)
    (run,) = read_ledger(builder.ledger())
    return run


CASES = [
    ("the earliest failing verdict", [failed("b", 3), failed("a", 2)], RootCause(event=2, sub_goal="a")),
    ("a verdict that passes blames nothing", [failed("a", 1, passed=True)], None),
    ("the author's later word replaces it", [failed("a", 1), failed("a", 1, passed=True)], None),
    ("without evidence there is no step", [failed("a", None)], None),
    ("a mode at an event", [mode_at(3), mode_at(2)], RootCause(event=2)),
    ("verdicts count before modes", [mode_at(1), failed("a", 3)], RootCause(event=3, sub_goal="a")),
]  # fmt: skip


@pytest.mark.parametrize(("_desc", "said", "want"), CASES, ids=[desc for desc, *_ in CASES])
def test_the_root_cause_is_the_earliest_failure_that_a_person_points_at(_desc, said, want) -> None:
    assert root_causes(a_labelled_run(*said)).get(ANN) == want


def test_two_people_are_compared_and_blame_is_compared_with_each_of_them() -> None:
    apart = [(1, 1), (2, 3), (1, 4)]
    runs = [
        a_labelled_run(failed("x", a), failed("x" if a == 1 else "y", b, by=BOB), number=number)
        for number, (a, b) in enumerate(apart)
    ]
    people, *blame = root_cause_agreement(runs, {run.digest: 1 for run in runs})
    assert (people.a, people.b, people.runs, people.same_step, people.near_step) == (ANN, BOB, 3, 1, 2)
    assert people.same == pytest.approx(1 / 3)
    assert people.median_distance == 1.0
    assert (people.named, people.same_sub_goal) == (3, 2)
    assert people.kappa == 0.0
    assert [(one.a, one.b, one.same_step, one.named) for one in blame] == [
        (DECISIVE, ANN, 2, 0),
        (DECISIVE, BOB, 1, 0),
    ]
    assert isinstance(blame[0].kappa, Unscored)
    assert ceiling_words([people, *blame]).startswith("Human ceiling: two people named the same step in 1 of")
    assert "not known" in ceiling_words(blame)
    assert blame_words([people, *blame]).startswith(
        "It is the step that a person named in 2 of 3 runs (human:ann), 1 of 3 runs (human:bob). Human"
    )
    assert blame_words([]).startswith("No person named a step. Agreement of people not known")
    assert all(
        words.endswith(f"{DECISIVE_RECORD}.") for words in (blame_words([]), blame_words([people, *blame]))
    )


def test_what_is_recorded_beside_a_step_is_no_step() -> None:
    builder = a_run().say("looking").plan("look").state(looked=True).call("look").finish(success=False)
    builder.verdict("x", False, ANN, evidence=(1,)).verdict("x", False, BOB, evidence=(4,))
    (found,) = root_cause_agreement(read_ledger(builder.ledger()))
    assert (found.same_step, found.near_step, found.median_distance) == (0, 1, 1.0)
