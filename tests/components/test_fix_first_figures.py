"""The figure of what to fix first says what the list says."""

from __future__ import annotations

import json
from dataclasses import replace

import plotly.graph_objects as go
import pytest
from drawn import HOSTILE, note

from components import figures
from untaken.analysis.fix_first import ITEMS_SHOWN, FixItem
from untaken.analysis.fix_first.findings import Order
from untaken.errors import Unscored
from untaken.scoring.causes import Cause

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
