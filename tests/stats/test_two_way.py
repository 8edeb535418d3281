"""Options compared between agents that ran each task once."""

from __future__ import annotations

import numpy as np
import pytest

from untaken.stats.two_way import Block, slope_between_agents


def test_with_two_agents_the_slope_is_that_of_their_differences() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 2, (12, 2)).astype(float), rng.integers(0, 2, (12, 2)).astype(float)
    dx, dy = x[:, 0] - x[:, 1], y[:, 0] - y[:, 1]
    found = slope_between_agents([Block(x, y)])
    assert found.slope == pytest.approx(np.cov(dx, dy)[0, 1] / np.var(dx, ddof=1))


def test_an_agent_that_is_better_everywhere_is_no_effect_of_its_choice() -> None:
    x = np.array([[1.0, 0.0]] * 10)
    y = np.array([[1.0, 0.0]] * 10)
    assert slope_between_agents([Block(x, y)]) is None


def test_the_interval_of_a_slope_beyond_1_is_that_of_the_slope_and_not_of_1() -> None:
    chose = np.array([[1.0, 0.0]] * 4 + [[0.0, 0.0]] * 8)
    succeeded = np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 8)  # Δy is +1 and −1: the slope would be 2
    found = slope_between_agents([Block(chose, succeeded)])
    assert (found.slope, found.high, found.p < 0.01) == (1.0, 1.0, True)
    assert 0 < found.low < 1
    other = slope_between_agents([Block(1 - chose, succeeded)])
    assert (other.slope, other.low, other.high) == (-1.0, -1.0, pytest.approx(-found.low))


def test_null_choices_are_called_at_the_stated_rate() -> None:
    rng = np.random.default_rng(7)
    called = 0
    for _ in range(200):
        x = rng.integers(0, 2, (15, 2)).astype(float)
        y = (rng.random((15, 2)) < [0.8, 0.3]).astype(float)  # agents differ, choices do not
        found = slope_between_agents([Block(x, y)])
        called += found is not None and found.p <= 0.05
    assert called <= 20
