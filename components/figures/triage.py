"""What to fix first: expected gains with their intervals, one kind a figure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from untaken.fix_first import ITEMS_SHOWN, FailurePattern, FixFirst, Kind
from untaken.present.contexts import context_words
from untaken.present.numbers import percent, signed
from untaken.present.statuses import STAR

from ..shared import text
from ..shared.palette import Tokens, tokens
from .parts import intervals, text_trace
from .theme import message, themed

ROW: Final = 60
"""Pixels: two lines of words above a bar, so that a phone shows both."""
BAR: Final = 0.26
"""Height of a bar, in rows."""
CHARS: Final = 44
AXIS: Final[dict[Kind, str]] = {
    "sub_goal": "gain in completion, at most; 95% interval",
    "decision": "gain in score, by association; 95% interval",
}


def fix_first_bars(items: Sequence[FixFirst], *, marked: str | None = None, dark: bool = False) -> go.Figure:
    """Expected gain of each item, with its 95% interval and the runs in which it happens.

    Each bar carries the item's digest.
    """
    rows, look = list(items[:ITEMS_SHOWN]), tokens(dark)
    if not rows:
        return message("Nothing of this kind to fix", dark=dark)
    figure = go.Figure()
    for y, item in enumerate(rows):
        if item.digest == marked:
            figure.add_hrect(y0=y + BAR - 1, y1=y + BAR, fillcolor=look.band, line_width=0, layer="below")
    figure.add_trace(_bars(rows, look))
    bars = [(place, item.low, item.high) for place, item in enumerate(rows)]
    figure.add_trace(intervals(bars, {"color": look.text, "width": 2}))
    figure.add_trace(_numbers(rows, look))
    figure.add_trace(_names(rows, look))
    themed(figure, dark=dark, height=64 + ROW * len(rows), margin=(8, 8, 8, 8))
    figure.update_xaxes(
        range=[0, max(item.high for item in rows) * 1.28],
        title_text=AXIS[rows[0].kind],
        tickformat=".0%" if rows[0].kind == "sub_goal" else "+.2f",
        nticks=5,
    )
    figure.update_yaxes(range=[len(rows) - 1 + BAR, BAR - 1], visible=False)
    figure.update_layout(meta={"least_width": 320})
    return figure


def runs_words(item: FixFirst) -> str:
    """The number of runs in which it happens, of those in which it could."""
    n = item.often.n if item.kind == "decision" else item.required
    which = "" if n == item.often.n else f" that require it ({item.often.n:,} in all)"
    return f"in {item.often.count:,} of {n:,} runs{which}"


def gain_words(item: FixFirst, value: float) -> str:
    """A gain in the item's own unit: percent of completion, or a difference of scores."""
    return signed(value, 3) if item.kind == "decision" else percent(value, 1)


def _bars(rows: Sequence[FixFirst], look: Tokens) -> go.Bar:
    return go.Bar(
        x=[item.gain for item in rows],
        y=list(range(len(rows))),
        orientation="h",
        width=BAR,
        marker={"color": look.fill, "line": {"color": look.good, "width": 1.5}},
        unselected={"marker": {"opacity": 1}},
        customdata=[[item.digest] for item in rows],
        hovertext=[_hover(item) for item in rows],
        hoverinfo="text",
    )


def _numbers(rows: Sequence[FixFirst], look: Tokens) -> go.Scatter:
    return text_trace(
        x=[max(item.gain, item.high) for item in rows],
        y=list(range(len(rows))),
        text=[f" {gain_words(item, item.gain)}" for item in rows],
        textposition="middle right",
        textfont={"size": 13, "color": look.text},
        cliponaxis=False,
    )


def _names(rows: Sequence[FixFirst], look: Tokens) -> go.Scatter:
    mixed = len({item.unit for item in rows}) > 1
    return text_trace(
        x=[0] * len(rows),
        y=[y - BAR / 2 for y in range(len(rows))],
        text=[_row_words(item, mixed, look) for item in rows],
        textposition="top right",
        textfont={"size": 13, "color": look.text},
        cliponaxis=False,
    )


def _row_words(item: FixFirst, mixed: bool, look: Tokens) -> str:
    where = runs_words(item)
    if item.kind == "decision":
        name = f"{text.figure(item.selected, 18)} → <b>{text.figure(item.alternative, 18)}</b>"
        context = context_words(item.context, item.context_hash or "")
        where = f"{where} · {text.figure(context, 26)}"
    else:
        title = item.title
        if isinstance(item, FailurePattern):  # its title ends with the way, which would be cut
            title, where = item.subject, f"{where} · {item.way}"
        name = f"{STAR} " * bool(item.critical) + f"<b>{text.figure(title, CHARS)}</b>"
        where += " · of all sub-goals" if mixed and item.unit == "completion" else ""
    return f'{name}<br><span style="color:{look.muted};font-size:12px">{where}</span>'


def _hover(item: FixFirst) -> str:
    low, high = gain_words(item, item.low), gain_words(item, item.high)
    lines = [
        f"{gain_words(item, item.gain)} ({low} to {high}) in {item.unit}",
        f"= {percent(item.often.share, 1)} of runs × {gain_words(item, item.much)}",
        *(text.figure(line, 90) for line in textwrap.wrap(text.one_line(item.reason, 320), 80)),
    ]
    return "<br>".join(lines)
