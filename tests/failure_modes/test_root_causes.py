"""Root causes: where people and automatic blame say a run went wrong first, and the human ceiling."""

from __future__ import annotations

import pytest
from builders import a_run

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
from untaken.ledger import ModeAssignment, Run, Verdict, read_ledger
from untaken.ledger.events import Evidence

ANN, BOB = "human:ann", "human:bob"
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
def test_the_root_cause_is_the_earliest_failure_that_a_person_points_at(
    _desc: str, said: list[Utterance], want: RootCause | None
) -> None:
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
