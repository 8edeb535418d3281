"""Two agents over their common tasks: the formulas against SciPy and plain loops, and their error rates."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from builders import a_score
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from untaken.analysis.ranking import PairedDifference, RankReport, rank_agents
from untaken.errors import Unscored
from untaken.stats import paired as p
from untaken.stats.bootstrap import tails, task_weights
from untaken.stats.multiple import holm

QUICK = 2_000


def two_agents(first: list[bool], second: list[bool], **ranked: int) -> PairedDifference:
    """Single binary trials of two agents, one a task."""
    scores = [
        a_score(agent, f"t{task:03}", success=bool(bit))
        for agent, bits in (("a", first), ("b", second))
        for task, bit in enumerate(bits)
    ]
    found = rank_agents(scores, **({"resamples": QUICK} | ranked)).comparisons["success_rate"].pair("a", "b")
    assert found is not None
    return found


def shares(report: RankReport) -> PairedDifference:
    found = report.comparisons["completion"].pair("a", "b")
    assert found is not None
    return found


COUNTS = [(0, 0), (1, 0), (3, 3), (8, 1), (1, 8), (15, 4), (40, 60)]


@pytest.mark.parametrize(("b", "c"), COUNTS)
def test_mcnemar_is_the_exact_binomial_test(b: int, c: int) -> None:
    want = stats.binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert p.mcnemar_p(np.array([float(b)]), np.array([float(c)]))[0] == pytest.approx(want)


def test_a_pair_of_single_trials_is_tested_by_mcnemar_with_its_counts() -> None:
    first = [True] * 12 + [False] * 8
    second = [True] * 4 + [False] * 8 + [True] * 2 + [False] * 6
    pair = two_agents(first, second)
    assert (pair.test, pair.interval) == ("mcnemar", "adjusted_wald")
    assert (pair.first_only, pair.second_only, pair.n_tasks, pair.n_runs) == (8, 2, 20, 40)
    assert pair.difference == pytest.approx(6 / 20)
    assert pair.p == pytest.approx(stats.binomtest(2, 10, 0.5).pvalue)


@pytest.mark.parametrize("seed", range(8))
def test_swapping_agents_inside_tasks_equals_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    differences = np.round(rng.normal(0.1, 0.4, size=9), 2)
    want = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert p.sign_flip_p(differences[None], resamples=0, seed=0)[0] == pytest.approx(want.pvalue)


def test_agents_that_differ_by_a_whole_success_on_three_tasks_are_swapped_in_all_eight_ways() -> None:
    differences = np.array([[1.0, 0.0, 1.0, 1.0], [1.0, 0.0, -1.0, 0.0]])
    assert p.sign_flip_p(differences, resamples=0, seed=0).tolist() == [2 / 8, 1.0]


def test_many_tasks_are_swapped_at_random_and_agree_with_the_normal_limit() -> None:
    differences = np.random.default_rng(1).normal(0.1, 0.5, size=(3, 200))
    z = differences.mean(axis=1) / np.sqrt((differences**2).mean(axis=1) / 200)
    got = p.sign_flip_p(differences, resamples=20_000, seed=3)
    assert got == pytest.approx(2 * stats.norm.sf(np.abs(z)), abs=0.015)
    assert np.isnan(p.sign_flip_p(differences, resamples=0, seed=3)).all()


def test_the_adjusted_wald_interval_is_bonetts_and_price() -> None:
    # 8 and 2 of 20 discordant: p̃ = 9/22 and 3/22
    centre, error = p.adjusted_wald(np.array([8.0]), np.array([2.0]), 20)
    variance = (12 / 22 - (6 / 22) ** 2) / 22
    low, high = p.wald_interval(centre, error)[:, 0]
    assert (low, high) == (
        pytest.approx(6 / 22 - 1.959964 * variance**0.5, abs=1e-6),
        pytest.approx(6 / 22 + 1.959964 * variance**0.5, abs=1e-6),
    )


def test_agents_that_never_differ_are_not_known_to_be_equal() -> None:
    pair = two_agents([True] * 10, [True] * 10)
    assert pair.difference == 0
    assert pair.low < -0.1 < 0.1 < pair.high
    assert pair.mde > 0.2
    assert pair.p == 1.0


def test_expanded_percentiles_are_wider_for_few_tasks_and_plain_for_many() -> None:
    assert tails(10)[0] == pytest.approx(stats.norm.cdf(-np.sqrt(10 / 9) * stats.t.ppf(0.975, 9)))
    assert tails(100_000) == pytest.approx((0.025, 0.975), abs=1e-4)


def test_shares_are_compared_over_the_tasks_that_the_two_have_in_common() -> None:
    scores = [a_score("a", f"t{i}", 3) for i in range(6)] + [
        a_score("b", f"t{i}", 1 + i % 2) for i in range(6)
    ]
    scores += [a_score("c", "t0", 2), a_score("a", "only a", 0)]  # c leaves one task that all agents share
    report = rank_agents(scores, resamples=QUICK)
    assert report.shared_tasks == ("t0",)
    pair = shares(report)
    assert (pair.n_tasks, pair.difference, pair.test, pair.interval) == (6, 0.375, "sign_flip", "student_t")
    assert pair.p == pytest.approx(2 / 2**6)
    assert pair.first_only == pair.second_only == Unscored("not a comparison of single binary trials")


def test_the_bootstrap_is_that_of_a_plain_loop() -> None:
    rng = np.random.default_rng(3)
    differences = rng.uniform(-1, 1, size=30)
    interval = p.resampled_interval(differences[None], resamples=10_000, seed=0)
    above = p.share_above(differences[None], resamples=10_000, seed=0)
    plain = np.array([differences[rng.integers(0, 30, 30)].mean() for _ in range(10_000)])
    assert interval[:, 0] == pytest.approx(np.quantile(plain, tails(30)), abs=0.02)
    assert above[0] == pytest.approx((plain > 0).mean(), abs=0.02)
    assert p.share_above(np.zeros((1, 30)), resamples=100, seed=0) == [0.5]  # ties count by half
    for tasks, resamples in ((30, 10_000), (3_000, 7_000)):  # kept for the next time, and too many to keep
        drawn = np.concatenate(list(task_weights(tasks, resamples, seed=0)))
        assert (drawn.shape, set(drawn.sum(axis=1))) == ((resamples, tasks), {tasks})


def test_the_standard_error_of_a_difference_is_that_of_its_mean() -> None:
    rows = np.random.default_rng(4).uniform(-1, 1, size=(3, 9))
    assert p.standard_error(rows) == pytest.approx(stats.sem(rows, axis=1))


def test_one_task_or_none_shows_no_clear_difference() -> None:
    pair = shares(rank_agents([a_score("a", "x", 4), a_score("b", "x", 0)], resamples=QUICK))
    assert pair.difference == 1.0
    assert all(isinstance(value, Unscored) for value in (pair.low, pair.high, pair.p, pair.mde, pair.p_above))
    assert not pair.clear_difference
    apart = shares(rank_agents([a_score("a", "x", 4), a_score("b", "y", 0)], resamples=QUICK))
    assert apart.difference == Unscored("no task has a value for both agents")
    assert (apart.n_tasks, apart.family) == (0, 0)


def test_the_family_of_a_pair_is_every_pair_under_the_metric() -> None:
    rng = np.random.default_rng(5)
    scores = [a_score(agent, f"t{i}", rng.integers(0, 5)) for agent in "abcd" for i in range(12)]
    pairs = rank_agents(scores, resamples=QUICK).comparisons["completion"].pairs
    assert [pair.family for pair in pairs] == [6] * 6
    assert [pair.p_holm for pair in pairs] == pytest.approx(list(holm(np.array([x.p for x in pairs]))))


# Error rates, by simulation with a fixed seed; wide enough not to depend on it


@pytest.mark.parametrize("tasks", [8, 15, 40])
def test_the_interval_of_a_paired_difference_holds_the_truth_in_nineteen_cases_of_twenty(tasks: int) -> None:
    rng = np.random.default_rng(tasks)
    truth = 2 / 3 - 1 / 2
    differences = rng.beta(2, 1, size=(1_000, tasks)) - rng.beta(2, 2, size=(1_000, tasks))
    low, high = p.student_interval(differences)
    assert 0.925 <= ((low <= truth) & (truth <= high)).mean() <= 0.975


def test_a_difference_as_large_as_the_detectable_one_is_found_in_four_of_five_cases() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.3, size=(2_000, 25))
    detectable = p.minimal_detectable(np.array([0.3 / 5]), 25)[0]
    found = (p.sign_flip_p(noise + detectable, resamples=999, seed=1) <= 0.05).mean()
    assert found == pytest.approx(0.8, abs=0.04)


@given(st.integers(1, 9))
def test_every_assignment_of_signs_comes_once(tasks: int) -> None:
    assert sorted(map(tuple, p._every_sign(tasks))) == sorted(product((-1.0, 1.0), repeat=tasks))
