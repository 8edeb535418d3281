"""Agents are ranked over shared tasks, by outcome and by sub-goals, with intervals and disagreements."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from builders import a_score
from scipy.stats import binomtest

from untaken.analysis.ranking import (
    METRICS,
    DiscordantPair,
    RankedAgent,
    RankReport,
    pass_hat_k,
    rank_agents,
    remarks,
    ties_in_words,
    unrankable,
)
from untaken.analysis.ranking.comparisons import MOST_GROUPS, MOST_TIED, Comparison, PairedDifference
from untaken.analysis.ranking.rank import PooledScores
from untaken.analysis.ranking.ranked import crossing_agents
from untaken.errors import Score, Unscored, UntakenError
from untaken.limits import COMPARED_AGENTS
from untaken.scoring import RunScore

QUICK = 500


def ranked(report: RankReport, metric: str) -> list[str]:
    return [standing.agent for standing in report.metrics[metric]]


def standing(report: RankReport, metric: str, agent: str) -> RankedAgent:
    return next(s for s in report.metrics[metric] if s.agent == agent)


def three_agents():
    """Outcomes 2, 13 and 10 of 31 tasks; sub-goals met in the opposite order."""
    counts = {"pilot": (2, 105), "hands": (13, 94), "meta": (10, 50)}
    for agent, (successes, met) in counts.items():
        for task in range(31):
            completed = met // 31 + (task < met % 31)
            yield a_score(agent, f"t{task:02}", completed, 6, success=task < successes)


def test_discordant_pairs_are_exactly_those_the_two_orders_disagree_on() -> None:
    report = rank_agents(three_agents(), resamples=QUICK)
    assert ranked(report, "success_rate") == ["hands", "meta", "pilot"]
    assert ranked(report, "completion") == ["pilot", "hands", "meta"]
    pairs = [pair for pair in report.discordant if pair.b_metric == "completion"]
    assert pairs == [
        DiscordantPair(
            a_metric="success_rate", b_metric="completion", first=first, second="pilot", clear=clear
        )
        for first, clear in (("hands", True), ("meta", True))
    ]
    agreement = next(a for a in report.agreement if a.b == "completion")
    assert (agreement.tau_b, agreement.p, agreement.n) == (pytest.approx(-1 / 3), pytest.approx(1.0), 3)


@pytest.mark.parametrize(
    ("succeeds", "completes", "clear"),
    [(31, 31, True), (31, 2, False), (2, 31, False), (2, 2, False)],
    ids=["both orders are sure", "only that by outcome", "only that by completion", "neither"],
)
def test_a_discordant_pair_is_clear_where_both_orders_are_sure(succeeds, completes, clear) -> None:
    scores = [a_score("lucky", f"t{n:02}", 1, 6, success=n < succeeds) for n in range(31)]
    scores += [a_score("able", f"t{n:02}", 1 + 5 * (n < completes), 6, success=False) for n in range(31)]
    pairs = [p for p in rank_agents(scores, resamples=QUICK).discordant if p.b_metric == "completion"]
    assert [(p.first, p.second, p.clear) for p in pairs] == [("lucky", "able", clear)]


def test_order_changes_are_one_entry_for_two_agents_and_the_widest_comes_first() -> None:
    changes = rank_agents(three_agents(), resamples=QUICK).order_changes()
    # By completion the two leads add up to 8/31 + 55/186 for meta and to 11/31 + 11/186 for hands.
    assert [{(pair.first, pair.second) for pair in pairs} for pairs in changes] == [
        {("meta", "pilot")},
        {("hands", "pilot")},
    ]
    assert all(pair.a_metric == "success_rate" for pairs in changes for pair in pairs)


def test_agents_cross_where_they_are_above_another_under_one_metric_and_below_it_under_the_other() -> None:
    last = [a_score(a, f"t{task:02}", 0, 6, success=False) for a in ("last", "least") for task in range(31)]
    report = rank_agents([*three_agents(), *last], resamples=QUICK)
    one, other = ({each.agent: each for each in report.metrics[m]} for m in ("success_rate", "completion"))
    assert crossing_agents(one, other) == {"hands", "meta", "pilot"}


def test_repeats_are_averaged_inside_a_task_first() -> None:
    scores = [a_score("a", "often", 4) for _ in range(9)] + [
        a_score("a", "once", 0),
        a_score("b", "often", 4),
    ]
    scores.append(a_score("b", "once", 4))
    got = standing(rank_agents(scores, resamples=QUICK), "completion", "a")
    assert (got.value, got.n_tasks, got.n_runs) == (0.5, 2, 10)


def test_tasks_that_not_all_agents_ran_are_named_and_do_not_count() -> None:
    scores = [a_score("a", "x", 4), a_score("a", "y", 0), a_score("b", "x", 2), a_score("b", "z", 4)]
    report = rank_agents(scores, resamples=QUICK)
    assert report.shared_tasks == ("x",)
    assert report.unmatched_tasks == ("y", "z")
    assert standing(report, "completion", "a").value == 1.0
    assert standing(report, "completion", "b").value == 0.5


def test_without_a_shared_task_everybody_is_unscored_with_the_reason() -> None:
    report = rank_agents([a_score("a", "x", 4, success=True), a_score("b", "y", 4, success=False)])
    assert report.shared_tasks == ()
    for metric in METRICS.keys() - {"completion_weighted"}:
        for got in report.metrics[metric]:
            assert got.value == got.low == got.high == Unscored("no task was run by every agent")
            assert (got.rank, got.rank_low, got.n_tasks, got.n_runs) == (None, None, 0, 0)
    assert all(isinstance(a.tau_b, Unscored) for a in report.agreement)


def test_an_agent_without_a_metric_is_unscored_and_costs_the_others_nothing() -> None:
    scores = [a_score("a", "x", 4, success=True), a_score("b", "x", 2, success=False), a_score("c", "x", 1)]
    report = rank_agents(scores, resamples=QUICK)
    assert ranked(report, "success_rate") == ["a", "b", "c"]
    silent = standing(report, "success_rate", "c")
    assert silent.rank is None
    assert silent.value == Unscored("no shared task has a value: RUN_FINISHED records no success")
    assert report.agreement[1].n == 2


def test_a_task_unscored_for_one_agent_is_left_out_for_all_under_that_metric() -> None:
    scores = [
        a_score("a", "x", 4, success=True),
        a_score("a", "y", 0, success=False),
        a_score("b", "x", 2, success=True),
        a_score("b", "y", 2),
    ]
    report = rank_agents(scores, resamples=QUICK)
    assert standing(report, "success_rate", "a").value == 1.0
    assert standing(report, "success_rate", "a").n_tasks == 1
    assert standing(report, "completion", "a").n_tasks == 2


def test_ties_share_the_smallest_rank_whatever_the_order_of_the_sum() -> None:
    thirds = [(1, 3), (2, 3), (0, 3)]
    scores = [a_score("a", f"t{i}", c, n) for i, (c, n) in enumerate(thirds)]
    scores += [a_score("b", f"t{i}", c, n) for i, (c, n) in enumerate(reversed(thirds))]
    scores += [a_score("c", f"t{i}", 0, 3) for i in range(3)]
    report = rank_agents(scores, resamples=QUICK)
    assert [(s.agent, s.rank) for s in report.metrics["completion"]] == [("a", 1), ("b", 1), ("c", 3)]


def test_single_trial_outcomes_get_exact_intervals() -> None:
    report = rank_agents(three_agents(), resamples=QUICK)
    for agent, successes in (("pilot", 2), ("hands", 13), ("meta", 10)):
        want = binomtest(successes, 31).proportion_ci(method="exact")
        got = standing(report, "success_rate", agent)
        assert (got.low, got.high) == (pytest.approx(want.low), pytest.approx(want.high))


def test_repeats_count_for_as_many_tasks_as_their_spread_shows() -> None:
    alike = [a_score("a", f"t{t}", 0, success=t % 2 == 0) for t in range(20) for _ in range(3)]
    unlike = [a_score("a", f"t{t}", 0, success=(t + r) % 2 == 0) for t in range(20) for r in range(3)]
    wide, narrow = (
        standing(rank_agents(some, resamples=QUICK), "success_rate", "a") for some in (alike, unlike)
    )
    single = binomtest(10, 20).proportion_ci(method="exact")
    many = binomtest(30, 60).proportion_ci(method="exact")
    assert (wide.low, wide.high) == (pytest.approx(single.low), pytest.approx(single.high))
    assert many.high - many.low < narrow.high - narrow.low < single.high - single.low


def test_rank_intervals_hold_the_rank_and_are_single_where_the_order_is_clear() -> None:
    scores = [a_score("best", f"t{i}", 4) for i in range(10)] + [
        a_score("worst", f"t{i}", 0) for i in range(10)
    ]
    report = rank_agents(scores, resamples=QUICK)
    assert [(s.rank, s.rank_low, s.rank_high) for s in report.metrics["completion"]] == [(1, 1, 1), (2, 2, 2)]


@pytest.mark.parametrize(("tasks", "silent"), [(1, True), (4, True), (6, False), (12, False)])
def test_whether_tasks_are_enough_to_rank_goes_by_the_intervals(tasks: int, silent: bool) -> None:
    scores = [a_score(agent, f"t{i}", c) for i in range(tasks) for agent, c in (("a", 4), ("b", 0))]
    assert unrankable(rank_agents(scores, resamples=QUICK), "completion") is silent
    alike = [a_score(agent, f"t{i}", (i + n) % 3) for i in range(tasks) for n, agent in enumerate("ab")]
    assert unrankable(rank_agents(alike, resamples=QUICK), "completion")  # however many tasks there are


class Remark(NamedTuple):
    desc: str
    scores: list[RunScore]
    words: tuple[str, ...]


def many(agents: str, success: bool | None, tasks: int = 8) -> list[RunScore]:
    return [a_score(agent, f"t{i}", 2, success=success) for agent in agents for i in range(tasks)]


REMARKS = [
    Remark("one agent", [*many("a", True), a_score("a", "t9", 2, success=False)], ("Only a ran here",)),
    Remark("all succeeded", many("ab", True), ("All 16 runs with an outcome succeeded", "Not enough tasks")),
    Remark("all failed", many("ab", False), ("All 16 runs with an outcome failed", "Not enough tasks")),
    Remark("no outcome", many("ab", None), ("No run has a recorded outcome", "Not enough tasks")),
    Remark("one run", [a_score("a", "t", 2, success=False)], ("Only a ran here",)),
    Remark("no run", [], ()),
]


@pytest.mark.parametrize("case", REMARKS, ids=lambda case: case.desc)
def test_what_a_ranking_cannot_say_is_said(case: Remark) -> None:
    found = remarks(rank_agents(case.scores, resamples=QUICK))
    assert len(found) == len(case.words)
    assert all(sentence.startswith(words) for sentence, words in zip(found, case.words, strict=True))


def test_of_many_agents_the_first_are_compared_two_by_two_and_a_finding_says_so() -> None:
    agents = [f"a{i:03}" for i in range(COMPARED_AGENTS + 3)]
    scores = [a_score(agent, "x", i % 5, success=i % 2 == 0) for i, agent in enumerate(agents)]
    report = rank_agents(scores, resamples=QUICK)
    assert len(report.metrics["completion"]) == len(agents)
    assert len(report.comparisons["completion"].agents) == COMPARED_AGENTS
    first = {s.agent for s in report.metrics["success_rate"][:COMPARED_AGENTS]}
    assert {name for pair in report.discordant for name in (pair.first, pair.second)} <= first
    (finding,) = PooledScores.of(scores).findings
    assert (finding.code, str(COMPARED_AGENTS) in finding.message) == ("agents-not-paired", True)
    assert PooledScores.of(scores[:9]).findings == ()


@pytest.mark.parametrize(("agents", "known", "interval"), [(9, 9, True), (103, 9, False), (103, 103, False)])
def test_an_agreement_has_an_interval_where_every_pair_of_agents_is_compared(agents, known, interval) -> None:
    scores = [
        a_score(f"a{i:03}", f"t{task}", i % 3, 4 if i < known else 0, success=i % 3 > 0)
        for i in range(agents)
        for task in range(8)
    ]
    (found,) = (a for a in rank_agents(scores, resamples=QUICK).agreement if a.b == "completion")
    assert (found.n, isinstance(found.tau_b, float)) == (known, True)
    assert found.low <= found.tau_b <= found.high if interval else "not compared" in found.low.reason


def test_scores_under_two_missing_rules_are_refused() -> None:
    with pytest.raises(UntakenError, match="mixed-missing-rules"):
        rank_agents([a_score("a", "x", 1), a_score("b", "x", 1, missing="drop")])


def test_contradictory_runs_are_ordered_by_what_the_outcome_hid() -> None:
    scores = [
        a_score("a", "one critical missing", 3, 4, success=True, critical=1),
        a_score("a", "two critical missing", 2, 4, success=True, critical=2),
        a_score("a", "all done, failed", 4, 4, success=False, critical=1),
        a_score("a", "fine", 4, 4, success=True, critical=2),
        a_score("a", "failed and unfinished", 2, 4, success=False, critical=2),
        a_score("a", "only ordinary missing", 3, 4, success=True),
        a_score("a", "outcome unknown", 2, 4, critical=2),
        a_score("a", "nothing expected", 0, 0, success=False),
        a_score("a", "done as far as seen", 4, 4, success=False, unscored=1),
    ]
    found = rank_agents(scores, resamples=0).contradictions
    assert [(c.kind, c.task_id, c.sub_goals, c.weight) for c in found] == [
        ("lucky", "two critical missing", ("s2", "s3"), 4.0),
        ("lucky", "one critical missing", ("s3",), 2.0),
        ("unlucky", "all done, failed", (), 1.0),
    ]


def test_pass_hat_k_is_unscored_without_enough_trials() -> None:
    assert pass_hat_k({}, 1) == Unscored("no tasks")
    assert pass_hat_k({"t": [True], "u": [True, True]}, 2) == Unscored(
        "1 of 2 tasks have fewer than 2 trials"
    )
    with pytest.raises(ValueError, match="at least 1"):
        pass_hat_k({"t": [True]}, 0)


def test_the_usual_metric_is_the_first_of_three_that_ranks_two_agents() -> None:
    for critical, want in ((2, "critical_completion"), (0, "completion")):
        planned = [a_score(name, "t", done, critical=critical) for name, done in (("ann", 1), ("bob", 3))]
        assert rank_agents(planned, resamples=0).usual_metric == want
    bare = [a_score(agent, "t", 0, 0, success=agent == "ann") for agent in ("ann", "bob")]
    report = rank_agents(bare, resamples=0)
    assert report.ranked_metrics(("critical_completion", "completion")) == []
    assert report.usual_metric == "success_rate"
    alone = rank_agents([a_score("ann", "t", 1, 4, success=True)], resamples=0)
    assert alone.ranked_metrics() == []
    assert alone.comparable_metrics == list(alone.metrics)


NONE = Unscored("one task")
GROUPS = tuple((f"a{n}", f"b{n}") for n in range(MOST_GROUPS + 2))


def a_pair(low: Score, high: Score = 0.5) -> PairedDifference:
    middle = low if isinstance(low, Unscored) or isinstance(high, Unscored) else (low + high) / 2
    known = {"metric": "success", "first": "a", "second": "b", "difference": middle, "low": low, "high": high}
    tested = {"interval": "student_t", "test": "sign_flip", "p": NONE, "p_holm": NONE, "family": 1}
    rest = {"first_only": NONE, "second_only": NONE, "mde": NONE, "p_above": NONE, "n_tasks": 1, "n_runs": 2}
    return PairedDifference(**known, **tested, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ties", "pairs", "want"),
    [
        pytest.param((("a",), ("b",)), [0.1], "every pair differs clearly", id="all clear"),
        pytest.param((("a", "b"),), [-0.1], "no clear difference: a ≈ b", id="a tie"),
        pytest.param(
            (("a", "b"), ("c",)), [-0.1, 0.1, 0.1], "no clear difference: a ≈ b", id="a tie among clear ones"
        ),
        pytest.param((("a",), ("b",)), [NONE], "1 pair without an interval", id="none with an interval"),
        pytest.param(
            (("a",), ("b",)),
            [NONE, NONE, 0.1],
            "2 pairs without an interval; every other pair differs clearly",
            id="some without",
        ),
        pytest.param(
            (("a", "b"),),
            [NONE, -0.1],
            "1 pair without an interval; no clear difference: a ≈ b",
            id="some without, and a tie",
        ),
        pytest.param(
            GROUPS[:MOST_GROUPS],
            [-0.1],
            "no clear difference: a0 ≈ b0; a1 ≈ b1; a2 ≈ b2; a3 ≈ b3",
            id="as many groups as are named",
        ),
        pytest.param(
            GROUPS,
            [-0.1],
            "no clear difference: a0 ≈ b0; a1 ≈ b1; a2 ≈ b2; a3 ≈ b3; and 2 more",
            id="more groups",
        ),
        pytest.param(
            (tuple(f"a{n}" for n in range(MOST_TIED + 3)),),
            [-0.1],
            f"no clear difference: {' ≈ '.join(f'a{n}' for n in range(MOST_TIED))} ≈ and 3 more",
            id="a large group",
        ),
        pytest.param((), [], "", id="no pair"),
    ],
)
def test_a_sentence_names_the_ties_and_counts_the_pairs_without_an_interval(ties, pairs, want) -> None:
    compared = Comparison(metric="success", agents=("a", "b"), pairs=tuple(map(a_pair, pairs)), ties=ties)
    assert ties_in_words(compared, str) == want


@pytest.mark.parametrize(
    ("low", "high", "direction", "tied"),
    [
        (0.0, 0.5, "level", True),
        (0.1, 0.5, "above", False),
        (-0.5, 0.0, "level", True),
        (-0.5, -0.1, "below", False),
        (NONE, NONE, "unknown", False),
    ],
)
def test_a_difference_is_clear_where_its_interval_leaves_out_zero(low, high, direction, tied) -> None:
    pair = a_pair(low, high)
    assert (pair.direction, pair.tie) == (direction, tied)
    assert pair.clear_difference == (direction in ("above", "below"))
