"""Repeats of a task are no new evidence for a criterion: the units of its means are tasks."""

from __future__ import annotations

from random import Random

import pytest

from untaken.errors import Unscored
from untaken.judging.criteria import Criterion, Quantified, QuantifierRun, outcome_means
from untaken.judging.criteria.criterion import Value


def a_pass(*levels: tuple[str, int]) -> QuantifierRun:
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
    (found,) = outcome_means([a_pass(*[("often", 2)] * 9, ("seldom", 0))])
    assert (found.mean, found.n, found.tasks) == (1.0, 10, 2)


def test_repeats_make_no_interval_narrower() -> None:
    once = outcome_means([a_pass(("x", 0), ("y", 1), ("z", 2))])[0]
    often = outcome_means([a_pass(*[("x", 0), ("y", 1), ("z", 2)] * 5)])[0]
    assert (often.low, often.high) == (pytest.approx(once.low), pytest.approx(once.high))
    single = outcome_means([a_pass(*[("x", 1)] * 5)])[0]
    assert isinstance(single.low, Unscored)


def test_tasks_that_all_have_one_level_do_not_make_the_mean_certain() -> None:
    best = outcome_means([a_pass(*[(f"t{n}", 2) for n in range(8)])])[0]
    assert (best.mean, best.high) == (2.0, 2.0)
    assert best.low == pytest.approx(2 * 0.025 ** (1 / 8))  # as of 8 of 8


@pytest.mark.parametrize("tasks", [3, 12])
def test_the_interval_holds_where_nearly_all_tasks_have_the_best_level(tasks: int) -> None:
    random, held = Random(1), 0
    for _ in range(60):
        levels = random.choices((0, 1, 2), weights=(2, 2, 96), k=tasks)
        found = outcome_means([a_pass(*[(f"t{n}", level) for n, level in enumerate(levels)])])[0]
        held += found.low <= 1.94 <= found.high
    assert held >= 55


def test_tasks_with_little_spread_leave_little_doubt() -> None:
    near = outcome_means([a_pass(*[(f"t{n}", 1 + n % 2) for n in range(24)])])[0]
    by_student = 1.5 - 0.216, 1.5 + 0.216
    assert (near.low, near.high) == pytest.approx(by_student, abs=0.03)
