"""Kendall τ-b, its p and Spearman agree with an independent implementation and with figures known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from untaken.errors import Unscored
from untaken.stats.correlation import kendall_p, kendall_tau_b, spearman

BY_HAND = [
    # desc, a, b, want τ-b
    ("the same order", [1, 2, 3], [10, 20, 30], 1.0),
    ("the opposite order", [1, 2, 3], [3, 2, 1], -1.0),
    ("one of three pairs swapped", [1, 2, 3], [1, 3, 2], 1 / 3),
    ("a tie on one side", [1, 1, 2], [1, 2, 3], 2 / np.sqrt(2 * 3)),
    ("two agents in the same order", [0.1, 0.2], [5, 6], 1.0),
]


@pytest.mark.parametrize(("desc", "a", "b", "want"), BY_HAND, ids=[case[0] for case in BY_HAND])
def test_tau_b_by_hand(desc: str, a: list[float], b: list[float], want: float) -> None:
    assert kendall_tau_b(a, b) == pytest.approx(want, abs=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_tau_b_equals_scipy_with_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, size=(2, rng.integers(3, 25)))
    assert kendall_tau_b(a, b) == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)


def test_spearman_is_pearsons_correlation_of_mid_ranks() -> None:
    assert spearman([1, 1, 2, 5], [3, 1, 2, 9]) == pytest.approx(
        np.corrcoef([1.5, 1.5, 3, 4], [3, 1, 2, 4])[0, 1]
    )


@pytest.mark.parametrize("seed", range(20))
def test_spearman_equals_scipy_with_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, size=(2, rng.integers(3, 25)))
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8])
def test_exact_p_equals_scipy_without_ties(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.permutation(n), rng.permutation(n)
    assert kendall_p(a, b) == pytest.approx(stats.kendalltau(a, b, method="exact").pvalue, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_beyond_8_agents_p_equals_scipys_with_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 12, size=(2, 600 if seed == 0 else rng.integers(9, 60)))
    found = stats.kendalltau(a, b, method="asymptotic").pvalue
    assert kendall_p(a, b) == pytest.approx(found, rel=1e-12, abs=1e-15)


def test_exact_p_with_ties_counts_permutations() -> None:
    # a has one tie; of the 6 orders of b, 4 reach |C − D| = 2, the observed one
    assert kendall_p([1, 1, 2], [1, 2, 3]) == pytest.approx(4 / 6)


@pytest.mark.parametrize("measure", [kendall_tau_b, kendall_p, spearman])
@pytest.mark.parametrize(
    ("a", "b", "want"),
    [
        ([], [], "fewer than two agents"),
        ([1.0], [2.0], "fewer than two agents"),
        ([1, 1, 1], [1, 2, 3], "all agents tie"),
        ([1, 2, 3], [0, 0, 0], "all agents tie"),
    ],
)
def test_no_agreement_without_an_order(measure, a: list[float], b: list[float], want: str) -> None:
    got = measure(a, b)
    assert isinstance(got, Unscored)
    assert want in got.reason
