"""The tables that app, notebooks and command line share."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import desk
import pandas as pd
import pytest
from msgspec.structs import replace

from untaken import views as report
from untaken.analysis.corpus import evaluate_corpus
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
VOCABULARY = [
    "run_id",
    "task_id",
    "task_repeat",
    "agent",
    "model",
    "success",
    "cost",
    "steps",
    "total_time",
    "total_tokens",
    "error",
    "limit",
    "digest",
    "integrity",
]


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


def test_runs_are_named_in_the_shared_vocabulary() -> None:
    assert [name for name in VOCABULARY if name not in scores.RUNS] == []


def test_an_unscored_run_is_missing_never_zero_and_says_why(corpus) -> None:
    runs = report.runs_table(corpus).set_index("run_id")
    stray = runs.loc["stray"]
    assert stray[["coverage", "completion", "diagnosis", "violations"]].isna().all()
    assert stray["score_reason"] == "no plan graph for its task: 'other'"
    assert runs["score_reason"].notna().sum() == 2


def test_a_run_has_its_figures(corpus) -> None:
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


def test_a_run_whose_clock_stood_still_has_no_duration() -> None:
    run = desk.careful(1)
    events = [
        type(e)(**{**{f: getattr(e, f) for f in e.__struct_fields__}, "ts": run.events[0].ts})
        for e in run.events
    ]
    run.events = events
    corpus = evaluate_corpus([run.run()], desk.graphs(), resamples=0)
    assert report.runs_table(corpus)["total_time"].isna().all()


class Tokens(NamedTuple):
    desc: str
    metrics: dict[str, float]
    want: int | None


TOKENS = [
    Tokens("whole", {"total_tokens": 12.0}, 12),
    Tokens("in parts", {"prompt_tokens": 10.0, "completion_tokens": 5.0}, 15),
    Tokens("the other words", {"input_tokens": 1.0, "output_tokens": 2.0}, 3),
    Tokens("one part only", {"prompt_tokens": 10.0}, None),
    Tokens("a flag", {"total_tokens": True}, None),
]


@pytest.mark.parametrize("case", TOKENS, ids=lambda c: c.desc)
def test_tokens_are_read_from_the_metrics(case: Tokens) -> None:
    run = desk.a_run("r", task="refund-1").finish(metrics=case.metrics).run()
    value = report.runs_table(evaluate_corpus([run], desk.graphs(), resamples=0))["total_tokens"][0]
    assert (None if pd.isna(value) else value) == case.want


def test_a_sub_goal_has_a_row_per_run(corpus) -> None:
    table = report.sub_goals_table(corpus)
    row = table[(table.run_id == "lucky-10") & (table.sub_goal == "policy")].iloc[0]
    assert (row.status, row.critical, row.completed) == ("skipped", True, False)
    assert len(table) == 12 * 4


def test_a_branch_has_a_row_per_decision(corpus) -> None:
    table = report.decisions_table(corpus)
    assert len(table) == 12 * 2
    assert set(table["verdict"]) == {"unknown"}
    assert table["delta"].isna().all()
    assert table["delta_reason"].notna().all()


def test_failures_are_counted_by_agent(corpus) -> None:
    table = report.sub_goal_failures(corpus).set_index(["agent", "sub_goal"])
    assert table.loc[("lucky", "policy"), ["runs", "completed", "skipped"]].tolist() == [4, 0, 4]
    assert table.loc[("lucky", "policy"), "failure_rate"] == 1.0
    assert pd.isna(table.loc[("failing", "polite"), "failure_rate"])
