"""Two agents by each criterion: over common tasks, a task counts once, and the difference task by task."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken.errors import Unscored
from untaken.judging.criteria import Criterion, Quantified, QuantifierRun, compare_agents, read_value
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
