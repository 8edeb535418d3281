"""Values of criteria: means over tasks, two agents side by side, and against people's."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import Unscored
from untaken.judging.criteria import (
    Criterion,
    Quantified,
    QuantifierRun,
    compare_agents,
    criteria_against_people,
    outcome_means,
    read_value,
)
from untaken.judging.criteria.criterion import Value
from untaken.judging.criteria.side_by_side import CriterionDifference

CARE = Criterion(name="Care", accepted_values=["none", "some", "much"])


def a_pass(*said: tuple[str, str, int | None], name: str = "p", criterion: Criterion = CARE) -> QuantifierRun:
    """One pass: agent, task and level of each run; ``None`` for a run without a value."""
    items = []
    for place, (agent, task, level) in enumerate(said):
        value = None if level is None else read_value(criterion, criterion.accepted_values[level])
        values = {} if value is None else {criterion.name: value}
        items.append(Quantified(subject=f"s{place}", success=True, values=values, agent=agent, task_id=task))
    return QuantifierRun(name=name, by="x", criteria=(criterion,), items=tuple(items))


def the_one(*passes: QuantifierRun) -> CriterionDifference:
    (found,) = compare_agents(passes, "a", "b")
    return found


def test_only_common_tasks_count_and_repeats_are_averaged_first() -> None:
    found = the_one(
        a_pass(("a", "t1", 2), ("a", "t1", 0), ("a", "t2", 2), ("a", "t3", 0), ("b", "t1", 0), ("b", "t2", 1))
    )
    assert (found.first, found.second, found.difference) == (1.5, 0.5, 1.0)
    assert (found.tasks, found.runs, found.top) == (2, 5, 2)


def test_a_run_without_a_value_and_other_agents_are_left_out() -> None:
    found = the_one(a_pass(("a", "t", 2), ("a", "u", None), ("b", "t", 1), ("b", "u", 1), ("c", "t", 0)))
    assert (found.first, found.second, found.tasks, found.runs) == (2.0, 1.0, 1, 2)


@pytest.mark.parametrize("levels", [(1, 0), (1, 1)])
def test_two_tasks_that_differ_alike_say_little_of_others(levels: tuple[int, int]) -> None:
    rows = [(agent, f"t{n}", level) for n in range(2) for agent, level in zip("ab", levels, strict=True)]
    found = the_one(a_pass(*rows))
    assert not found.clear_difference
    assert found.low < found.difference <= found.high


def test_the_interval_of_the_difference_is_students() -> None:
    found = the_one(
        a_pass(("a", "t", 2), ("b", "t", 0), ("a", "u", 1), ("b", "u", 1), ("a", "v", 2), ("b", "v", 1))
    )
    assert found.difference == pytest.approx(1.0)
    assert found.low == pytest.approx(1 - 4.302652729911275 / 3**0.5)  # t of two degrees, sd 1
    assert found.high == 2.0  # no difference is larger than the scale


LEVELS = st.tuples(st.sampled_from("ab"), st.sampled_from("tuv"), st.integers(0, 2))


@given(st.lists(LEVELS, min_size=1, max_size=20))
def test_exchanging_the_agents_turns_the_difference_round(said: list[Any]) -> None:
    passes = [a_pass(*said)]
    there, back = compare_agents(passes, "a", "b"), compare_agents(passes, "b", "a")
    assert len(there) == len(back)
    for one, other in zip(there, back, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert (one.first, one.second, one.clear_difference) == (
            other.second,
            other.first,
            other.clear_difference,
        )
        if not isinstance(one.low, Unscored) and not isinstance(other.high, Unscored):
            assert one.low == pytest.approx(-other.high)
            assert one.low <= one.difference + 1e-12


def a_pass_of_tasks(*levels: tuple[str, int]) -> QuantifierRun:
    """Successful runs of tasks, each with its level of one criterion."""
    items = [
        Quantified(
            subject=f"r{n}",
            success=True,
            task_id=task,
            agent="a",
            values={"c": Value(text=str(level), level=level)},
        )
        for n, (task, level) in enumerate(levels)
    ]
    criterion = Criterion(name="c", description="", accepted_values=["0", "1", "2"])
    return QuantifierRun(name="one", by="recorded", seed=0, criteria=(criterion,), items=tuple(items))


def test_a_task_counts_once_however_often_it_was_run() -> None:
    (found,) = outcome_means([a_pass_of_tasks(*[("often", 2)] * 9, ("seldom", 0))])
    assert (found.mean, found.n, found.tasks) == (1.0, 10, 2)


def test_repeats_make_no_interval_narrower() -> None:
    once = outcome_means([a_pass_of_tasks(("x", 0), ("y", 1), ("z", 2))])[0]
    often = outcome_means([a_pass_of_tasks(*[("x", 0), ("y", 1), ("z", 2)] * 5)])[0]
    assert (often.low, often.high) == (pytest.approx(once.low), pytest.approx(once.high))
    single = outcome_means([a_pass_of_tasks(*[("x", 1)] * 5)])[0]
    assert isinstance(single.low, Unscored)


def test_tasks_that_all_have_one_level_do_not_make_the_mean_certain() -> None:
    best = outcome_means([a_pass_of_tasks(*[(f"t{n}", 2) for n in range(8)])])[0]
    assert (best.mean, best.high) == (2.0, 2.0)
    assert best.low == pytest.approx(2 * 0.025 ** (1 / 8))  # as of 8 of 8


@pytest.mark.parametrize("tasks", [3, 12])
def test_the_interval_holds_where_nearly_all_tasks_have_the_best_level(tasks: int) -> None:
    random, held = Random(1), 0
    for _ in range(60):
        levels = random.choices((0, 1, 2), weights=(2, 2, 96), k=tasks)
        found = outcome_means([a_pass_of_tasks(*[(f"t{n}", level) for n, level in enumerate(levels)])])[0]
        held += found.low <= 1.94 <= found.high
    assert held >= 55


def test_tasks_with_little_spread_leave_little_doubt() -> None:
    near = outcome_means([a_pass_of_tasks(*[(f"t{n}", 1 + n % 2) for n in range(24)])])[0]
    by_student = 1.5 - 0.216, 1.5 + 0.216
    assert (near.low, near.high) == pytest.approx(by_student, abs=0.03)


CLARITY = Criterion(name="Clarity", description="", accepted_values=["bad", "fair", "good"])


def a_pass_saying(said: dict[str, str], *criteria: Criterion, task: str = "") -> QuantifierRun:
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
    people = a_pass_saying(
        {"a": "bad", "b": "bad", "c": "fair", "d": "good", "e": "good", "f": "good", "g": "bad"}
    )
    other = a_pass_saying(
        {"a": "bad", "b": "fair", "c": "good", "d": "good", "e": "Good", "f": "fair", "h": "bad"}
    )
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
    (one,) = criteria_against_people(
        [a_pass_saying({"x": "good"}, task="maths")], a_pass_saying({name: "good"})
    )
    assert (one.n, one.agreement) == (1, 1.0)


def test_a_value_outside_the_accepted_ones_is_kept_as_said_and_never_equal_to_one() -> None:
    (one,) = criteria_against_people([a_pass_saying({"x": "splendid"})], a_pass_saying({"x": "good"}))
    assert [(cell.people, cell.quantifier) for cell in one.confusion] == [("good", "splendid")]
