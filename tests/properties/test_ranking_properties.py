"""What must hold of any ranking, whatever the scores."""

from __future__ import annotations

from itertools import combinations

from builders import a_score
from hypothesis import given
from hypothesis import strategies as st

from untaken.analysis.ranking import rank_agents
from untaken.errors import Unscored
from untaken.scoring.run_score import RunScore
from untaken.stats.correlation import kendall_p, kendall_tau_b, spearman

AGENTS = ("ann", "bob", "cyd", "dee")
values = st.lists(st.integers(-5, 5), min_size=2, max_size=12)


@st.composite
def scored_runs(draw: st.DrawFn) -> list[RunScore]:
    runs = []
    for agent in AGENTS[: draw(st.integers(1, 4))]:
        for task in draw(st.sets(st.sampled_from("wxyz"), min_size=1)):
            for _ in range(draw(st.integers(1, 2))):
                required = draw(st.integers(0, 4))
                runs.append(
                    a_score(
                        agent,
                        task,
                        draw(st.integers(0, required)),
                        required,
                        success=draw(st.sampled_from([True, False, None])),
                        critical=draw(st.integers(0, required)),
                    )
                )
    return runs


@given(st.data(), values)
def test_tau_b_is_symmetric_bounded_and_turns_with_the_order(data: st.DataObject, a: list[int]) -> None:
    b = data.draw(st.lists(st.integers(-5, 5), min_size=len(a), max_size=len(a)))
    tau = kendall_tau_b(a, b)
    assert kendall_tau_b(b, a) == tau
    if isinstance(tau, Unscored):
        assert len(set(a)) == 1 or len(set(b)) == 1
        return
    assert -1 - 1e-12 <= tau <= 1 + 1e-12
    assert kendall_tau_b([-x for x in a], b) == -tau


@given(values)
def test_a_ranking_agrees_fully_with_itself(a: list[int]) -> None:
    if len(set(a)) > 1:
        assert abs(kendall_tau_b(a, a) - 1) < 1e-12
        assert abs(spearman(a, a) - 1) < 1e-12
        p = kendall_p(a, a)
        assert 0 < p <= 1


@given(scored_runs(), st.randoms())
def test_a_ranking_does_not_depend_on_the_order_of_the_runs(runs: list[RunScore], rng) -> None:
    report = rank_agents(runs, resamples=50)
    rng.shuffle(runs)
    assert rank_agents(runs, resamples=50) == report


@given(scored_runs())
def test_standings_name_every_agent_once_best_first_over_the_same_tasks(runs: list[RunScore]) -> None:
    report = rank_agents(runs, resamples=50)
    agents = {run.agent for run in runs}
    assert set(report.shared_tasks) | set(report.unmatched_tasks) == {run.task_id for run in runs}
    for standings in report.metrics.values():
        assert {s.agent for s in standings} == agents
        ranked = [s for s in standings if s.rank is not None]
        assert len({s.n_tasks for s in ranked}) <= 1
        for above, below in combinations(ranked, 2):
            higher, lower = round(above.value, 12), round(below.value, 12)
            assert higher >= lower
            assert (above.rank == below.rank) == (higher == lower)
        for s in ranked:
            assert s.rank_low is None or s.rank_low <= s.rank_high <= len(ranked)
            if not isinstance(s.low, Unscored):
                assert s.low <= s.high


@given(scored_runs())
def test_a_discordant_pair_is_in_opposite_order_under_its_two_metrics(runs: list[RunScore]) -> None:
    report = rank_agents(runs, resamples=0)
    for pair in report.discordant:
        a, b = (
            {s.agent: s.value for s in report.metrics[metric]} for metric in (pair.a_metric, pair.b_metric)
        )
        assert a[pair.first] > a[pair.second]
        assert b[pair.first] < b[pair.second]
