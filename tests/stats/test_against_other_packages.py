"""The same figures as statsmodels and krippendorff give, which share no code with the program."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import beta, norm, t
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from untaken.errors import Unscored
from untaken.stats.kappa import agreement_share, cohen_kappa, gwet_ac1
from untaken.stats.krippendorff import alpha_interval, nominal_alpha, ordinal_alpha
from untaken.stats.means import beta_interval, mean, mean_of_groups
from untaken.stats.multiple import benjamini_hochberg, holm
from untaken.stats.paired import mcnemar_p
from untaken.stats.rates import wilson
from untaken.stats.shares import interval_of_share

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(st.integers(0, 40), st.integers(1, 40))
def test_wilsons_and_jeffreys_intervals(successes: int, n: int) -> None:
    successes = min(successes, n)
    assert wilson(successes, n) == pytest.approx(proportion_confint(successes, n, method="wilson"), abs=1e-12)
    if 0 < successes < n:
        want = proportion_confint(successes, n, method="jeffreys")
        assert beta_interval(successes / n, n) == pytest.approx(want, abs=1e-9)


@given(st.lists(st.lists(st.floats(-9, 9), min_size=1, max_size=4), min_size=2, max_size=8))
def test_a_mean_of_groups_and_its_cluster_robust_interval(groups: list[list[float]]) -> None:
    values = np.concatenate(groups)
    of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    fit = OLS(values, np.ones(values.size)).fit(
        cov_type="cluster", cov_kwds={"groups": of, "df_correction": True}, use_t=True
    )
    mean, reach = mean_of_groups(groups)
    assert (mean, mean - reach, mean + reach) == pytest.approx((fit.params[0], *fit.conf_int()[0]), abs=1e-9)


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


def by_package(units: list[tuple[str, ...]]) -> float:
    """1 − α."""
    return 1 - krippendorff.alpha(reliability_data=np.array(units).T, level_of_measurement="nominal")


def by_table(pairs: list[tuple[str, ...]]) -> float:
    """1 − κ."""
    answers = sorted({answer for pair in pairs for answer in pair})
    table = [[pairs.count((a, b)) for b in answers] for a in answers]
    return 1 - cohens_kappa(np.array(table), return_results=False)


@pytest.mark.parametrize("within", [1, 4], ids=["tasks resemble nothing", "tasks resemble themselves"])
def test_the_interval_of_three_answers_is_a_jackknife_of_the_logarithm(within: int) -> None:
    """Over tasks or items, whichever spreads more; Student's t of the tasks that disagree, less one."""
    some = [("a", "a"), ("b", "b"), ("c", "c"), ("a", "b"), ("b", "b"), ("c", "a"), ("c", "c"), ("b", "c")]
    tasks = [[pair] * within for pair in some * 2]
    items = [pair for task in tasks for pair in task]
    degrees = sum(a != b for task in tasks for a, b in task[:1]) - 1
    kappa = cohen_kappa(tasks, agreement_share(tasks))
    alpha = nominal_alpha(items), *alpha_interval({str(at): task for at, task in enumerate(tasks)})
    for found, ratio in ((kappa, by_table), (alpha, by_package)):
        spread = []
        for units in (tasks, [[item] for item in items]):
            left = [[item for other in units if other is not unit for item in other] for unit in units]
            spread.append((len(units) - 1) * np.var([np.log(ratio(rest)) for rest in left]))
        reach = t.ppf(0.975, degrees) * np.sqrt(max(spread))
        want = ratio(items) * np.exp([0, reach, -reach])
        assert found == pytest.approx(np.maximum(-1, 1 - want), rel=1e-9)


def test_full_agreement_on_three_answers_reaches_down_to_what_nine_tasks_may_not_have_shown() -> None:
    low, high = alpha_interval({str(at): [("abc"[at % 3],) * 2] for at in range(9)})
    by_chance = 1 - 3 * 6 * 5 / (18 * 17)
    assert (low, high) == (pytest.approx(1 - (1 - 0.025 ** (1 / 9)) / by_chance), 1)


def test_a_mean_may_lie_where_a_sum_does_not() -> None:
    assert mean([1.5e308] * 3) == pytest.approx(1.5e308)


AC1 = [
    # desc, pairs of answers, chance: Σ π(1 − π) / (K − 1)
    ("three answers", [*["aa"] * 3, "ab", "bb", "bb", "bc", "cc"], (7 * 9 + 6 * 10 + 3 * 13) / 16**2 / 2),
    ("two answers", ["yy", "yy", "yy", "yn"], 2 * 7 * 1 / 8**2),
    ("one answer", ["yy", "yy"], 0.0),
]


def ac1(items: Sequence[str], weights: Sequence[float]) -> float:
    """AC1 of weighted items, written out."""
    kinds = sorted({answer for pair in items for answer in pair})
    part = np.array([[(a == kind) + (b == kind) for kind in kinds] for a, b in items]).T @ weights / 2
    chance = (part * (1 - part)).sum() / max(1, len(kinds) - 1)
    return float((np.dot([a == b for a, b in items], weights) - chance) / (1 - chance))


@pytest.mark.parametrize(("desc", "pairs", "chance"), AC1, ids=[case[0] for case in AC1])
def test_gwets_ac1_is_agreement_beyond_chance_and_as_uncertain_as_both(desc, pairs, chance) -> None:
    """The reach of either end grows by √(Σ influence² of AC1 / Σ influence² of pₒ alone), chance held."""
    share, n = sum(a == b for a, b in pairs) / len(pairs), len(pairs)
    moved = []
    for at in range(n):
        weights = np.full(n, 1 - 1e-6) / n
        weights[at] += 1e-6
        moved.append((ac1(pairs, weights) - ac1(pairs, np.full(n, 1 / n))) / 1e-6)
    alone = sum(((a == b) - share) ** 2 for a, b in pairs) / (1 - chance) ** 2
    wider = max(1.0, (sum(one**2 for one in moved) / alone) ** 0.5) if alone else 1.0
    value = (share - chance) / (1 - chance)
    ends = [value + wider * ((one - chance) / (1 - chance) - value) for one in (0.25, 1.0)]
    found = gwet_ac1([[(a, b)] for a, b in pairs], (share, 0.25, 1.0))
    assert found == pytest.approx([value, max(-1.0, ends[0]), min(1.0, ends[1])], rel=1e-4)
    assert gwet_ac1([], (Unscored("none"),) * 3) == (Unscored("none"),) * 3


@pytest.mark.parametrize(("same", "n"), [(8, 10), (1, 12), (5, 10)])
def test_the_interval_of_agreement_is_wilsons_of_as_many_independent_items(same: int, n: int) -> None:
    """Of n items of n tasks n − 1 are independent, and Student's t takes the place of z."""
    z = t.ppf(0.975, n - 1)
    _, low, high = agreement_share([[(1, 1)]] * same + [[(1, 0)]] * (n - same))
    want = proportion_confint(same / n * (n - 1), n - 1, alpha=2 * norm.sf(z), method="wilson")
    assert (low, high) == pytest.approx(want)


def test_kappa_against_a_reader_of_one_answer_reaches_as_far_as_what_might_not_have_been_seen() -> None:
    """The first says no to 2 of 10, the second never; 1 − .025^(1/k) of k tasks may yet be otherwise."""
    clusters = [[("yes", "yes")]] * 8 + [[("no", "yes")]] * 2
    caught, slips = 2 * (1 - 0.025 ** (1 / 2)), 8 * (1 - 0.025 ** (1 / 8))

    def kappa(same: float, noes: float) -> float:
        chance = (0.8 * (10 - noes) + 0.2 * noes) / 10
        return (same / 10 - chance) / (1 - chance)

    want = (0.0, kappa(8 - slips, slips), kappa(8 + caught, caught))
    assert cohen_kappa(clusters, agreement_share(clusters)) == pytest.approx(want)


def test_the_interval_of_a_share_is_mid_p_of_as_many_tasks_as_its_spread_is_worth() -> None:
    values, trials = np.array([0.75, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]), 32
    n, m = len(values), values.mean()
    apart, whole = values - m, m * (1 - m)
    variance = ((apart**2).sum() + 0.1 * whole) / (n - 1 + 0.1)
    fourth = ((apart**4).sum() + 0.1 * whole * ((1 - m) ** 3 + m**3)) / (n + 0.1)
    freedom = 2 * variance**2 / ((fourth - variance**2 * (n - 3) / (n - 1)) / n)
    assert 1 < freedom < n - 1
    size = min(trials, whole * n / variance) * (norm.ppf(0.975) / t.ppf(0.975, freedom)) ** 2
    assert n < size < trials
    won, lost = size * m, size * (1 - m)
    want = [
        brentq(lambda r, tail=tail: beta.cdf(r, won, lost + 1) + beta.cdf(r, won + 1, lost) - 2 * tail, 0, 1)
        for tail in (0.025, 0.975)
    ]
    assert interval_of_share(values.tolist(), trials) == pytest.approx(want, abs=1e-9)
