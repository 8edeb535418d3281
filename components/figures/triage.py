"""What to fix first: failed runs at each place, or what a fix would gain there."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import plotly.graph_objects as go

from untaken.analysis import ITEMS_SHOWN, FixItem, Order
from untaken.errors import Score, number
from untaken.numbers import counted, points
from untaken.views import STAR

from ..shared import text
from ..shared.palette import Tokens, tokens
from .parts import in_points, intervals, text_trace
from .theme import message, themed

ROW: Final = 60
"""Pixels: two lines of words above a bar, so that a phone shows both."""
LINE: Final = 17
"""Pixels of the second line of a long title."""
BAR: Final = 16
"""Height of a bar, in pixels."""
GAP: Final = 3
"""Between words and bar, in pixels: an underscore does not touch it."""
CHARS: Final = 32
"""Of a line: a phone is no wider."""
BRIEF_CHARS: Final = 48
ADVISED: Final = "✓"


class _Measure(NamedTuple):
    """What bars measure."""

    value: Callable[[FixItem], Score]
    axis: str
    points: bool


MEASURES: Final[dict[Order, _Measure]] = {
    "failed": _Measure(lambda item: item.failed_runs, "failed runs that fail first here", False),
    "gain": _Measure(lambda item: item.gain, "points of success gained; 95% interval", True),
    "critical": _Measure(lambda item: item.critical_gain, "points of critical completion, at most", True),
}


def fix_first_bars(
    items: Sequence[FixItem], *, by: Order = "failed", marked: str | None = None, dark: bool = False
) -> go.Figure:
    """The first items, each with the failed runs that fail first there, or with what a fix would gain."""
    rows, look, measure = list(items[:ITEMS_SHOWN]), tokens(dark), MEASURES[by]
    if not rows:
        return message("Nothing to fix", dark=dark)
    figure = go.Figure()
    row = ROW + LINE * any(len(item.title) > CHARS for item in rows)
    bar = BAR / row
    for y, item in enumerate(rows):
        if item.digest == marked:
            figure.add_hrect(y0=y + bar - 1, y1=y + bar, fillcolor=look.band, line_width=0, layer="below")
    scale = 100 if measure.points else 1
    values = [scale * (number(measure.value(item)) or 0.0) for item in rows]
    figure.add_trace(_bars(rows, values, bar, look))
    spans = [in_points(item.low, item.high) for item in rows] if by == "gain" else []
    ends = [(at, *span) for at, span in enumerate(spans)]
    figure.add_trace(intervals(ends, {"color": look.text, "width": 2}))
    # A number is written beyond its interval.
    tops = [high or 0.0 for _, high in spans] or values
    highest = list(map(max, values, tops))
    figure.add_trace(_numbers(rows, measure, highest, look))
    figure.add_trace(_names(rows, by, row, look))
    themed(figure, dark=dark, height=64 + row * len(rows), margin=(8, 8, 8, 8))
    figure.update_xaxes(
        range=[0, (max(highest) or 1.0) * 1.28],
        title_text=measure.axis,
        tickformat=",~f",
        nticks=5,
        dtick=1 if not measure.points and max(highest) < 5 else None,  # no 0.5 of a run
    )
    figure.update_yaxes(range=[len(rows) - 1 + bar, bar - 1], visible=False)
    figure.update_layout(meta={"least_width": 320})
    return figure


def _bars(rows: Sequence[FixItem], values: Sequence[float], bar: float, look: Tokens) -> go.Bar:
    return go.Bar(
        x=list(values),
        y=list(range(len(rows))),
        orientation="h",
        width=bar,
        marker={"color": look.fill, "line": {"color": look.good, "width": 1.5}},
        unselected={"marker": {"opacity": 1}},
        customdata=[[item.digest] for item in rows],  # what a click gives
        hovertext=[_hover(item) for item in rows],
        hoverinfo="text",
    )


def _numbers(
    rows: Sequence[FixItem], measure: _Measure, highest: Sequence[float], look: Tokens
) -> go.Scatter:
    return text_trace(
        x=list(highest),
        y=list(range(len(rows))),
        text=[f" {_number(measure, item)}" for item in rows],
        textposition="middle right",
        textfont={"size": 13, "color": look.text},
        cliponaxis=False,
    )


def _number(measure: _Measure, item: FixItem) -> str:
    value = number(measure.value(item))
    if value is None:
        return "unknown"
    return points(value, sign=False) if measure.points else f"{round(value):,}"


def _names(rows: Sequence[FixItem], by: Order, row: int, look: Tokens) -> go.Scatter:
    return text_trace(
        x=[0] * len(rows),
        y=[y - (BAR / 2 + GAP) / row for y in range(len(rows))],
        text=[_row_words(item, by, look) for item in rows],
        textposition="top right",
        textfont={"size": 13, "color": look.text},
        cliponaxis=False,
    )


def _row_words(item: FixItem, by: Order, look: Tokens) -> str:
    marks = f"{ADVISED} " * item.recommended + f"{STAR} " * item.critical
    name = f"{marks}<b>{text.folded(item.title, width=CHARS, lines=2)}</b>"
    # The cause is that of failed runs: others that missed it need not share it.
    missed = f"not completed in {counted(item.missed, 'run')}" if by == "critical" and item.missed else ""
    brief = text.figure(missed or item.brief, BRIEF_CHARS)
    return f'{name}<br><span style="color:{look.muted};font-size:12px">{brief}</span>'


def _hover(item: FixItem) -> str:
    low, high, gain = number(item.low), number(item.high), number(item.gain)
    lines = [f"{counted(item.failed_runs, 'failed run', 'fail')} first here"]
    if gain is not None and low is not None and high is not None:
        span = f"{points(low, sign=False)} to {points(high, sign=False)}"
        lines.append(f"gain in success: {points(gain, sign=False)} points ({span})")
    lines += [text.figure(line, 90) for line in textwrap.wrap(text.one_line(item.reason, 320), 80)]
    return "<br>".join(lines)
