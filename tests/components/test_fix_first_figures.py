"""The figures of what to fix first say what the list says."""

from __future__ import annotations

import json
from dataclasses import replace

import plotly.graph_objects as go
import pytest

from components import figures
from untaken.fix_first import ITEMS_SHOWN, FixFirst, Often

SUB_GOAL = FixFirst(
    kind="sub_goal",
    digest="d0",
    graph="desk",
    sub_goal="policy",
    title="Check policy",
    critical=True,
    often=Often(count=41, n=96, low=0.33, high=0.53),
    required=96,
    much=0.75,
    gain=0.32,
    low=0.25,
    high=0.4,
    unit="critical completion",
    reason="In 41 of 96 scored runs it fails first",
    runs=("a",),
    agents={"ann": 41},
)
DECISION = replace(
    SUB_GOAL,
    kind="decision",
    digest="d1",
    sub_goal=None,
    title=None,
    critical=None,
    selected="guess",
    alternative="read",
    context_hash="0123456789",
    context='{"step":"policy"}',
    much=0.2,
    gain=0.085,
    low=0.02,
    high=0.12,
    unit="score",
)
HOSTILE = '<b onclick="x">$\\alpha$</b><a href="javascript:alert(1)">go</a></script>%{x}'


def row_words(figure: go.Figure) -> list[str]:
    return list(figure.data[-1].text)


def test_a_bar_is_as_long_as_the_gain_and_carries_the_item() -> None:
    figure = figures.fix_first_bars([SUB_GOAL, replace(SUB_GOAL, digest="d2", gain=0.1, low=0.05, high=0.2)])
    bars, intervals, numbers, _ = figure.data
    assert list(bars.x) == [0.32, 0.1]
    assert [carried[0] for carried in bars.customdata] == ["d0", "d2"]
    assert list(intervals.x) == [0.25, 0.4, None, 0.05, 0.2, None]
    assert [words.strip() for words in numbers.text] == ["32.0%", "10.0%"]
    assert figure.layout.xaxis.range[1] > 0.4


@pytest.mark.parametrize(
    ("item", "want"),
    [
        (SUB_GOAL, ["★ <b>Check policy</b>", "in 41 of 96 runs"]),
        (replace(SUB_GOAL, critical=False), ["<b>Check policy</b>", "in 41 of 96 runs"]),
        (
            replace(SUB_GOAL, required=50),
            ["★ <b>Check policy</b>", "in 41 of 50 runs that require it (96 in all)"],
        ),
        (DECISION, ["guess → <b>read</b>", "in 41 of 96 runs · step policy"]),
        (replace(DECISION, context=None), ["guess → <b>read</b>", "in 41 of 96 runs · context 01234567"]),
    ],
)
def test_a_row_names_the_item_and_the_runs_in_which_it_happens(item: FixFirst, want: list[str]) -> None:
    (words,) = row_words(figures.fix_first_bars([item]))
    first, second = words.split("<br>")
    assert first == want[0]
    assert f">{want[1]}<" in second


def test_two_units_of_completion_are_distinguished() -> None:
    whole = replace(SUB_GOAL, unit="completion", digest="d2")
    critical, other = row_words(figures.fix_first_bars([SUB_GOAL, whole]))
    assert "of all sub-goals" in other
    assert "of all sub-goals" not in critical
    (alone,) = row_words(figures.fix_first_bars([whole]))
    assert "of all sub-goals" not in alone


def test_an_axis_says_what_kind_of_gain_it_is() -> None:
    assert "at most" in figures.fix_first_bars([SUB_GOAL]).layout.xaxis.title.text
    assert "association" in figures.fix_first_bars([DECISION]).layout.xaxis.title.text


def test_the_chosen_item_is_highlighted_and_only_the_first_are_drawn() -> None:
    many = [replace(SUB_GOAL, digest=f"d{i}") for i in range(ITEMS_SHOWN + 3)]
    figure = figures.fix_first_bars(many, marked="d2")
    assert len(figure.data[0].x) == ITEMS_SHOWN
    (band,) = figure.layout.shapes
    assert band.y0 < 2 < band.y1 == pytest.approx(band.y0 + 1)


def test_without_items_there_are_words() -> None:
    assert "Nothing" in figures.fix_first_bars([]).layout.annotations[0].text


@pytest.mark.parametrize("dark", [False, True])
def test_hostile_names_stay_words(dark: bool) -> None:
    sub_goal = replace(SUB_GOAL, title=HOSTILE, reason=HOSTILE)
    decision = replace(DECISION, selected=HOSTILE, alternative=HOSTILE, context=HOSTILE, reason=HOSTILE)
    for item in (sub_goal, decision):
        drawn = json.loads(figures.fix_first_bars([item], dark=dark).to_json())
        words = json.dumps([drawn["data"][0]["hovertext"], drawn["data"][-1]["text"]])
        assert "onclick" in words
        assert "<b onclick" not in words
        assert "<a " not in words
        assert "</script" not in words
        assert "$" not in words
