"""Choices as a table, counted, and joined to the paths not taken that they are made of."""

from __future__ import annotations

import pandas as pd
import pytest
from histories import past

from untaken import views as report
from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.counterfactual import Choice
from untaken.errors import number
from untaken.plans import GraphSet


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """In one context the skill ``bad`` always fails and ``good`` always succeeds; ``new`` was never taken."""
    bad = [past(f"b{i}", "bad|good", "bad|new", day=i, success=False, cost=2 + i % 3) for i in range(8)]
    good = [past(f"g{i}", "good|bad", "good|good", day=i + 0.5, cost=1 + i % 2) for i in range(8)]
    return evaluate_corpus([*bad, *good], GraphSet.of([]), resamples=0)


def test_a_choice_has_one_row_whatever_the_number_of_runs(corpus: Corpus) -> None:
    table = report.choices_table(corpus).set_index(["selected", "alternative"])
    assert list(table.index) == [("bad", "good"), ("good", "bad"), ("bad", "new")]
    row = table.loc[("bad", "good")]
    assert (row["n_selected"], row["runs_selected"], row["n_alternative"]) == (16, 8, 16)
    assert (row["success_rate_selected"], row["success_rate_alternative"]) == (0, 1)
    assert (row["points"], row["runs"], row["deltas"], row["unknown"]) == (8, 8, 7, 1)
    assert row["support"] == "supported"
    assert row["low"] > 0
    assert row["q"] < 0.05
    assert row["q_family"] == 1


def test_what_is_unscored_is_missing_and_says_why(corpus: Corpus) -> None:
    row = report.choices_table(corpus).set_index("alternative").loc["new"]
    assert row[["advantage", "low", "high", "q", "mean_delta", "runs_alternative"]].isna().all()
    assert row["advantage_reason"] == "no run chose this alternative in this context"
    assert row["mean_delta_reason"] == "the alternative had no history when any of the runs began"


def test_every_path_not_taken_is_an_instance_of_one_choice(corpus: Corpus) -> None:
    review = report.choice_review(corpus)
    paths = report.decisions_table(corpus)
    alike = [name for name in review.paths if name in paths]
    plain = review.paths[alike].astype(paths.dtypes[alike].to_dict())
    pd.testing.assert_frame_equal(plain, paths[alike])
    some = review.paths.sort_values("delta", kind="stable").tail(7)
    want = paths.iloc[some.index].reset_index(drop=True)
    pd.testing.assert_frame_equal(review.table(some, lambda: corpus)[paths.columns], want)
    points = {choice.digest: len(choice.points) for choice in review.choices}
    assert review.paths["choice"].value_counts().to_dict() == points
    supports = {choice.digest: choice.support for choice in review.choices}
    assert (review.paths["choice_support"] == review.paths["choice"].map(supports)).all()


def test_the_choices_among_some_paths_keep_their_order(corpus: Corpus) -> None:
    review = report.choice_review(corpus)
    some = review.paths[review.paths["alternative"] != "bad"]
    assert [choice.alternative for choice in review.among(some)] == ["good", "new"]


def test_choices_are_counted_by_what_supports_them(corpus: Corpus) -> None:
    made = corpus.choices
    counts = report.count_choices(made)
    want = {"choices": 3, "compared": 2, "more": 1, "less": 1, "alike": 0, "unknown": 1}
    assert {name: getattr(counts, name) for name in want} == want
    assert counts.compared == sum(number(choice.q) is not None for choice in made)
    assert report.count_choices(list[Choice]()).choices == 0
