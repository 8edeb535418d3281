"""Intervals of a record: they hold the estimate, count runs and not choices, and cover what is true."""

from __future__ import annotations

import pytest
from histories import seen
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from untaken.counterfactual.memory import (
    Observed,
    PolicyMemory,
    Record,
    cost_interval,
    steps_interval,
    success_interval,
)
from untaken.errors import Unscored


def record(log: list[Observed]) -> Record:
    (found,) = PolicyMemory(log).snapshot().records()
    return found


def of(successes: int, failures: int, **fields: object) -> Record:
    outcomes = [1.0] * successes + [0.0] * failures
    return record([seen(f"r{n}", success=x, **fields) for n, x in enumerate(outcomes)])  # type: ignore[arg-type]


@pytest.mark.parametrize(("successes", "failures"), [(1, 1), (3, 7), (50, 2)])
def test_the_success_rate_has_the_tails_of_its_posterior(successes: int, failures: int) -> None:
    low, high = success_interval(of(successes, failures))
    want = stats.beta(0.5 + successes, 0.5 + failures).interval(0.95)
    assert (low, high) == pytest.approx(want, abs=1e-12)


def test_where_nothing_or_everything_succeeded_the_interval_reaches_the_end() -> None:
    assert success_interval(of(0, 5))[0] == 0.0
    assert success_interval(of(5, 0))[1] == 1.0
    assert 0 < success_interval(of(0, 5))[1] < 1


def test_repeats_inside_a_run_do_not_narrow_it() -> None:
    repeats = [seen("r1", success=1.0, key=f"k{n}") for n in range(50)]
    assert success_interval(record(repeats)) == pytest.approx(success_interval(of(1, 0)))


def test_a_mean_has_students_interval_and_none_from_one_run() -> None:
    costs = [0.1, 0.4, 0.2, 0.9]
    found = record([seen(f"r{n}", cost=cost, steps=3.0) for n, cost in enumerate(costs)])
    want = stats.ttest_1samp(costs, 0.0).confidence_interval()
    assert cost_interval(found) == pytest.approx((max(0.0, want.low), want.high))
    assert steps_interval(found) == (3.0, 3.0)
    assert isinstance(cost_interval(record([seen("r1")])), Unscored)
    assert "no outcome has a cost" in cost_interval(record([seen("r1", cost=None)])).reason


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1e6)), min_size=1)
)
def test_an_interval_holds_its_estimate(log: list[tuple[int, float, float]]) -> None:
    found = record([seen(f"r{run}", success=x, cost=c, key=f"k{i}") for i, (run, x, c) in enumerate(log)])
    low, high = success_interval(found)
    assert 0 <= low <= found.success_rate <= high <= 1
    if not isinstance(interval := cost_interval(found), Unscored):
        assert 0 <= interval[0] <= found.avg_cost <= interval[1]
