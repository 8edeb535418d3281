"""Two options inside strata: the exact test, the risk difference and its interval."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact, hypergeom

from untaken.stats.exact import fisher_p
from untaken.stats.stratified import (
    Stratum,
    exact_test,
    hypergeometric,
    mean_differences,
    more_often_inside_p,
    risk_difference,
    score_interval,
)

sides = st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
strata = st.lists(st.builds(lambda one, two: Stratum(*one, *two), sides, sides), min_size=1, max_size=3)


@given(st.integers(1, 3_000), st.integers(1, 3_000), st.data())
def test_probabilities_and_p_are_those_of_scipy(n1: int, n0: int, data: st.DataObject) -> None:
    k1, k0 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n0))
    low, probabilities = hypergeometric(n1, n0, k1 + k0)
    totals = np.arange(low, low + probabilities.size)
    wanted = hypergeom.pmf(totals, n1 + n0, n1, k1 + k0)
    assert probabilities == pytest.approx(wanted, abs=1e-12)
    assert (totals[0], totals[-1]) == hypergeom.support(n1 + n0, n1, k1 + k0)
    p = fisher_exact([[k1, n1 - k1], [k0, n0 - k0]]).pvalue
    assert fisher_p(k1, n1, k0, n0) == pytest.approx(p, abs=1e-12)


@given(strata)
def test_p_counts_every_arrangement_that_is_no_likelier(found: list[Stratum]) -> None:
    def spread(s: Stratum) -> list[tuple[int, float]]:
        n, k = s.n1 + s.n0, s.k1 + s.k0
        return [
            (x, comb(s.n1, x) * comb(s.n0, k - x) / comb(n, k))
            for x in range(max(0, k - s.n0), min(s.n1, k) + 1)
        ]

    totals: dict[int, float] = {}
    for combination in product(*map(spread, found)):
        total = sum(x for x, _ in combination)
        totals[total] = totals.get(total, 0.0) + float(np.prod([p for _, p in combination]))
    observed = totals[sum(s.k1 for s in found)]
    want = sum(p for p in totals.values() if p <= observed * (1 + 1e-9))
    test = exact_test(found)
    assert test.p == pytest.approx(min(1.0, want))
    assert test.least <= test.p * (1 + 1e-9)
    total = sum(s.k1 for s in found)
    assert more_often_inside_p(found) == pytest.approx(sum(p for k, p in totals.items() if k >= total))


def test_the_difference_is_weighted_by_the_smaller_side() -> None:
    assert risk_difference([Stratum(1, 1, 0, 1), Stratum(0, 3, 3, 3)]) == pytest.approx((0.5 - 1.5) / 2)


def test_the_interval_is_miettinen_and_nurminens() -> None:
    """5 of 7 against 1 of 9; the ends as published implementations of the score interval give them."""
    low, high = score_interval([Stratum(5, 7, 1, 9)])
    assert (low, high) == (pytest.approx(0.1131, abs=1e-3), pytest.approx(0.8642, abs=1e-3))


@given(strata)
def test_the_interval_holds_the_difference_and_never_collapses(found: list[Stratum]) -> None:
    low, high = score_interval(found)
    assert -1 <= low <= risk_difference(found) + 1e-6
    assert risk_difference(found) - 1e-6 <= high <= 1
    assert high - low > 0.1


@given(strata)
def test_swapping_the_options_turns_everything_round(found: list[Stratum]) -> None:
    swapped = [Stratum(s.k0, s.n0, s.k1, s.n1) for s in found]
    assert exact_test(swapped).p == pytest.approx(exact_test(found).p)
    assert risk_difference(swapped) == pytest.approx(-risk_difference(found))
    low, high = score_interval(found)
    assert score_interval(swapped) == (pytest.approx(-high, abs=1e-5), pytest.approx(-low, abs=1e-5))


@pytest.mark.parametrize(("strata", "decides"), [(5, False), (6, True)])
def test_one_against_one_in_each_stratum_takes_six_as_the_sign_test_does(strata: int, decides: bool) -> None:
    numbers, first, one = (
        np.repeat(np.arange(strata), 2),
        np.tile([True, False], strata),
        np.zeros(2 * strata, int),
    )
    found = mean_differences(first.astype(float), first, numbers, one, comparisons=1)
    assert (found[0][0], found[1][0] > 0) == (1.0, decides)
    swapped = mean_differences(first.astype(float), ~first, numbers, one, comparisons=1)
    assert (swapped[0][0], swapped[2][0]) == (-found[0][0], -found[1][0])


def test_strata_with_one_option_or_without_variation_have_no_mean_difference() -> None:
    values, first = np.array([1.0, 0.0, 1.0, 1.0]), np.array([True, True, True, False])
    one = np.zeros(4, dtype=int)
    assert np.isnan(mean_differences(values, first, np.array([0, 0, 1, 1]), one, comparisons=1)[0][0])
