"""Figures of choices: what is drawn of each, how support is shown, and that nothing in them is markup."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest
from drawn import HOSTILE, markup

from components import figures
from components.shared.choice_words import SIDES
from components.shared.palette import LIGHT
from untaken.counterfactual import Choice, Point, ScorePart, ScoreParts
from untaken.errors import Unscored

NONE = Unscored("no run chose it")


def differing(success: float | None) -> ScoreParts:
    """Parts in which success alone differs, with an interval 0.2 to either side."""
    ends = (NONE, NONE, NONE) if success is None else (success, success - 0.2, success + 0.2)
    one, same = (
        ScorePart(
            alternative=0.5, selected=0.5, n_alternative=10, n_selected=10, within=middle, low=low, high=high
        )
        for middle, low, high in (ends, (0.0, -0.1, 0.1))
    )
    return ScoreParts(success=one, cost=same, steps=same, cost_unit="usd")


def a_choice(alternative: str = "b", advantage: float | None = 0.3, **fields: Any) -> Choice:
    """A choice with an interval 0.2 to either side; without an advantage it is unknown."""
    spread = (None, None) if advantage is None else (advantage - 0.2, advantage + 0.2)
    low, high = (NONE if end is None else end for end in spread)
    values: dict[str, Any] = {
        "selected": "a",
        "alternative": alternative,
        "context_hash": "c0ffee00c0ffee",
        "context": None,
        "advantage": NONE if advantage is None else advantage,
        "low": low,
        "high": high,
        "p_better": NONE,
        "support": "none" if advantage is None else "supported" if abs(advantage) > 0.2 else "weak",
        "direction": None
        if advantage is None or abs(advantage) <= 0.2
        else ("worse", "better")[advantage > 0],
        "support_reason": "in words",
        "q": NONE if advantage is None else 0.01,
        "q_family": 0,
        "parts": differing(advantage),
        "taken": None,
        "other": None,
        "deltas": (),
        "may_be_better": 0,
        "was_better": 0,
        "equivalent": 0,
        "unknown": 1,
        "points": (Point("0" * 64, 3),),
        "agents": ("agent",),
        "tasks": ("task",),
        "level": 1,
        "levels": 1,
    }
    return Choice(**(values | fields))


EVERY = [a_choice("better"), a_choice("worse", -0.3), a_choice("unsure", 0.1), a_choice("new", None)]


def paths(**deltas: list[float | None]) -> pd.DataFrame:
    digests = {choice.alternative: choice.digest for choice in EVERY}
    rows = [(digests[name], delta) for name, some in deltas.items() for delta in some]
    return pd.DataFrame(rows, columns=["choice", "delta"]).astype({"delta": "Float64"})


def rows(figure: go.Figure, side: str = "right") -> list[str]:
    """The words of each row at its left or right end."""
    return [a.text for a in figure.layout.annotations if a.xref == "paper" and a.xanchor == side]


def test_support_is_shown_by_symbol_colour_line_and_word() -> None:
    figure = figures.choice_figure(EVERY)
    marks = figure.data[-1]
    assert list(marks.marker.symbol) == ["triangle-right", "triangle-left", "circle-open", "circle-open"]
    assert list(marks.marker.color) == [LIGHT.bad, LIGHT.good, LIGHT.muted, LIGHT.muted]
    assert [line.line.dash for line in figure.data[:-1]] == ["solid", "solid", "dot", "dot"]
    called = ("succeeded more often", "succeeded less often", "no clear difference", "no history")
    for words, side, said in zip(rows(figure), ("ahead", "behind", "weak", "none"), called, strict=True):
        assert f"{SIDES[side].icon} {said}" in words
        assert "n 0 → 0" in words


def test_an_interval_is_a_bar_and_an_unknown_alternative_has_none() -> None:
    figure = figures.choice_figure(EVERY)
    assert [list(line.x) for line in figure.data[:-1]] == [
        pytest.approx([0.1, 0.5, None]),
        pytest.approx([-0.5, -0.1, None]),
        pytest.approx([-0.1, 0.3, None], abs=1e-12),
        [],
    ]
    told = [words.split("<br>")[1].split(" <")[0] for words in rows(figure)]
    assert told == ["<b>+0.30</b>", "<b>−0.30</b>", "<b>+0.10</b>", "unknown"]
    assert figure.layout.xaxis.ticktext[0] == "unknown"
    assert figure.data[-1].x[3] == figure.layout.xaxis.tickvals[0] < -0.5
    assert "unknown" not in figures.choice_figure(EVERY[:3]).layout.xaxis.ticktext
    few = figures.choice_figure(EVERY, most=2)
    assert len(few.data[-1].x) == len(rows(few)) == len(rows(few, "left")) == 2


def test_a_mark_carries_its_choice_and_the_marked_row_is_highlighted() -> None:
    figure = figures.choice_figure(EVERY, marked=EVERY[2].digest)
    assert [carried for (carried,) in figure.data[-1].customdata] == [c.digest for c in EVERY]
    bands = [(s.y0, s.y1) for s in figure.layout.shapes if s.type == "rect"]
    assert [(low < 2 < high, high - low) for low, high in bands] == [(True, pytest.approx(1))]
    assert not [s for s in figures.choice_figure(EVERY).layout.shapes if s.type == "rect"]


def test_deltas_show_their_mean_middle_half_and_range_the_largest_sum_first() -> None:
    table = paths(better=[0.0, 0.2, 0.4, 0.6, 0.8], worse=[-0.4, None], new=[None])
    figure = figures.choice_deltas(EVERY, table)
    whole, half, marks = figure.data
    assert list(whole.x[:2]) == pytest.approx([0.0, 0.8])
    assert list(half.x[:2]) == pytest.approx([0.2, 0.6])
    told = [words.split("<br>")[1].split(" <")[0] for words in rows(figure)]
    assert told == ["<b>+0.40</b>", "<b>−0.40</b>", "unknown", "unknown"]
    assert "over 5 points, from 0.00 to +0.80" in marks.hovertext[0]
    figure = figures.choice_deltas(EVERY, paths(better=[0.5], worse=[0.2] * 4, unsure=[-0.1]))
    names = [name.split("</b> → ")[1].split("<br>")[0] for name in rows(figure, "left")]
    assert names == ["worse", "better", "unsure", "new"]


def test_nothing_to_draw_is_said() -> None:
    for figure in (figures.choice_figure([]), figures.choice_deltas([], paths())):
        assert "No choice to show" in figure.layout.annotations[0].text


@pytest.mark.parametrize("dark", [False, True])
def test_hostile_names_are_words(dark: bool) -> None:
    hostile = a_choice(
        HOSTILE, selected=HOSTILE, context=json.dumps({HOSTILE: HOSTILE}), support_reason=HOSTILE
    )
    table = pd.DataFrame({"choice": [hostile.digest], "delta": pd.array([0.1], dtype="Float64")})
    drawn = figures.choice_figure([hostile], dark=dark), figures.choice_deltas([hostile], table, dark=dark)
    assert markup(*drawn) == []
