"""Suggested modes: what is like a filed note, never what was settled, never counted."""

from __future__ import annotations

from math import log

import pytest
from builders import RunBuilder, a_run

from untaken.analysis.failure_modes import (
    FiledText,
    ModeSuggester,
    Place,
    Taxonomy,
    assignments_of,
    counted,
    create_mode,
    edit_mode,
    filed_texts,
    judged_suggestions,
    merge_modes,
    notes_of,
    retire_mode,
    settled_modes,
    suggestion_quality,
)
from untaken.analysis.failure_modes.suggesting import DEFINITION
from untaken.errors import Unscored
from untaken.ledger import ModeAssignment, ReviewNote, Run, read_ledger

ANN = "human:ann"


def taxonomy(*names: str) -> Taxonomy:
    made = Taxonomy()
    for name in names:
        made, _ = create_mode(made, name, by=ANN)
    return made


def read(builder: RunBuilder) -> Run:
    (run,) = read_ledger(builder.ledger())
    return run


def noted(run_id: str, text: str, *modes: str, **place: object) -> Run:
    """A run with one note (event 3) that was filed under modes."""
    builder = a_run(run_id).call("look").finish().add(ReviewNote, author=ANN, text=text, **place)
    for mode in modes:
        builder.add(ModeAssignment, mode=mode, by=ANN, note=3, **place)
    return read(builder)


RUNS = [
    noted("a", "misread the delivery date in the order", "misread"),
    noted("b", "took the wrong date from the order result", "misread"),
    noted("c", "refunded without asking for a confirmation", "skipped"),
    noted("d", "no confirmation before the refund was booked", "skipped"),
]
MODES = taxonomy("Misread", "Skipped")


def suggested(text: str, runs: list[Run] = RUNS, modes: Taxonomy = MODES, **options: object) -> list[str]:
    found = ModeSuggester(filed_texts(runs, modes)).suggest(text, **options)  # type: ignore[arg-type]
    return [one.mode for one in found]


CASES = [
    ("like a filed note", "it misread the delivery date", ["misread"]),
    ("like another one, first", "booked the refund without confirmation of the date", ["skipped", "misread"]),
    ("upper case and punctuation make no difference", "MISREAD: the delivery-date!", ["misread"]),
    ("like no note", "kept talking about football", []),
    ("empty", "", []),
    ("like the name of a mode alone", "skipped", ["skipped"]),
]


@pytest.mark.parametrize(("_desc", "text", "want"), CASES, ids=[desc for desc, _, _ in CASES])
def test_a_text_is_given_the_modes_of_the_notes_most_like_it(_desc: str, text: str, want: list[str]) -> None:
    assert suggested(text) == want


def test_a_suggestion_names_the_note_it_rests_on() -> None:
    first = ModeSuggester(filed_texts(RUNS, MODES)).suggest("it misread the delivery date")[0]
    assert first.like == notes_of(RUNS[0])[0]
    assert 0.1 < first.likeness < 1
    by_name = ModeSuggester(filed_texts([], MODES)).suggest("skipped")[0]
    assert (by_name.mode, by_name.like) == ("skipped", None)


def test_likeness_is_the_cosine_of_words_weighted_by_tf_idf() -> None:
    (one,) = ModeSuggester([FiledText(text="alpha alpha beta", modes=("m",))]).suggest("alpha gamma")
    # A word said twice, and one that no filed text has, weigh 1 + ln 2 each; the others 1.
    more = 1 + log(2)
    assert one.likeness == pytest.approx(DEFINITION * more / (1 + more**2))


def test_what_is_settled_left_out_or_retired_is_not_suggested_and_merged_modes_are_what_they_became() -> None:
    text = "misread the delivery date, no confirmation"
    assert suggested(text, without={"misread"}) == ["skipped"]
    ones = {run.digest for run in RUNS[:2]}
    assert suggested("delivery date in the order result", leave_out=ones) == []
    merged = merge_modes(MODES, ["misread"], "skipped", by=ANN)
    assert suggested("it misread the delivery date", modes=merged) == ["skipped"]
    assert suggested("it misread the delivery date", modes=retire_mode(MODES, "misread", by=ANN)) == []
    words = "misread the delivery date in the order"  # a definition counts less than a filed note
    assert suggested(words, modes=edit_mode(MODES, "skipped", definition=words, by=ANN))[0] == "misread"


def test_a_mode_at_the_place_of_a_note_files_it_and_one_elsewhere_or_withdrawn_does_not() -> None:
    builder = a_run("w").call("look").finish().add(ReviewNote, author=ANN, text="lost the thread")
    builder.add(ModeAssignment, mode="misread", by=ANN, note=3)
    builder.add(ModeAssignment, mode="misread", by=ANN, status="withdrawn")
    placed = a_run("p").call("look").finish().add(ReviewNote, author=ANN, text="here", event=1)
    placed.add(ModeAssignment, mode="misread", by=ANN, event=1)
    placed.add(ModeAssignment, mode="skipped", by=ANN, event=2)
    runs = [read(builder), noted("n", "lost the thread again"), read(placed)]
    (filed,) = [one for one in filed_texts(runs, MODES) if one.note]
    assert (filed.text, filed.modes) == ("here", ("misread",))


SETTLED = [
    ("nobody answered", [], ["misread"]),
    ("accepted by a person", [(ANN, "accepted")], []),
    ("dismissed by a person", [(ANN, "withdrawn")], []),
    ("withdrawn by the judge", [("judge:m", "withdrawn")], []),
]


@pytest.mark.parametrize(("_desc", "answers", "want"), SETTLED, ids=[desc for desc, _, _ in SETTLED])
def test_a_judges_suggestion_waits_until_a_person_answers_it(_desc, answers, want) -> None:
    builder = a_run("j").call("look").finish()
    builder.add(ModeAssignment, mode="misread", by="judge:m", status="suggested", event=1)
    for by, status in answers:
        builder.add(ModeAssignment, mode="misread", by=by, status=status, event=1)
    run = read(builder)
    assert [one.mode for one in judged_suggestions(run, MODES)] == want
    assert len(counted(run)) == answers.count((ANN, "accepted"))
    assert assignments_of(run)


def test_quality_is_measured_on_notes_of_other_runs_beside_the_most_frequent_mode() -> None:
    found = suggestion_quality(filed_texts(RUNS, MODES))
    assert (found.notes, found.runs, found.right, found.majority, found.silent) == (4, 4, 1.0, 0.5, 0)
    assert isinstance(found.low, float)
    assert found.low < 0.9
    twice = noted("e", "a cold start with words of its own", "misread")
    why = Unscored("needs filed notes on at least two runs")
    assert suggestion_quality(filed_texts([twice], MODES)).right == why
    odd = [FiledText(text=t, modes=("m",), note=notes_of(r)[0]) for t, r in zip("ab", RUNS, strict=False)]
    found = suggestion_quality(odd)  # how many notes had no suggestion
    assert (found.right, found.majority, found.silent) == (0.0, 1.0, 2)


def test_one_very_long_note_costs_what_its_length_does() -> None:
    suggester = ModeSuggester(filed_texts(RUNS, MODES))
    assert suggester.suggest("date " * 200_000)[0].mode == "misread"


def test_modes_accepted_at_a_place_or_dismissed_by_the_reader_are_not_suggested_there() -> None:
    builder = a_run("s").call("look").finish()
    for mode, by, status, event in (
        ("misread", "human:bob", "accepted", 1),
        ("skipped", "human:bob", "withdrawn", 1),
        ("skipped", ANN, "accepted", 2),
    ):
        builder.add(ModeAssignment, mode=mode, by=by, status=status, event=event)
    assert settled_modes(read(builder), Place(event=1), MODES, by=ANN) == {"misread"}
    assert settled_modes(read(builder), Place(event=1), MODES, by="human:bob") == {"misread", "skipped"}
