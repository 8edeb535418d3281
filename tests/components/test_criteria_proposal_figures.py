"""Figures of two agents by criterion and of different criteria by seeds say in words what they draw."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from components.figures import agents_by_criterion, unique_criteria
from untaken.errors import Unscored
from untaken.judging.criteria import CriterionDifference, UniqueCount

HOSTILE = "<img src=x onerror=alert(1)> $x^2$ %{x}"


def a_side(name: str = "Care", *, apart: bool = True, **changes: Any) -> CriterionDifference:
    fields: dict[str, Any] = {
        "name": name,
        "first": 3.0,
        "first_low": 2.0,
        "first_high": 4.0,
        "second": 1.0,
        "second_low": 0.5,
        "second_high": 1.5,
        "difference": 2.0,
        "low": 1.0 if apart else -1.0,
        "high": 3.0,
        "tasks": 7,
        "runs": 21,
        "top": 4,
    }
    return CriterionDifference(**(fields | changes))


def a_count(seeds: int, *, way: str = "task", tau: float = 0.5) -> UniqueCount:
    mean = 2.0 + seeds
    return UniqueCount(way=way, tau=tau, seeds=seeds, of=3, mean=mean, low=mean - 1, high=mean + 1, draws=200)


def points(figure: go.Figure) -> list[go.Scatter]:
    return [trace for trace in figure.data if "markers" in (trace.mode or "")]


def test_two_agents_are_drawn_as_shares_of_the_scale_with_n_and_clear_differences() -> None:
    figure = agents_by_criterion([a_side(), a_side("Tone", apart=False)], "a", "b")
    first, second = points(figure)
    assert (list(first.x), list(second.x)) == ([0.75, 0.75], [0.25, 0.25])
    assert "95% 50% to 100%" in first.hovertext[0]
    assert "7 common tasks, 21 runs" in first.hovertext[0]
    assert [note.text for note in figure.layout.annotations] == ["≠  n = 7", "≈  n = 7"]


def test_agents_can_be_distinguished_without_colour() -> None:
    first, second = points(agents_by_criterion([a_side()], "a", "b"))
    assert first.marker.symbol != second.marker.symbol
    assert (first.name, second.name) == ("a", "b")


def test_one_task_has_no_interval_and_says_so() -> None:
    none = Unscored("one common task has no spread")
    alone = a_side(first_low=none, first_high=none, second_low=none, second_high=none, low=none, high=none)
    figure = agents_by_criterion([alone], "a", "b")
    assert "no interval" in points(figure)[0].hovertext[0]
    assert [list(trace.x) for trace in figure.data if trace.mode == "lines"] == [[], []]


def test_a_curve_for_each_way_and_threshold_with_the_spread_of_the_draws() -> None:
    counts = [a_count(n, way=w, tau=t) for w in ("task", "solution") for t in (0.5, 1.0) for n in (1, 2, 3)]
    figure = unique_criteria(counts)
    assert len(figure.data) == 4
    assert len({(trace.line.dash, trace.marker.symbol) for trace in figure.data}) == 4
    assert list(figure.data[0].error_y.array) == [1.0] * 3
    assert "2 of 3 seeds: 4.0 criteria" in figure.data[0].hovertext[1]


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_to_draw_is_said(dark: bool) -> None:
    assert "No task" in agents_by_criterion([], "a", "b", dark=dark).layout.annotations[0].text
    assert "Nothing was proposed" in unique_criteria([], dark=dark).layout.annotations[0].text


def test_hostile_names_reach_no_figure_as_markup() -> None:
    for figure in (
        agents_by_criterion([a_side(HOSTILE)], HOSTILE, HOSTILE),
        unique_criteria([a_count(1, way=HOSTILE)]),
    ):
        words = figure.to_json()
        assert "img" in words
        assert "<img" not in words
        assert "$x" not in words
