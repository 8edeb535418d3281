"""What drives a difference, groups of ties, workflows against agents, and the other rule."""

from __future__ import annotations

from math import comb

import msgspec
import pytest
from builders import a_graph, a_run, a_score
from hypothesis import given
from hypothesis import strategies as st

from untaken.analysis.corpus import evaluate_corpus, other_rule
from untaken.analysis.ranking import DiscordantPair, PairedDifference, RankReport, rank_agents
from untaken.analysis.ranking.compared.pairs import tie_groups
from untaken.analysis.ranking.compared.workflow import oriented
from untaken.errors import Unscored
from untaken.views.documents import entry
from untaken.views.rankings import rank_document

QUICK = 500
TASKS = range(8)


def lucky_and_diligent() -> RankReport:
    """By outcome lucky is above, by completion diligent."""
    scores = [a_score("lucky", f"t{i}", 1, 4, success=i < 6) for i in TASKS]
    scores += [a_score("diligent", f"t{i}", 4 if i < 7 else 0, 4, success=i < 2) for i in TASKS]
    return rank_agents(scores, resamples=QUICK)


def test_the_tasks_behind_a_difference_sum_up_to_it_the_largest_first() -> None:
    report = lucky_and_diligent()
    gaps = report.task_gaps("completion", "diligent", "lucky")
    pair = report.comparisons["completion"].pair("lucky", "diligent")
    assert sum(gap.contribution for gap in gaps) == pytest.approx(pair.difference)
    assert [gap.difference for gap in gaps] == [0.75] * 7 + [-0.25]
    assert [len(gap.first_runs) + len(gap.second_runs) for gap in gaps] == [2] * 8


def test_of_a_tasks_runs_those_that_make_most_of_the_difference_are_named_first() -> None:
    low, high = a_score("a", "t", 1), a_score("a", "t", 3)
    for sign, others in ((1, (0, 1)), (-1, (4, 3))):
        best, worst = (a_score("b", "t", completed) for completed in others)
        (gap,) = rank_agents([low, high, best, worst], resamples=QUICK).task_gaps("completion", "a", "b")
        ours, theirs = [high.digest, low.digest][::sign], [best.digest, worst.digest]
        assert (list(gap.first_runs), list(gap.second_runs)) == (ours, theirs)


@pytest.mark.parametrize("metric", ["completion", "critical_completion"])
def test_the_sub_goals_behind_a_difference_sum_up_to_it(metric: str) -> None:
    counts = {"a": (4, 3, 4, 2, 4), "b": (1, 3, 2, 2, 0)}
    scores = [
        a_score(agent, f"t{i}", completed, 4, critical=2)
        for agent, all_completed in counts.items()
        for i, completed in enumerate(all_completed)
    ]
    scores.append(a_score("a", "t0", 0, 4, critical=2))  # a repeat
    report = rank_agents(scores, resamples=QUICK)
    pair, gaps = report.comparisons[metric].pair("a", "b"), report.sub_goal_gaps(metric, "a", "b")
    assert sum(gap.contribution for gap in gaps) == pytest.approx(pair.difference)
    assert {gap.sub_goal for gap in gaps} == (
        {"s2", "s3"} if metric.startswith("crit") else {"s0", "s1", "s2", "s3"}
    )
    last = next(gap for gap in gaps if gap.sub_goal == "s3")
    assert last.difference == pytest.approx((0.5 + 0 + 1 + 0 + 1) / 5)
    assert last.low < last.difference < last.high


def test_the_runs_that_make_a_pair_change_places_sum_up_to_how_far_the_metrics_part() -> None:
    report = lucky_and_diligent()
    pair = next(p for p in report.discordant if p.b_metric == "completion")
    assert (pair.first, pair.second) == ("lucky", "diligent")
    found = report.contributions(pair)
    against = DiscordantPair(
        a_metric=pair.a_metric, b_metric=pair.b_metric, first=pair.second, second=pair.first
    )
    by_outcome, by_completion = (
        report.comparisons[metric].pair("lucky", "diligent") for metric in ("success_rate", "completion")
    )
    change = by_outcome.difference + by_completion.difference  # each is the one above minus the one below
    assert sum(p.weight for p in found) - sum(
        p.weight for p in report.contributions(against)
    ) == pytest.approx(change)
    assert [p.weight for p in found] == sorted((p.weight for p in found), reverse=True)
    assert {(p.agent, p.outcome, p.value) for p in found} == {("diligent", 0.0, 1.0), ("lucky", 1.0, 0.25)}


def test_runs_of_equal_weight_are_in_the_order_of_agent_task_and_repeat() -> None:
    scores = [
        msgspec.structs.replace(
            a_score(agent, f"t{i}", done, 4, success=won), task_repeat=repeat, digest=f"{99 - repeat}"
        )
        for agent, done, won in (("lucky", 1, True), ("diligent", 4, False))
        for i in range(3)
        for repeat in (2, 0, 11, 1)
    ]
    report = rank_agents(scores, resamples=QUICK)
    pair = next(p for p in report.discordant if p.b_metric == "completion")
    for found in (report.contributions(pair), rank_agents(scores[::-1], resamples=QUICK).contributions(pair)):
        places = [(-p.weight, p.agent, p.task_id, p.task_repeat) for p in found]
        assert [repeat for *_, repeat in places][:4] == [0, 1, 2, 11]
        assert places == sorted(places)


class _Pair:
    def __init__(self, first: str, second: str) -> None:
        self.first, self.second, self.tie = first, second, False


@pytest.mark.parametrize(
    ("agents", "apart", "want"),
    [("a", [], ["a"]), ("abc", ["ab", "bc"], ["ac", "b"]), ("abcd", ["ac", "ad", "bd"], ["ab", "bc", "cd"])],
    ids=["one agent", "ranks may be skipped", "being tied is not handed on"],
)
def test_groups_of_ties_come_best_first(agents: str, apart: list[str], want: list[str]) -> None:
    assert ["".join(group) for group in tie_groups([*agents], [_Pair(*pair) for pair in apart])] == want


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda p: p[0] < p[1])))
def test_two_agents_share_a_group_exactly_where_they_do_not_differ_clearly(apart) -> None:
    agents = [f"a{i}" for i in range(7)]
    groups = tie_groups(agents, [_Pair(f"a{x}", f"a{y}") for x, y in apart])
    for x in range(7):
        assert any(f"a{x}" in group for group in groups)
        for y in range(x + 1, 7):
            together = any({f"a{x}", f"a{y}"} <= set(group) for group in groups)
            assert together == ((x, y) not in apart)
    for group in groups:  # none can grow
        assert not any(
            all(tuple(sorted((int(other[1]), i))) not in apart for other in group)
            for i in range(7)
            if f"a{i}" not in group
        )


def test_pass_k_runs_to_the_fewest_trials_and_begins_with_the_rate_of_success() -> None:
    successes = {"t0": (4, 5), "t1": (2, 4), "t2": (4, 4)}
    scores = [a_score("a", t, success=i < c) for t, (c, n) in successes.items() for i in range(n)]
    curve = rank_agents(scores, resamples=QUICK).pass_k
    assert [(one.agent, one.k, one.n_tasks, one.n_runs) for one in curve] == [
        ("a", k, 3, 13) for k in range(1, 5)
    ]
    for one in curve:
        want = sum(comb(c, one.k) / comb(n, one.k) for c, n in successes.values()) / 3
        assert one.value == pytest.approx(want)
        assert one.low <= one.value <= one.high


def test_pass_k_is_over_the_tasks_that_the_success_rate_is_over() -> None:
    scores = [a_score(agent, f"t{i}", success=i < 3) for agent in "ab" for i in range(6)]
    scores[0] = a_score("a", "t0", success=None)
    report = rank_agents(scores, resamples=QUICK)
    rates = {one.agent: (one.value, one.n_tasks) for one in report.metrics["success_rate"]}
    assert rates == {"a": (0.4, 5), "b": (0.4, 5)}
    assert {one.agent: (one.value, one.n_tasks) for one in report.pass_k} == rates


@pytest.mark.parametrize(("trials", "known"), [(1, True), (2, False)])
def test_repeats_of_a_single_task_say_nothing_about_others(trials: int, known: bool) -> None:
    scores = [a_score("a", "t", success=True, task_repeat=n) for n in range(trials)]
    curve = rank_agents(scores, resamples=QUICK).pass_k
    assert [isinstance(one.low, float) for one in curve] == [known] * trials


def test_quadrants_say_whom_the_outcome_flatters_and_whom_it_hides() -> None:
    placed = {one.agent: one.quadrant for one in lucky_and_diligent().placed("completion")}
    assert placed == {"lucky": "outcome_flatters", "diligent": "outcome_hides"}


def workflow_and_agent(workflow: int, agent: int) -> RankReport:
    scores = [a_score("flow", f"t{i}", workflow, 4, critical=2, kind="workflow") for i in TASKS]
    scores += [
        a_score("bot", f"t{i}", agent if i else 4, 4, critical=2, kind="agent", plans=i, replans=i)
        for i in TASKS
    ]
    return rank_agents(scores, resamples=QUICK)


def test_the_workflow_wins_while_its_critical_completion_is_higher_and_what_explains_it_is_listed() -> None:
    report = workflow_and_agent(4, 3)
    (verdict,) = report.workflows
    between = (verdict.gap.metric, verdict.workflow, verdict.agent)
    assert (verdict.workflow, verdict.agent, verdict.wins) == ("flow", "bot", "workflow")
    assert verdict.gap.difference == pytest.approx(7 / 16)
    assert [(gap.sub_goal, gap.contribution) for gap in report.sub_goal_gaps(*between)] == [
        ("s3", pytest.approx(7 / 16)),
        ("s2", 0),
    ]
    assert [gap.task_id for gap in report.task_gaps(*between)] == [f"t{i}" for i in range(1, 8)]
    assert verdict.agent_replans == sum(TASKS) / 8  # a run without a plan never changed it
    assert isinstance(verdict.workflow_replans, Unscored)


def test_a_comparison_the_other_way_round_is_that_of_renamed_agents() -> None:
    def gap(first: str, second: str) -> PairedDifference:
        scores = [a_score(first, f"t{i}", 4 - i % 3, success=i > 1) for i in TASKS]
        scores += [a_score(second, f"t{i}", i % 2, success=i % 3 == 0) for i in TASKS]
        pair = rank_agents(scores, resamples=QUICK).comparisons["completion"].pair(first, second)
        assert pair is not None
        return pair

    want, turned = gap("a", "b"), oriented(gap("z", "y"), "z")
    assert oriented(want, "a") is want
    assert (turned.first, turned.second, turned.difference) == ("z", "y", want.difference)
    assert (turned.first_only, turned.second_only) == (want.first_only, want.second_only)
    assert turned.low == pytest.approx(want.low)
    assert turned.high == pytest.approx(want.high)
    assert turned.p_above == pytest.approx(want.p_above, abs=0.02)


@pytest.mark.parametrize(("workflow", "agent", "wins"), [(2, 4, "agent"), (4, 4, "level")])
def test_the_agent_wins_by_completing_more_of_what_is_critical(workflow: int, agent: int, wins: str) -> None:
    assert [verdict.wins for verdict in workflow_and_agent(workflow, agent).workflows] == [wins]


def test_without_critical_sub_goals_neither_wins() -> None:
    scores = [a_score(kind, f"t{i}", 4, kind=kind) for kind in ("workflow", "agent") for i in TASKS]
    (verdict,) = rank_agents(scores, resamples=QUICK).workflows
    assert (verdict.wins, verdict.gap.n_tasks) == ("unscored", 0)


def judged(agent: str, number: int, *, passed: bool | None):
    run = a_run(f"{agent}{number}", agent=agent, task=f"t{number}").call("look", "seen")
    return (run if passed is None else run.verdict("polite", passed)).finish(True).run()


def test_the_other_rule_for_missing_verdicts_changes_values_and_places() -> None:
    polite = {"id": "polite", "check": {"verdict": True}}
    graph = a_graph({"id": "seen", "check": {"tool_call": {"name": "look", "arguments": {}}}}, polite)
    runs = [judged("unjudged", i, passed=None) for i in range(4)]
    runs += [judged("half", i, passed=i % 2 == 0) for i in range(4)]
    for missing in ("fail", "drop"):
        corpus = evaluate_corpus(runs, graph, missing=missing, resamples=0)
        effect = other_rule(runs, graph, corpus.ranking)
        assert [(f.first, f.second) for f in effect.flips if f.metric == "completion"] == [
            ("half", "unjudged")
        ]
        change = next(c for c in effect.changes if c.metric == "completion" and c.agent == "unjudged")
        assert (change.fail_value, change.drop_value, change.fail_rank, change.drop_rank) == (0.5, 1.0, 2, 1)
    flips = entry(rank_document(corpus.ranking, rule=effect))["rule"]["flips"]
    assert {"metric": "completion", "first": "half", "second": "unjudged"} in flips
