"""The same figures as statsmodels and krippendorff give, which share no code with the program."""

from __future__ import annotations

import gc

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from untaken.errors import Unscored
from untaken.stats.kappa import agreement_share, cohen_kappa
from untaken.stats.krippendorff import nominal_alpha, ordinal_alpha
from untaken.stats.means import beta_interval
from untaken.stats.multiple import benjamini_hochberg, holm
from untaken.stats.paired import mcnemar_p
from untaken.stats.rates import wilson

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(st.integers(0, 40), st.integers(1, 40))
def test_wilsons_and_jeffreys_intervals(successes: int, n: int) -> None:
    successes = min(successes, n)
    assert wilson(successes, n) == pytest.approx(proportion_confint(successes, n, method="wilson"), abs=1e-12)
    if 0 < successes < n:
        want = proportion_confint(successes, n, method="jeffreys")
        assert beta_interval(successes / n, n) == pytest.approx(want, abs=1e-9)


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemars_exact_p(b: int, c: int) -> None:
    want = mcnemar([[5, b], [c, 5]], exact=True).pvalue
    assert mcnemar_p(np.array([b * 1.0]), np.array([c * 1.0]))[0] == pytest.approx(want)


@given(P_VALUES)
def test_holms_and_benjamini_hochbergs_adjustment(p: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", int)  # statsmodels collects in each call, and a long session is large
        assert holm(np.array(p)) == pytest.approx(multipletests(p, method="holm")[1])
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])


@given(
    st.lists(
        st.lists(st.sampled_from([np.nan, 0.0, 1.0, 2.0]), min_size=3, max_size=3), min_size=2, max_size=12
    )
)
def test_krippendorffs_alpha(units: list[list[float]]) -> None:
    answers = [[int(value) for value in unit if not np.isnan(value)] for unit in units]
    for ours, level in ((nominal_alpha, "nominal"), (ordinal_alpha, "ordinal")):
        alpha = ours(answers)
        if not isinstance(alpha, Unscored):
            want = krippendorff.alpha(reliability_data=np.array(units).T, level_of_measurement=level)
            assert alpha == pytest.approx(want, abs=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=40))
def test_cohens_kappa(pairs: list[tuple[bool, bool]]) -> None:
    clusters = [[pair] for pair in pairs]
    kappa = cohen_kappa(clusters, agreement_share(clusters))[0]
    if not isinstance(kappa, Unscored):
        table = np.zeros((2, 2))
        for a, b in pairs:
            table[int(a), int(b)] += 1
        assert kappa == pytest.approx(cohens_kappa(table, return_results=False), abs=1e-9)
