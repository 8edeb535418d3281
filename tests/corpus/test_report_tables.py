"""The report on one run, the overview of many, and the tables that app, notebooks and command line share."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from runpy import run_path

import desk
import pandas as pd
import pytest
from builders import a_run
from foreign_files import converted, put, tau_record
from histories import past
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from untaken import load_graph
from untaken import views as report
from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.errors import Unscored, UntakenError
from untaken.ledger import ModeAssignment, ReviewNote, read_ledger
from untaken.plans import GraphSet
from untaken.scoring import ScoreDetail
from untaken.scoring.run_score import DetailLater
from untaken.stats import interval_of_share
from untaken.views import decisions, rankings, scores
from untaken.views.first_page import graphs_by_misses, overview
from untaken.views.timeline import PREVIEW_CHARS, timeline

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
        digest: score if isinstance(score, Unscored) else structs.replace(score, detail=DetailLater(detail))
        for digest, score in corpus.scores.items()
    }
    assert table(replace(corpus, scores=scores)).equals(table(corpus))


def test_an_unscored_run_is_missing_never_zero_and_says_why(corpus) -> None:
    runs = report.runs_table(corpus).set_index("run_id")
    stray = runs.loc["stray"]
    assert stray[["coverage", "completion", "diagnosis", "violations"]].isna().all()
    assert stray["score_reason"] == "no plan graph for its task: 'other'"
    assert runs["score_reason"].notna().sum() == 2


def test_a_run_whose_clock_stood_still_has_no_duration() -> None:
    run = desk.careful(1)
    run.events = [structs.replace(event, ts=run.events[0].ts) for event in run.events]
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


def test_every_event_type_has_words_and_previews_are_cut_and_say_so() -> None:
    run = a_run("r").say("x" * 5000).observe({"a": [1]}, ok=False)
    _, said, seen = timeline(run.run())
    assert (len(said.text), said.cut) == (PREVIEW_CHARS, True)
    assert (seen.title, seen.text, seen.ok) == ("Failure", '{"a":[1]}', False)
    run.plan("a").select("s", "t").call("tool", ok=True).state(x=1)
    run.verdict("a", None).finish(None, steps=None, cost=None)
    assert all(row.title for row in timeline(run.run()))


def test_an_event_that_a_verdict_rests_on_says_so() -> None:
    run = a_run("r").say("I clicked.").finish()
    run.verdict("work of X", False, by="human:a", evidence=(1,), reason="wrong")
    _, message, _, verdict = timeline(run.run())
    assert (message.cited_by, verdict.cited_by) == ((3,), ())
    assert verdict.text == "not met, by human:a, seen in event 1: wrong"


def test_notes_and_modes_say_what_event_they_are_about() -> None:
    run = a_run("r").say("hi").finish()
    for event in (None, 1):
        run.add(ReviewNote, author="ann", text="seen", event=event)
        run.add(ModeAssignment, mode="loop", by="human:ann", event=event, reason="twice" if event else None)
    *_, note, mode, on_event, at_event = timeline(run.run())
    assert [note.title, on_event.title] == ["Note by ann", "Note by ann on event 1"]
    assert [mode.title, at_event.title] == ["Failure mode loop", "Failure mode loop at event 1"]
    assert (mode.text, at_event.text) == ("accepted, by human:ann", "accepted, by human:ann: twice")


def test_the_three_numbers_and_of_nothing_they_are_unscored_not_zero(corpus) -> None:
    found = overview(corpus)
    assert (found.succeeded.count, found.succeeded.n) == (9, 13)
    assert (found.lucky.count, found.lucky.n) == (4, 8)
    assert found.unlucky.n == 0
    assert isinstance(found.unlucky.rate, Unscored)
    assert (found.broken, found.pairs) == (1, 3)
    assert found.agreement is not None
    empty = overview(evaluate_corpus([], GraphSet.of([]), resamples=0))
    assert isinstance(empty.succeeded.rate, Unscored)
    assert empty.runs == 0


def test_the_success_of_all_runs_has_an_interval_with_tasks_as_units(corpus) -> None:
    found, tasks = overview(corpus), {}
    for run in corpus.runs.values():
        if not run.integrity.broken and isinstance(run.success, bool):
            tasks.setdefault(run.task_id, []).append(run.success)
    means = [sum(some) / len(some) for some in tasks.values()]
    assert found.task_mean == pytest.approx(sum(means) / len(means))
    assert (found.task_low, found.task_high) == interval_of_share(means, found.succeeded.n)
    assert 0 < found.task_low < found.task_mean < found.task_high < 1


def test_the_plan_graph_with_most_misses_comes_first(corpus) -> None:
    named = {run.run_id: score for (d, score) in corpus.scores.items() for run in [corpus.runs[d]]}
    fine, lucky = named["careful-10"], named["lucky-10"]  # nothing missed; the policy missed
    scores = {"1": structs.replace(fine, graph_id="a"), "2": structs.replace(lucky, graph_id="b")}
    assert graphs_by_misses(replace(corpus, scores=scores)) == ["b", "a"]
    assert graphs_by_misses(replace(corpus, scores={"1": scores["1"]})) == ["a"]


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("spec", "want"),
    [(".0%", "unscored"), ("12.1f", "    unscored"), ("<10", "unscored  "), ("*^10", "*unscored*")],
)
def test_an_unscored_value_is_formatted_as_a_word(spec: str, want: str) -> None:
    assert format(Unscored("no evidence"), spec) == want


@given(spec=st.from_regex(r"\A(.?[<>=^])?[-+ ]?#?0?\d{0,2},?(\.\d{1,2})?[%efgn]?\Z"))
def test_any_specification_of_a_number_is_taken(spec: str) -> None:
    assert "unscored" in format(Unscored("no evidence"), spec)


@pytest.mark.parametrize("ask", [bool, lambda u: u or 0, lambda u: 1 if u else 0, lambda u: not u])
def test_asking_an_unscored_value_for_its_truth_is_an_error_with_a_hint(ask) -> None:
    with pytest.raises(TypeError, match=r"no evidence.*isinstance\(value, Unscored\)"):
        ask(Unscored("no evidence"))


def test_the_readme_example_works_on_converted_traces(tmp_path, capsys) -> None:
    put(tmp_path / "in" / "gpt-9-airline.json", [tau_record(), tau_record(trial=1, reward=0.0)])
    converted("tau-bench", tmp_path / "out", tmp_path / "in")
    page = (ROOT / "README.md").read_text("utf-8")
    program = re.search(r"```python\n(from pathlib.*?)```", page, re.DOTALL)
    example = program[1].replace("sample_runs/", f"{(tmp_path / 'out').as_posix()}/")
    (tmp_path / "example.py").write_text(example, "utf-8")
    run_path(str(tmp_path / "example.py"))
    assert "gpt-9            success 50%  critical unscored" in capsys.readouterr().out


def test_a_corpus_says_in_a_line_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "g.plan.yaml").write_text("id: g\nsub_goals: [{id: a, check: {outcome: true}}]\n")
    run = a_run(agent="<b>&").finish(True).run()
    corpus = evaluate_corpus([run], tmp_path)
    counts = "1 runs, 1 scored, 1 agents, 1 plan graphs"
    assert repr(corpus) == f"<Corpus: {counts}, {len(corpus.findings)} findings>"
    html = corpus._repr_html_()
    assert "<td>&lt;b&gt;&amp;</td><td>1</td><td>1.000</td>" in html
    one_by_one = evaluate_corpus([run], load_graph(tmp_path / "g.plan.yaml"))
    assert one_by_one.scores == corpus.scores == evaluate_corpus([run], str(tmp_path)).scores


def test_a_folder_given_as_a_ledger_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UntakenError, match="it is a folder") as refused:
        read_ledger(tmp_path)
    assert "one by one" in refused.value.hint
