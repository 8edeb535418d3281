"""p-values adjusted for being many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untaken.stats.multiple import benjamini_hochberg, holm
from untaken.stats.rounding import without_noise

HOLM = [
    ("none", [], []),
    ("one", [0.03], [0.03]),
    ("the textbook's", [0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
    ("never above 1", [0.5, 0.9], [1.0, 1.0]),
    ("what has no p is no member", [0.01, np.nan, 0.04], [0.02, np.nan, 0.04]),
]


@pytest.mark.parametrize(("desc", "given_p", "want"), HOLM, ids=[case[0] for case in HOLM])
def test_holm_by_hand(desc: str, given_p: list[float], want: list[float]) -> None:
    assert holm(np.array(given_p)) == pytest.approx(np.array(want), nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_a_p_nor_changes_their_order(ps: list[float]) -> None:
    adjusted = holm(np.array(ps))
    assert (adjusted >= np.array(ps)).all()
    assert (np.diff(adjusted[np.argsort(ps, kind="stable")]) >= 0).all()


@pytest.mark.parametrize(("of", "n", "alpha"), [(60, 3, 0.05), (70, 7, 0.1), (140, 7, 0.05), (30, 3, 0.1)])
def test_a_q_that_is_exactly_a_threshold_is_not_above_it_for_the_rounding_of_its_p(of, n, alpha) -> None:
    (smallest,) = without_noise(np.array([1 / of]))
    assert benjamini_hochberg([smallest, *[0.9] * (n - 1)])[0] == alpha
