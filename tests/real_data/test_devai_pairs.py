"""DevAI: the three agents against each other, recomputed from the runs with SciPy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from real_records import Converted
from scipy import stats

from untaken.analysis.ranking import RankReport, rank_agents


@pytest.fixture(scope="module")
def devai(converted: Callable[[str, str], Converted]) -> Converted:
    return converted("devai", "devai")


@pytest.fixture(scope="module")
def ranking(devai: Converted) -> RankReport:
    return rank_agents(devai.scores(verdicts=("human:*",)))


def test_outcomes_are_compared_by_mcnemar_with_the_counts_of_the_runs(devai, ranking) -> None:
    solved = {(run.agent, run.task_id): run.success for run in devai.runs}
    agents = sorted({agent for agent, _ in solved})
    tasks = sorted({task for agent, task in solved if isinstance(solved[agent, task], bool)})
    for one, other in combinations(agents, 2):
        only = [
            sum(solved[a, t] is True and solved[b, t] is False for t in tasks)
            for a, b in ((one, other), (other, one))
        ]
        pair = ranking.comparisons["success_rate"].pair(one, other)
        assert pair.test == "mcnemar"
        assert sorted((pair.first_only, pair.second_only)) == sorted(only)
        assert pair.p == pytest.approx(stats.binomtest(only[0], sum(only)).pvalue)


def test_shares_of_requirements_are_compared_as_scipys_permutation_test_does(devai, ranking) -> None:
    share = {(s.agent, s.task_id): s.completion for s in devai.scores(verdicts=("human:*",))}
    tasks = sorted({task for _, task in share})
    for pair in ranking.comparisons["completion"].pairs:
        differences = np.array([share[pair.first, t] - share[pair.second, t] for t in tasks])
        want = stats.permutation_test(
            (differences,), np.mean, permutation_type="samples", n_resamples=50_000, rng=1
        )
        assert pair.difference == pytest.approx(differences.mean())
        assert pair.p == pytest.approx(want.pvalue, abs=0.015)  # both are drawn
        low, high = stats.t.interval(0.95, len(tasks) - 1, differences.mean(), stats.sem(differences))
        assert (pair.low, pair.high) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))


def test_what_drives_a_pair_sums_up_to_its_difference(ranking: RankReport) -> None:
    for pair in ranking.comparisons["completion"].pairs:
        for gaps in (
            ranking.task_gaps("completion", pair.first, pair.second),
            ranking.sub_goal_gaps("completion", pair.first, pair.second),
        ):
            assert sum(gap.contribution for gap in gaps) == pytest.approx(pair.difference)


def test_the_outcome_hides_the_agent_that_meets_the_most_requirements(ranking: RankReport) -> None:
    placed = {one.agent: one.quadrant for one in ranking.placed("completion")}
    best = ranking.metrics["completion"][0].agent
    assert ranking.metrics["success_rate"][-1].agent == best
    assert placed[best] == "outcome_hides"
