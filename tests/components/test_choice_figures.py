"""Figures of choices, of what to fix first and of memory: support, order, intervals and words."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest
from drawn import HOSTILE, filled, markup, note
from histories import moment, seen, weak
from msgspec.structs import replace

from components import figures
from components.shared.choice_words import SIDES
from components.shared.palette import DARK, LIGHT
from untaken.analysis.fix_first import ITEMS_SHOWN, FixItem
from untaken.analysis.fix_first.findings import Order
from untaken.counterfactual import Choice, Point, ScorePart, ScoreParts
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.errors import Unscored
from untaken.scoring.causes import Cause
from untaken.views import estimates_table, records_table

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


def a_choice(alternative: str = "b", advantage: float | None = 0.3, **given: Any) -> Choice:
    """A choice with an interval 0.2 to either side; without an advantage it is unknown."""
    values: dict[str, Any] = {
        "selected": "a", "alternative": alternative, "context_hash": "c0ffee00c0ffee",
        "support": "none", "support_reason": "in words", "parts": differing(advantage), "unknown": 1,
        "points": (Point("0" * 64, 3),), "agents": ("agent",), "tasks": ("task",), "level": 1, "levels": 1,
    }  # fmt: skip
    if advantage is not None:
        values |= {"advantage": advantage, "low": advantage - 0.2, "high": advantage + 0.2, "q": 0.01}
        values |= {"support": "supported" if abs(advantage) > 0.2 else "weak"}
        values |= {"direction": ("worse", "better")[advantage > 0] if abs(advantage) > 0.2 else None}
    return filled(Choice, **(values | given))


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


ITEM = FixItem(
    kind="sub_goal",
    way="never attempted",
    digest="d0",
    graph="desk",
    sub_goal="policy",
    title="Check policy",
    critical=True,
    failed_runs=41,
    share=0.5,
    gain=0.32,
    low=0.25,
    high=0.4,
    passed=90,
    passed_successes=80,
    critical_gain=0.1,
    runs=("a",),
    agents={"ann": 41},
)
CAUSE = Cause(kind="tool_error", tool="pay", error="closed", runs=("a", "b", "c"), n=3)


def row_words(figure: go.Figure) -> str:
    (words,) = figure.data[-1].text
    return str(words)


@pytest.mark.parametrize(
    ("by", "values", "words", "ends"),
    [
        ("failed", [41, 7], ["41", "7"], []),
        ("gain", [32, 10], ["32.0", "10.0"], [25, 40, None, 5, 20, None]),
        ("critical", [10, 10], ["10.0", "10.0"], []),
    ],
)
def test_a_bar_is_as_long_as_what_the_list_is_ordered_by(by, values, words, ends) -> None:
    other = replace(ITEM, digest="d2", failed_runs=7, gain=0.1, low=0.05, high=0.2)
    figure = figures.fix_first_bars([ITEM, other], by=by)
    bars, intervals, numbers, _ = figure.data
    assert list(bars.x) == values
    assert [carried[0] for carried in bars.customdata] == ["d0", "d2"]
    assert list(intervals.x) == ends
    assert [shown.strip() for shown in numbers.text] == words


@pytest.mark.parametrize(
    ("item", "by", "want"),
    [
        (ITEM, "failed", ["★ <b>Check policy</b>", "never attempted"]),
        (replace(ITEM, critical=False), "failed", ["<b>Check policy</b>", "never attempted"]),
        (replace(ITEM, recommended=True), "failed", ["✓ ★ <b>Check policy</b>", "never attempted"]),
        (replace(ITEM, cause=CAUSE), "failed", ["★ <b>Check policy</b>", "pay: “closed”"]),
        (replace(ITEM, way="stopped"), "failed", ["★ <b>Check policy</b>", "the run ended before it"]),
        (
            replace(ITEM, cause=CAUSE, missed=9),
            "critical",
            ["★ <b>Check policy</b>", "not completed in 9 runs"],
        ),
    ],
)
def test_a_row_names_the_item_and_what_is_wrong(item: FixItem, by: Order, want: list[str]) -> None:
    """In the order of critical completion: how many runs miss it, not why failed ones did."""
    first, second = row_words(figures.fix_first_bars([item], by=by)).split("<br>")
    assert first == want[0]
    assert f">{want[1]}<" in second


def test_a_gain_that_is_unknown_is_called_so() -> None:
    unknown = Unscored("no run succeeded")
    figure = figures.fix_first_bars([replace(ITEM, gain=unknown, low=unknown, high=unknown)], by="gain")
    assert [shown.strip() for shown in figure.data[2].text] == ["unknown"]


def test_only_the_first_items_are_drawn_the_chosen_one_marked_and_none_is_said() -> None:
    many = [replace(ITEM, digest=str(n)) for n in range(ITEMS_SHOWN + 3)]
    assert len(figures.fix_first_bars(many).data[0].x) == ITEMS_SHOWN
    assert "Nothing" in note(figures.fix_first_bars([]))
    assert len(figures.fix_first_bars([ITEM], marked="d0").layout.shapes) == 1
    assert not figures.fix_first_bars([ITEM], marked="other").layout.shapes


@pytest.mark.parametrize("dark", [False, True])
def test_hostile_names_stay_words(dark: bool) -> None:
    cause = replace(CAUSE, tool=HOSTILE, error=HOSTILE)
    item = replace(ITEM, title=HOSTILE, cause=cause)
    drawn = json.loads(figures.fix_first_bars([item], dark=dark).to_json())
    words = json.dumps([drawn["data"][0]["hovertext"], drawn["data"][-1]["text"]])
    assert "onclick" in words
    for bad in ("<b onclick", "<a ", "</script", "$"):
        assert bad not in words


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
