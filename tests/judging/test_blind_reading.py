"""Blind double reading: what a second reader sees, what is drawn, how it is counted and settled (§9)."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_run

from untaken.errors import Unscored
from untaken.judging import reviewers_agreement
from untaken.judging.blind_reading import has_read, next_to_read_again, other_readers, unseen
from untaken.ledger import ModeAssignment, ReviewNote, Verdict
from untaken.scoring.verdicts import ruling

ANN, BOB = "human:ann", "human:bob"


def reviewed(run_id: str = "r", *, bob: bool = False) -> RunBuilder:
    """A run that Ann has read, and Bob if asked for; a test and a judge spoke, too."""
    run = a_run(run_id).call("look").verdict("look", True, "test").finish(success=False)
    run.verdict("pay", False, "judge:m").verdict("pay", True, ANN)
    run.add(ReviewNote, author="ann", text="never paid").add(ModeAssignment, mode="paid-twice", by=ANN)
    return run.verdict("pay", False, BOB) if bob else run


def test_a_second_reader_sees_the_run_its_checks_and_judges_and_nothing_that_people_wrote() -> None:
    run = reviewed().run()
    hidden = unseen(run, BOB)
    assert [v.by for v in hidden.of(Verdict)] == ["test", "judge:m"]
    assert not hidden.of(ReviewNote)
    assert not hidden.of(ModeAssignment)
    assert (hidden.digest, hidden.own, hidden.integrity) == (run.digest, run.own, run.integrity)
    assert unseen(run, None) is run
    assert [v.by for v in unseen(run, ANN).of(Verdict)] == ["test", "judge:m", ANN]


def test_the_run_drawn_was_read_by_somebody_else_and_not_by_the_reader() -> None:
    unread = a_run("unread").call("look").finish(success=False).run()
    once, twice = reviewed("once").run(), reviewed("twice", bob=True).run()
    assert next_to_read_again([unread, once, twice], BOB) == once.digest
    assert next_to_read_again([unread, twice], BOB) is None
    assert (other_readers(once, BOB), has_read(twice, BOB)) == ({ANN}, True)


@pytest.mark.parametrize(
    ("desc", "blind", "apart"),
    [
        ("the second one read blind", (False, True), (1, 0)),
        ("the second one had seen it", (True, False), (0, 1)),
    ],
)
def test_agreement_counts_blind_readings_apart(desc, blind, apart) -> None:
    run = a_run("r").finish(success=False)
    for who, read_blind in zip((ANN, BOB), blind, strict=True):
        run.add(Verdict, sub_goal="pay", passed=True, by=who, blind=read_blind)
    found = reviewers_agreement([run.run()])
    assert (found.overall.items, found.blind.items, found.seen.items) == (1, *apart), desc


@pytest.mark.parametrize(
    ("desc", "after", "want"),
    [
        ("what they agreed on decides", [(BOB, True, True)], True),
        ("its author's own verdict stays another one", [(ANN, False, True)], False),
        ("one who speaks again opens it", [(BOB, True, True), (ANN, True, False)], None),
        ("so does taking it back", [(BOB, True, True), (BOB, None, True)], None),
    ],
)
def test_a_settled_disagreement_decides_until_a_reviewer_speaks_again_and_both_verdicts_are_kept(
    desc: str, after: list[tuple[str, bool | None, bool]], want: bool | None
) -> None:
    run = a_run("r").finish(success=False).verdict("pay", True, ANN).verdict("pay", False, BOB)
    for who, passed, settles in after:
        run.add(Verdict, sub_goal="pay", passed=passed, by=who, settles=settles)
    found = ruling(run.run().of(Verdict))
    assert (None if isinstance(found.passed, Unscored) else found.passed) is want, desc
    (judged,) = reviewers_agreement([run.run()]).judged
    assert (judged.met, judged.not_met) == ((ANN,), (BOB,))
