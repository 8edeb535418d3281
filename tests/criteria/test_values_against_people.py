"""A quantifier's values against people's: share, Cohen's κ and confusion of each criterion."""

from __future__ import annotations

import pytest

from untaken.judging.criteria import Criterion, Quantified, QuantifierRun, criteria_against_people, read_value

CLARITY = Criterion(name="Clarity", description="", accepted_values=["bad", "fair", "good"])


def a_pass(said: dict[str, str], *criteria: Criterion, task: str = "") -> QuantifierRun:
    items = tuple(
        Quantified(
            subject=subject,
            success=None,
            values={"Clarity": read_value(CLARITY, value)},
            run_id=f"run-{subject}" if task else "",
            task_id=f"{task}/{subject}" if task else "",
        )
        for subject, value in said.items()
    )
    return QuantifierRun(name="p", by="recorded", criteria=criteria or (CLARITY,), items=items)


def test_kappa_and_confusion_are_those_of_the_values_that_both_gave() -> None:
    """4 of 6 equal; chance 13/36: people bad 2, fair 1, good 3; the quantifier bad 1, fair 2, good 3."""
    people = a_pass({"a": "bad", "b": "bad", "c": "fair", "d": "good", "e": "good", "f": "good", "g": "bad"})
    other = a_pass({"a": "bad", "b": "fair", "c": "good", "d": "good", "e": "Good", "f": "fair", "h": "bad"})
    (one,) = criteria_against_people([other], people)
    assert (one.name, one.n) == ("Clarity", 6)
    assert one.agreement == pytest.approx(3 / 6)
    chance = (2 * 1 + 1 * 2 + 3 * 3) / 36
    assert one.kappa == pytest.approx((0.5 - chance) / (1 - chance))
    assert {(cell.people, cell.quantifier): cell.n for cell in one.confusion} == {
        ("bad", "bad"): 1,
        ("bad", "fair"): 1,
        ("fair", "good"): 1,
        ("good", "good"): 2,
        ("good", "fair"): 1,
    }


NAMES = [
    ("the name of the problem", "x"),
    ("the run id", "run-x"),
    ("the task", "maths/x"),
    ("as files do", "maths_x.json"),
]


@pytest.mark.parametrize(("_desc", "name"), NAMES, ids=[desc for desc, _ in NAMES])
def test_people_may_name_a_run_in_several_ways(_desc: str, name: str) -> None:
    (one,) = criteria_against_people([a_pass({"x": "good"}, task="maths")], a_pass({name: "good"}))
    assert (one.n, one.agreement) == (1, 1.0)


def test_a_value_outside_the_accepted_ones_is_kept_as_said_and_never_equal_to_one() -> None:
    (one,) = criteria_against_people([a_pass({"x": "splendid"})], a_pass({"x": "good"}))
    assert [(cell.people, cell.quantifier) for cell in one.confusion] == [("good", "splendid")]
