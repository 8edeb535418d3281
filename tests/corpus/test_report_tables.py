"""The tables that app, notebooks and command line share."""

from __future__ import annotations

import dataclasses

import desk
import pandas as pd
import pytest
from histories import past
from msgspec.structs import replace

from untaken import views as report
from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.errors import Unscored
from untaken.plans import GraphSet
from untaken.scoring import ScoreDetail
from untaken.scoring.run_score import DetailLater
from untaken.views import decisions, rankings, scores

TABLES = {
    report.runs_table: scores.RUNS,
    report.sub_goals_table: scores.SUB_GOALS,
    report.decisions_table: decisions.DECISIONS,
    report.choices_table: decisions.CHOICES,
    report.agents_table: rankings.AGENTS,
    report.rankings_table: rankings.RANKINGS,
    report.pairs_table: rankings.PAIRS,
    report.pass_k_table: rankings.PASS_K,
    report.agreement_table: rankings.AGREEMENT,
    report.discordant_table: rankings.DISCORDANT,
    report.contradictions_table: rankings.CONTRADICTIONS,
    report.sub_goal_failures: rankings.FAILURES,
}
VOCABULARY = {
    *("run_id", "task_id", "task_repeat", "agent", "model", "success", "cost", "steps", "total_time"),
    *("total_tokens", "error", "limit", "digest", "integrity"),
}


@pytest.fixture(scope="module")
def corpus():
    return desk.corpus()


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.__name__)
def test_a_table_has_the_documented_columns_and_types_even_when_empty(table, corpus) -> None:
    columns = TABLES[table]
    empty = evaluate_corpus([], GraphSet.of([]), resamples=0)
    for made in (table(corpus), table(empty)):
        assert list(made.columns) == list(columns)
        assert {n: str(t) for n, t in made.dtypes.items()} == {n: c.dtype for n, c in columns.items()}
    assert all(column.meaning for column in columns.values())


@pytest.mark.parametrize("table", [report.runs_table, report.agents_table])
def test_a_table_of_all_runs_needs_no_runs_detail(table, corpus) -> None:
    def detail() -> ScoreDetail:
        raise AssertionError("the detail was worked out")

    scores = {
        digest: score if isinstance(score, Unscored) else replace(score, detail=DetailLater(detail))
        for digest, score in corpus.scores.items()
    }
    assert table(dataclasses.replace(corpus, scores=scores)).equals(table(corpus))


def test_a_run_has_its_figures_in_the_shared_vocabulary(corpus) -> None:
    assert set(scores.RUNS) >= VOCABULARY
    run = report.runs_table(corpus).set_index("run_id").loc["lucky-10"]
    want = {
        "agent": "lucky",
        "success": True,
        "cost": 0.1,
        "steps": 2,
        "completion": 0.5,
        "critical_completion": 0.0,
        "contradiction": "lucky",
        "violations": 1,
        "integrity": "INTACT",
        "graph": "desk",
        "decisions": 2,
    }
    assert {key: run[key] for key in want} == want


def test_an_unscored_run_is_missing_never_zero_and_says_why(corpus) -> None:
    runs = report.runs_table(corpus).set_index("run_id")
    stray = runs.loc["stray"]
    assert stray[["coverage", "completion", "diagnosis", "violations"]].isna().all()
    assert stray["score_reason"] == "no plan graph for its task: 'other'"
    assert runs["score_reason"].notna().sum() == 2


def test_a_run_whose_clock_stood_still_has_no_duration() -> None:
    run = desk.careful(1)
    run.events = [replace(event, ts=run.events[0].ts) for event in run.events]
    corpus = evaluate_corpus([run.run()], desk.graphs(), resamples=0)
    assert report.runs_table(corpus)["total_time"].isna().all()


TOKENS = {
    "whole": ({"total_tokens": 12.0}, 12),
    "in parts": ({"prompt_tokens": 10.0, "completion_tokens": 5.0}, 15),
    "the other words": ({"input_tokens": 1.0, "output_tokens": 2.0}, 3),
    "one part only": ({"prompt_tokens": 10.0}, None),
    "a flag": ({"total_tokens": True}, None),
}


@pytest.mark.parametrize(("metrics", "want"), TOKENS.values(), ids=TOKENS)
def test_tokens_are_read_from_the_metrics(metrics: dict[str, float], want: int | None) -> None:
    run = desk.a_run("r", task="refund-1").finish(metrics=metrics).run()
    value = report.runs_table(evaluate_corpus([run], desk.graphs(), resamples=0))["total_tokens"][0]
    assert (None if pd.isna(value) else value) == want


def test_a_sub_goal_has_a_row_per_run_and_its_failures_are_counted_by_agent(corpus) -> None:
    table = report.sub_goals_table(corpus)
    row = table[(table.run_id == "lucky-10") & (table.sub_goal == "policy")].iloc[0]
    assert (row.status, row.critical, row.completed) == ("skipped", True, False)
    assert len(table) == 12 * 4
    failures = report.sub_goal_failures(corpus).set_index(["agent", "sub_goal"])
    assert failures.loc[("lucky", "policy"), ["runs", "completed", "skipped"]].tolist() == [4, 0, 4]
    assert failures.loc[("lucky", "policy"), "failure_rate"] == 1.0
    assert pd.isna(failures.loc[("failing", "polite"), "failure_rate"])
    branches = report.decisions_table(corpus)  # a row per decision
    assert len(branches) == 12 * 2
    assert set(branches["verdict"]) == {"unknown"}
    assert branches["delta"].isna().all()
    assert branches["delta_reason"].notna().all()


@pytest.fixture(scope="module")
def decided() -> Corpus:
    """In one context the skill ``bad`` always fails and ``good`` always succeeds; ``new`` was never taken."""
    bad = [past(f"b{i}", "bad|good", "bad|new", day=i, success=False, cost=2 + i % 3) for i in range(8)]
    good = [past(f"g{i}", "good|bad", "good|good", day=i + 0.5, cost=1 + i % 2) for i in range(8)]
    return evaluate_corpus([*bad, *good], GraphSet.of([]), resamples=0)


def test_a_choice_has_one_row_and_what_is_unscored_in_it_is_missing_and_says_why(decided: Corpus) -> None:
    table = report.choices_table(decided).set_index(["selected", "alternative"])
    assert list(table.index) == [("bad", "good"), ("good", "bad"), ("bad", "new")]
    row = table.loc[("bad", "good")]
    assert (row["n_selected"], row["runs_selected"], row["n_alternative"]) == (16, 8, 16)
    assert (row["success_rate_selected"], row["success_rate_alternative"]) == (0, 1)
    assert (row["points"], row["runs"], row["deltas"], row["unknown"]) == (8, 8, 7, 1)
    assert row["support"] == "supported"
    assert row["low"] > 0
    assert row["q"] < 0.05
    assert row["q_family"] == 1
    new = table.loc[("bad", "new")]
    assert new[["advantage", "low", "high", "q", "mean_delta", "runs_alternative"]].isna().all()
    assert new["advantage_reason"] == "no run chose this alternative in this context"
    assert new["mean_delta_reason"] == "the alternative had no history when any of the runs began"
    counts = report.count_choices(decided.choices)
    assert (counts.choices, counts.compared, counts.more, counts.less, counts.unknown) == (3, 2, 1, 1, 1)


def test_every_path_not_taken_is_an_instance_of_one_choice(decided: Corpus) -> None:
    review = report.choice_review(decided)
    paths = report.decisions_table(decided)
    alike = [name for name in review.paths if name in paths]
    plain = review.paths[alike].astype(paths.dtypes[alike].to_dict())
    pd.testing.assert_frame_equal(plain, paths[alike])
    some = review.paths.sort_values("delta", kind="stable").tail(7)
    want = paths.iloc[some.index].reset_index(drop=True)
    pd.testing.assert_frame_equal(review.table(some, lambda: decided)[paths.columns], want)
    points = {choice.digest: len(choice.points) for choice in review.choices}
    assert review.paths["choice"].value_counts().to_dict() == points
    supports = {choice.digest: choice.support for choice in review.choices}
    assert (review.paths["choice_support"] == review.paths["choice"].map(supports)).all()
