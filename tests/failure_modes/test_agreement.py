"""Two people on the failure modes of the same runs: κ per mode, and how many events apart they see it."""

from __future__ import annotations

import pytest
from builders import a_run

from untaken.analysis.failure_modes import ModeAgreement, Taxonomy, create_mode, merge_modes, mode_agreement
from untaken.analysis.failure_modes.root_causes import (
    DECISIVE,
    DECISIVE_RECORD,
    RootCause,
    blame_words,
    ceiling_words,
    root_cause_agreement,
    root_causes,
)
from untaken.errors import Unscored
from untaken.ledger import ModeAssignment, ReviewNote, Run, Verdict, read_ledger
from untaken.ledger.events import Evidence

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
