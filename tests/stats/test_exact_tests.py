"""Exact tests count what they say they count."""

from __future__ import annotations

from itertools import permutations
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, fisher_exact, mannwhitneyu

from untaken.stats.exact import (
    at_least_p,
    fisher_p,
    more_often_p,
    rank_sum_p,
    sign_p,
    superiority,
    superiority_interval,
)


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_fishers_p_counts_every_table_that_is_no_more_probable(n: int, m: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    done = a + b
    ways = {k: comb(n, k) * comb(m, done - k) for k in range(max(0, done - m), min(n, done) + 1)}
    want = sum(way for way in ways.values() if way <= ways[a]) / comb(n + m, done)
    assert fisher_p(a, n, b, m) == pytest.approx(want)


@pytest.mark.parametrize(
    ("first", "second"), [([4.0, 3, 3], [1.0, 0]), ([1.0, 1, 1], [1.0, 1]), ([0.0, 2, 2, 4], [2.0, 2, 3])]
)
def test_the_permutation_p_counts_every_arrangement(first: list[float], second: list[float]) -> None:
    seen = abs(superiority(first, second) - 0.5)
    pooled = [*first, *second]
    arranged = [superiority(p[: len(first)], p[len(first) :]) for p in permutations(pooled)]
    share = sum(abs(theta - 0.5) >= seen - 1e-12 for theta in arranged) / len(arranged)
    assert rank_sum_p(first, second) == pytest.approx(share)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=9), st.lists(st.integers(0, 4), min_size=1, max_size=9)
)
def test_superiority_counts_every_pair_ties_half(first: list[int], second: list[int]) -> None:
    pairs = [(a > b) + (a == b) / 2 for a in first for b in second]
    assert superiority(first, second) == pytest.approx(sum(pairs) / len(pairs))


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_sign_test_is_the_binomial_test(wins: int, losses: int) -> None:
    known = binomtest(wins, wins + losses, alternative="greater").pvalue if wins + losses else 1.0
    assert sign_p(wins, losses) == pytest.approx(known, rel=1e-12)


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_one_sided_p_is_that_of_scipy(n: int, m: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    want = fisher_exact([[a, n - a], [b, m - b]], alternative="greater").pvalue
    assert more_often_p(a, n, b, m) == pytest.approx(want)
    assert more_often_p(a, n, 0, 0) == 1
    chance = b / m
    assert at_least_p(a, n, chance) == pytest.approx(binom.sf(a - 1, n, chance))
    assert at_least_p(n + 1, n, chance) == 0


def test_with_many_subjects_p_is_near_the_exact_one() -> None:
    random = Random(1)
    first, second = (
        [random.choice(range(5)) + 0.4 for _ in range(25)],
        [random.choice(range(5)) for _ in range(25)],
    )
    want = mannwhitneyu(first, second, use_continuity=False, method="asymptotic").pvalue
    assert rank_sum_p(first, second) == pytest.approx(want)
    assert rank_sum_p([2.0] * 25, [2.0] * 25) == 1


@given(st.integers(2, 60), st.integers(2, 60), st.floats(0, 1))
def test_the_interval_of_superiority_holds_it_and_turns_with_the_groups(m: int, n: int, theta: float) -> None:
    low, high = superiority_interval(theta, m, n)
    assert 0 <= low <= theta <= high <= 1
    turned = superiority_interval(1 - theta, m, n)
    assert turned == (pytest.approx(1 - high, abs=1e-6), pytest.approx(1 - low, abs=1e-6))
