"""95% intervals hold the truth where tasks are few, or say that they are too few (docs/concepts.md §5).

Simulated with a fixed seed; the bounds leave room for chance, and the worst cases of earlier methods (a
bootstrap of τ-b held .64, Wilson at a rate of .03 held .84) are far outside.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.small_worlds import (
    gate_coverage,
    order_coverage,
    paired_coverage,
    reviewer_coverage,
    share_coverage,
)
from untaken.stats.shares import share_interval

EIGHT, TEN = (pytest.param(tasks, marks=pytest.mark.slow) for tasks in (8, 10))
"""Between worlds that are tried every time."""


@pytest.mark.parametrize("tasks", [6, EIGHT, 10])
@pytest.mark.parametrize("rate", [0.03, 0.1, 0.5, 0.9, 0.97])
def test_the_interval_of_a_rate_holds_it_also_near_0_and_1(rate: float, tasks: int) -> None:
    assert share_coverage(rate, 3, 1, tasks).held >= 0.945


@pytest.mark.parametrize("tasks", [6, TEN, 25])
@pytest.mark.parametrize(
    ("mean", "alike", "trials"),
    [(0.8, 3, 3), (0.7, 5, 5), (0.9, 5, 5), (0.95, 1, 5), (0.5, 99, 15), (0.95, 0.5, 15), (0.9, 1, 15)],
)
def test_the_interval_of_a_share_holds_it(mean: float, alike: float, trials: int, tasks: int) -> None:
    found = share_coverage(mean, alike, trials, tasks)
    assert found.held >= 0.94
    assert max(found.above, found.below) <= 0.04


@pytest.mark.parametrize("tasks", [8, 25])
@pytest.mark.parametrize(
    ("mean", "alike", "trials"),
    [(0.7, 5, 5), (0.9, 5, 5), (0.95, 1, 5), (0.95, 1, 15), (0.8, 3, 3), (0.9, 0.5, 5)],
)
def test_a_gate_passes_an_agent_at_its_bound_in_at_most_one_case_of_forty(mean, alike, trials, tasks) -> None:
    assert gate_coverage(mean, alike, trials, tasks).above <= 0.025


@pytest.mark.parametrize("tasks", [6, 8, 10, 25])
@pytest.mark.parametrize("rate", [0.5, 0.7, 0.9, 0.97])
def test_a_gate_on_single_trials_passes_an_agent_at_its_bound_in_at_most_one_case_of_forty(
    rate: float, tasks: int
) -> None:
    passed = sum(
        binom.pmf(won, tasks, rate)
        for won in range(tasks + 1)
        if share_interval(np.array([[1.0] * won + [0.0] * (tasks - won)]), np.array([float(tasks)]))[0, 0]
        > rate
    )
    assert passed <= 0.025


@pytest.mark.parametrize("tasks", [6, EIGHT, 10])
@pytest.mark.parametrize(
    ("first", "second", "trials"), [(0.7, 0.5, 1), (0.9, 0.8, 3), (0.7, 0.68, 5), (0.95, 0.9, 5)]
)
def test_the_interval_of_a_paired_difference_holds_it(first, second, trials, tasks) -> None:
    assert paired_coverage(first, second, trials, tasks).held >= 0.92


@pytest.mark.parametrize(
    ("spread", "tasks", "repeats"), [(0.02, 6, 1), (0.1, 8, 3), (0.6, 10, 3), (0.6, 25, 3)]
)
def test_ranks_and_tau_hold_their_truth_for_near_equal_agents_too_or_say_too_few_tasks(
    spread: float, tasks: int, repeats: int
) -> None:
    rank, tau = order_coverage(spread, tasks, repeats, worlds=120)
    assert rank.held >= 0.95
    assert tau.held >= 0.95
    # near-equal agents seldom look surely different under both metrics, and where they do, τ-b still holds
    assert (tau.unscored > 0.95) == (spread < 0.5)


@pytest.mark.parametrize(
    ("base", "error", "raters"), [((2, 2), 0.2, 3), ((6, 1.5), 0.1, 3), ((9, 1), 0.1, 2)]
)
def test_alpha_and_kappa_hold_their_truth_from_ten_tasks_on(base, error, raters) -> None:
    for found in reviewer_coverage(base, error, raters, 10, worlds=250):
        assert found.held >= 0.90
        assert found.unscored < 0.5


def test_below_ten_tasks_kappa_and_alpha_hold_their_truth() -> None:
    for found in reviewer_coverage((2, 2), 0.3, 3, 8, worlds=120):
        assert found.held >= 0.93
        assert found.unscored < 0.1
