"""Figures of policy memory: every estimate with its interval and its n, weak signals marked as such."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest
from drawn import HOSTILE, markup
from histories import moment, seen, weak

from components import figures
from components.shared.palette import DARK, LIGHT
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.views import estimates_table, records_table


def rates(*log: Observed, dark: bool = False) -> go.Figure:
    table = records_table(PolicyMemory(log).snapshot(), {})
    return figures.skill_rates(table, dark=dark)


def course(*log: Observed, skill: str = "a", dark: bool = False) -> go.Figure:
    table = estimates_table(PolicyMemory(log).snapshot(), skill, "ctx")
    return figures.estimates_over_time(table, dark=dark)


def words(figure: go.Figure) -> str:
    return json.dumps(figure.to_plotly_json(), default=str)


LOG = (
    seen("r1", day=1),
    seen("r2", day=2, success=0.0),
    seen("r3", "b", day=2),
    seen("r4", day=3),
    weak("w1", day=9, key="w1"),
    weak("w2", day=9, key="w2"),
)


def test_each_skill_has_its_rate_its_interval_and_its_n_the_best_first() -> None:
    figure = rates(*LOG)
    bars, points = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["b", "a"]
    assert points.x[0] == 1.0
    for place, rate in enumerate(points.x):
        low, high = bars.x[3 * place], bars.x[3 * place + 1]
        assert low <= rate <= high
    assert [note.text for note in figure.layout.annotations] == ["n = 1", "n = 3"]
    assert "weak signals weigh 0.5" in points.hovertext[1]


def test_the_course_has_a_point_a_moment_its_band_and_its_weak_signals() -> None:
    top, bottom, line, marks = course(*LOG).data
    assert list(line.x) == [0, 1, 2, 3]
    assert list(course(*LOG).layout.xaxis.ticktext) == ["2026-01-02", "2026-01-04", "2026-01-10"]
    assert list(line.y)[:3] == pytest.approx([1.0, 0.5, 2 / 3])
    assert all(low <= y <= high for low, y, high in zip(bottom.y, line.y, top.y, strict=True))
    assert bottom.fill == "tonexty"
    assert (len(marks.x), marks.marker.symbol) == (1, "diamond")
    assert "2 weak signals applied" in marks.hovertext[0]
    assert "2 weak signals" in course(*LOG).layout.xaxis.title.text
    assert len(course(*LOG[:4]).data[-1].x) == 0
    assert "weak" not in words(course(*LOG[:4]))


@pytest.mark.parametrize(("apart", "want"), [(1.0, "2026-01-0"), (1 / 24, "01-0"), (1 / 86_400, "")])
def test_moments_are_told_apart_by_day_else_by_time_or_not_at_all(apart: float, want: str) -> None:
    found = course(*(seen(f"r{at}", day=1 + at * apart) for at in range(3))).layout.xaxis.ticktext
    assert all(words.startswith(want) if want else not words for words in found)


def test_without_a_history_the_figure_says_so() -> None:
    assert "No outcomes in this context yet" in words(rates())
    assert "No outcomes of this skill yet" in words(course(skill="unseen"))
    assert "No outcomes of this skill yet" in words(course(weak("w1")))


def test_a_long_list_of_skills_is_cut_and_says_so() -> None:
    figure = rates(*(seen(f"r{n}", f"s{n:02}") for n in range(50)))
    assert "the first 40 of 50 skills" in figure.layout.xaxis.title.text
    assert len(figure.data[1].x) == 40


def test_names_from_a_ledger_reach_no_figure_as_markup_in_both_themes() -> None:
    log = [seen(HOSTILE, HOSTILE), weak(HOSTILE, HOSTILE, day=2)]
    for dark, look in ((False, LIGHT), (True, DARK)):
        drawn = rates(*log, dark=dark), course(*log, skill=HOSTILE, dark=dark)
        assert markup(*drawn) == []
        assert {figure.layout.paper_bgcolor for figure in drawn} == {look.background}


def test_the_table_of_a_course_begins_where_its_first_outcome_is_known() -> None:
    table = estimates_table(PolicyMemory([weak("w", day=0), seen("r", day=1)]).snapshot(), "a", "ctx")
    assert table["success_rate"].isna().tolist() == [True, False]
    assert table["ts"].tolist()[1] == moment(1)
