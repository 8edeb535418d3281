"""Verdicts on a mean hold at every look (docs/concepts.md §5, "A gate that may be looked at")."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.gate import World, compared
from untaken.stats.betting import LEVEL, decide, evidence_above, first_above, lower_end

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@pytest.mark.parametrize(
    "world",
    [World(old=0.5, new=0.5), World(old=0.9, new=0.9), World(old=0.8, new=0.8, sub_goals=5, alike=0.9)],
    ids=["success 0.5", "success 0.9", "5 sub-goals"],
)
def test_an_agent_against_itself_is_ever_failed_in_at_most_one_case_of_twenty(world: World) -> None:
    gate, peeking, lower = compared(world, worlds=600, pairs=200)
    assert gate.share <= 0.05
    assert peeking.share > 0.2
    assert lower > 0.3


@pytest.mark.parametrize(
    ("world", "most"), [(World(old=0.7, new=0.5), 110), (World(old=0.7, new=0.6, sub_goals=5), 90)]
)
def test_a_drop_is_found_in_the_end(world: World, most: int) -> None:
    gate, _, _ = compared(world, worlds=200, pairs=300)
    assert gate.share >= 0.95
    assert gate.pairs <= most


@given(SHARES)
def test_the_interval_holds_the_mean_of_values_all_alike_and_is_between_0_and_1(values: list[float]) -> None:
    low, high = lower_end(values), 1 - lower_end([1 - value for value in values])
    assert 0 <= low <= 1
    assert 0 <= high <= 1
    alike = [values[0]] * len(values)
    assert lower_end(alike) <= values[0] <= 1 - lower_end([1 - value for value in alike]) + 1e-9


def test_a_mean_is_shown_after_the_first_value_whose_evidence_reaches_the_level() -> None:
    values = [1.0] * 40 + [0.0] * 40
    shown = next(n for n in range(1, 81) if evidence_above(values[:n], 0.5)[-1] >= -np.log(LEVEL))
    assert first_above(values, 0.5) == shown
    assert first_above(values[: shown - 1], 0.5) is None


@given(SHARES)
def test_both_ends_change_places_where_successes_are_failures(values: list[float]) -> None:
    (low, high), turned = (
        decide(some, passes=0.5, fails=0.5).ends for some in (values, [1 - value for value in values])
    )
    assert turned == pytest.approx((1 - high, 1 - low))
    assert low == lower_end(values)


@given(SHARES, st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_evidence_falls_as_the_mean_that_is_denied_grows(values, one, other) -> None:
    less, more = sorted((one, other))
    assert np.all(evidence_above(values, less) >= evidence_above(values, more) - 1e-9)


@given(SHARES, SHARES)
def test_what_was_shown_stays_shown(values: list[float], later: list[float]) -> None:
    assert lower_end([*values, *later]) >= lower_end(values) - 1e-9


def test_the_capital_is_a_fair_game_where_the_mean_is_what_is_denied() -> None:
    after = [np.exp(evidence_above([a, b, c], 0.5)[-1]) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    assert np.mean(after) == pytest.approx(1.0)
