"""Agents and runs side by side: what is drawn and said, and that names are only words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
import pytest
from builders import RunBuilder, a_graph, a_run, a_score
from drawn import HOSTILE, filled, markup, note

from components import figures
from components.figures import compare_matrix
from components.figures.compare import MOST_ROWS
from components.rankings import words as ranking_words
from components.shared.palette import DARK, LIGHT
from untaken.analysis.comparing import SideBySide, align_runs
from untaken.analysis.corpus import score_runs
from untaken.analysis.ranking import PairDirection, PairedDifference, PassK, RankReport, rank_agents
from untaken.plans import GraphSet, PlanGraph
from untaken.views.statuses import BORDER, CRITICAL_BORDER, STATUS


def a_pair(difference: float | None = 0.3, reach: float | None = 0.1, **given: Any) -> PairedDifference:
    """A difference with an interval `reach` to either side; without one nothing is known of it."""
    values: dict[str, Any] = {
        "metric": "completion", "first": "ann", "second": "bob", "n_tasks": 12, "n_runs": 24, "family": 3,
        "interval": "student_t", "test": "sign_flip",
    }  # fmt: skip
    if difference is not None:
        values["difference"] = difference
    if difference is not None and reach is not None:
        values |= {"low": difference - reach, "high": difference + reach}
        values |= {"p": 0.02, "p_holm": 0.04, "mde": 0.15, "p_above": 0.999}
    return filled(PairedDifference, **(values | given))


def a_report(*names: str, tasks: int = 8) -> RankReport:
    """The first agent succeeds always and completes little, the last completes all and succeeds never."""
    last = len(names) - 1
    scores = [
        a_score(name, f"t{t}", round(4 * place / last), 4, success=place + t % 3 < last, task_repeat=repeat)
        for place, name in enumerate(names)
        for t in range(tasks)
        for repeat in (1, 2)
    ]
    return rank_agents(scores, resamples=200)


def said(figure: go.Figure) -> str:
    return "\n".join(note.text for note in figure.layout.annotations)


REPORT = a_report("ann", "bob", "cyd")
ODD = a_report(HOSTILE, "b", f"{HOSTILE}2")
DRAWN: dict[str, Callable[[RankReport, bool], go.Figure]] = {
    "matrix": lambda report, dark: figures.pair_matrix(report.comparisons["completion"], dark=dark),
    "difference": lambda report, dark: figures.difference_bar(
        report.comparisons["completion"].pairs[0], dark=dark
    ),
    "gaps": lambda report, dark: figures.gap_bars(
        report.sub_goal_gaps("completion", *report.comparisons["completion"].agents[:2]), dark=dark
    ),
    "scatter": lambda report, dark: figures.outcome_scatter(
        report.placed("completion"), report.metrics["success_rate"], report.metrics["completion"], dark=dark
    ),
    "pass^k": lambda report, dark: figures.pass_k_lines(report.pass_k, dark=dark),
}


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("dark", [False, True])
def test_every_figure_has_a_light_and_a_dark_variant_and_names_are_words(name: str, dark: bool) -> None:
    assert DRAWN[name](REPORT, dark).layout.paper_bgcolor == (DARK if dark else LIGHT).background
    assert markup(DRAWN[name](ODD, dark)) == []


def test_the_matrix_gives_each_pair_a_cell_with_its_difference_and_one_with_its_chance() -> None:
    compared = REPORT.comparisons["completion"]
    drawn = figures.pair_matrix(compared, marked=compared.pairs[1].digest)
    (handles,) = drawn.data
    assert sorted(c[0] for c in handles.customdata) == sorted([p.digest for p in compared.pairs] * 2)
    assert said(drawn).count(" to ") == said(drawn).count("p < 0.001") + said(drawn).count("p =") == 3
    assert sum(shape.line.width == 3 for shape in drawn.layout.shapes) == 2


@pytest.mark.parametrize(
    ("difference", "reach", "standing"),
    [(0.3, 0.1, "above"), (-0.3, 0.1, "below"), (0.05, 0.1, "level"), (0.3, None, "unknown")],
)
def test_the_direction_of_a_pair_is_shown_by_a_sign_and_a_line_not_by_colour_alone(
    difference: float, reach: float | None, standing: PairDirection
) -> None:
    pair = a_pair(difference, reach)
    assert pair.direction == standing
    assert len(set(ranking_words.SIGNS.values())) == 4
    fills = [ranking_words.fill_of(pair, look) for look in (LIGHT, DARK)]
    assert fills[0] != fills[1]


def test_the_scatter_marks_those_whom_the_outcome_flatters_or_hides() -> None:
    drawn = DRAWN["scatter"](REPORT, False)
    marked = {str(trace.text[0]): trace.marker.color for trace in drawn.data if trace.mode == "markers+text"}
    assert marked["ann"] == marked["cyd"] == LIGHT.warm
    assert "the outcome hides it" in said(drawn)
    assert "the outcome flatters it" in said(drawn)
    for axis in (drawn.layout.xaxis, drawn.layout.yaxis):
        assert axis.range[1] > 1 >= max(axis.tickvals)
        assert len(axis.tickvals) > 2
    alike = [a_score(name, f"t{t}", 2, 4, success=t < 2) for name in ("ann", "bob") for t in range(4)]
    traces = DRAWN["scatter"](rank_agents(alike, resamples=0), False).data
    sides = {trace.textposition for trace in traces if trace.mode == "markers+text"}
    assert len(sides) == 2  # names do not cover each other


def test_names_at_the_ends_of_lines_are_apart_and_single_trials_say_why_there_is_no_line() -> None:
    ends = [
        PassK(agent=name, k=k, value=0.5, low=0.4, high=0.6, n_tasks=9, n_runs=18)
        for name in "abc"
        for k in (1, 2)
    ]
    heights = sorted(note.y for note in figures.pass_k_lines(ends).layout.annotations)
    assert all(above - below > 0.05 for below, above in pairwise(heights))
    single = rank_agents([a_score("a", f"t{t}", success=True) for t in range(3)], resamples=0).pass_k
    assert "tried twice" in said(figures.pass_k_lines(single))


EMPTY = {
    "matrix": lambda: figures.pair_matrix(rank_agents([], resamples=0).comparisons["completion"]),
    "difference": lambda: figures.difference_bar(a_pair(0.3, None)),
    "gaps": lambda: figures.gap_bars(()),
    "scatter": lambda: figures.outcome_scatter((), (), ()),
    "pass^k": lambda: figures.pass_k_lines(()),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_figure_without_anything_to_draw_says_so(name: str) -> None:
    drawn = EMPTY[name]()
    assert len(drawn.data) == 0
    assert len(said(drawn)) > 10


NO = "No clear difference"
SENTENCES = [
    ("a clear difference", a_pair(), "Yes", "A is ahead of B by completed: 30.0 points over the 12 tasks"),
    ("its interval", a_pair(), "Yes", "95% interval +20.0 to +40.0, p = 0.020"),
    ("the family", a_pair(), "Yes", "It is still clear after correction for all 3 pairs under this metric"),
    ("not after Holm", a_pair(p_holm=0.06), "Only uncorrected", "It is not clear any more after correction"),
    ("the other way round", a_pair(-0.3), "Yes", "B is ahead of A"),
    ("no clear difference", a_pair(0.05), NO, "no clear difference between A and B"),
    ("what could be found", a_pair(0.05), NO, "must be 15.0 points or more"),
    ("too few tasks", a_pair(0.05, mde=6.1), NO, "12 tasks are too few to detect even 100 points"),
    ("one task", a_pair(0.3, None), "Unknown", "needs two tasks"),
    ("no common task", a_pair(None), "Unknown", "no task has a value for both"),
]


@pytest.mark.parametrize(("desc", "pair", "word", "words"), SENTENCES, ids=[case[0] for case in SENTENCES])
def test_is_one_really_better_is_answered_in_words(desc, pair, word, words) -> None:
    assert ranking_words.verdict(pair) == word
    assert words in ranking_words.sentences(pair, "A", "B")


def test_how_a_p_was_had_is_said() -> None:
    single = a_pair(test="mcnemar", interval="adjusted_wald", first_only=8, second_only=2)
    assert "8 tasks where only the first succeeded and 2 that only the second" in ranking_words.method(single)
    assert "Student's t over tasks" in ranking_words.method(a_pair())


@pytest.mark.parametrize(
    ("by_outcome", "by_metric", "says"),
    [
        (a_pair(), a_pair(-0.3), "Both differences are clear"),
        (a_pair(0.01), a_pair(-0.01), "Neither difference is clear: the order change may be chance."),
        (a_pair(0.01), a_pair(-0.3), "Only the difference by completed is clear."),
        (a_pair(0.3, None), None, "Neither difference is clear"),
    ],
)
def test_a_pair_that_changes_places_says_whether_that_may_be_luck(by_outcome, by_metric, says) -> None:
    assert says in ranking_words.turn_words(by_outcome, by_metric)


GRAPH = a_graph(
    {"id": "look", "rules": [{"tool": "look"}], "check": {"tool_call": {"name": "look"}}},
    {
        "id": "pay",
        "title": HOSTILE,
        "critical": True,
        "rules": [{"tool": "pay"}],
        "check": {"expr": "state.paid == true"},
    },
)


def runs() -> list[RunBuilder]:
    good = a_run("good", agent="ann", task="t", task_repeat=1).call("look").call("pay").state(paid=True)
    bad = a_run("bad", agent=HOSTILE, task="t").call("look").call("pay", ok=False).state(paid=False)
    lost = a_run("lost", agent="eve", task="t").call("look").finish(None)
    return [good.finish(True), bad.finish(False), lost]


def found(graph: PlanGraph | None = GRAPH, builders: list[RunBuilder] | None = None) -> SideBySide:
    made = [one.run() for one in builders or runs()]
    graphs = GraphSet.of([graph] if graph else [])
    return align_runs("t", made, score_runs(made, graphs)[0], graphs)


def boxes(figure: go.Figure) -> list[tuple[str, str, int]]:
    shapes = [
        s
        for s in figure.layout.shapes
        if s.type == "rect" and s.fillcolor in {x.fill for x in STATUS.values()}
    ]
    return [(s.fillcolor, s.line.dash, s.line.width) for s in shapes]


def test_a_cell_tells_its_status_by_colour_icon_and_line() -> None:
    figure = compare_matrix(found())
    done, tried, left = (STATUS[name] for name in ("completed", "attempted", "skipped"))
    assert boxes(figure)[:3] == [(done.fill, "solid", BORDER)] * 3
    assert boxes(figure)[3:] == [
        (style.fill, style.line_name, CRITICAL_BORDER) for style in (done, tried, left)
    ]
    words = figure.data[0].text
    assert words[3] == "<b>✓</b> 1"
    assert {"≠ <b>✗</b> 1!"} <= set(words)


def test_columns_are_headed_by_agent_repeat_and_outcome_and_a_click_carries_run_and_row() -> None:
    aligned = found()
    figure = compare_matrix(aligned)
    heads = figure.layout.xaxis.ticktext
    assert heads[0] == "reference<br>ann<br>#1<br><b>✓ success</b>"
    assert {head.rsplit("<br>", 1)[1] for head in heads[1:]} == {"<b>✗ failure</b>", "<b>? unknown</b>"}
    carried = [point[0] for point in figure.data[1].customdata]
    assert carried == [f"{run.digest} {place}" for place in range(2) for run in aligned.runs]


def test_a_line_is_above_the_first_row_at_which_runs_diverge() -> None:
    (line,) = [s for s in compare_matrix(found()).layout.shapes if s.type == "line"]
    assert (line.y0, line.line.dash) == (0.5, "dash")
    alike = [a_run(name, agent=name, task="t").call("look").finish(True) for name in "ab"]
    assert [s for s in compare_matrix(found(builders=alike)).layout.shapes if s.type == "line"] == []


@pytest.mark.parametrize("dark", [False, True])
def test_words_from_ledgers_and_graphs_stay_words(dark: bool) -> None:
    assert markup(compare_matrix(found(), marked="pay", dark=dark)) == []


def test_a_cell_of_many_actions_makes_the_columns_wider() -> None:
    busy = a_run("bad", task="t").call("look").state(paid=False)
    for _ in range(100):
        busy.call("pay", ok=False)
    few, many = (
        compare_matrix(found(builders=[runs()[0], other])).layout.meta["least_width"]
        for other in (runs()[1], busy.finish(False))
    )
    assert many > few


def test_without_a_plan_rows_are_tools_and_nothing_to_align_by_is_said() -> None:
    figure = compare_matrix(found(None))
    assert list(figure.layout.yaxis.ticktext) == ["look", "pay"]
    assert figure.data[0].text[0] == "<b>●</b> 1"
    empty = [a_run(name, agent=name, task="t").finish(True) for name in "ab"]
    assert "neither sub-goals nor tool calls" in note(compare_matrix(found(None, empty)))


def test_of_very_many_rows_those_at_which_runs_part_are_kept() -> None:
    tools = [(f"g{n}", {"name": f"t{n}"}) for n in range(99)]
    goals = [{"id": name, "rules": [{"tool": of["name"]}], "check": {"tool_call": of}} for name, of in tools]
    one = a_run("one", task="t").call("t98").finish(True)
    other = a_run("two", task="t").call("t0").call("t98").finish(False)
    figure = compare_matrix(found(a_graph(*goals), [one, other]))
    assert len(figure.layout.yaxis.ticktext) == MOST_ROWS
    assert figure.layout.yaxis.ticktext[0] == "g0"
