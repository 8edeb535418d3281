"""Parts that many figures are made of: rows with names, intervals, cells, words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from typing import Any
from unicodedata import east_asian_width

import plotly.graph_objects as go

from untaken.errors import Score, number

from ..shared import text
from ..shared.palette import Tokens

Estimate = tuple[float, Score | None, Score | None, Score | None, str]
"""Its place, its value, both ends of its interval, and what hovering adds."""


def width(words: str, size: int) -> int:
    """About how many pixels a line takes: plotly makes no room for words inside a figure."""

    def em(char: str) -> float:
        if east_asian_width(char) in "WF":
            return 1.05
        return 0.85 if char.isupper() or char in "<>=~+%@mw" else 0.62

    return round(size * sum(map(em, unescape(words))))


def point_trace(**drawn: Any) -> go.Scatter:
    """Marks, or whatever `mode` says; a pointer meets those that say something (`hovertext`)."""
    return go.Scatter({"mode": "markers", "hoverinfo": "text" if "hovertext" in drawn else "skip"} | drawn)


def line_trace(**drawn: Any) -> go.Scatter:
    """Lines, as `point_trace`."""
    return point_trace(mode="lines", **drawn)


def text_trace(**drawn: Any) -> go.Scatter:
    """Words in places, as `point_trace`."""
    return point_trace(mode="text", **drawn)


def mark(symbol: Any, size: float, fill: Any, edge: Any, width: float = 2) -> dict[str, Any]:
    """The look of marks with an edge."""
    return {"symbol": symbol, "size": size, "color": fill, "line": {"color": edge, "width": width}}


def row_names(
    figure: go.Figure, names: Sequence[str], *, room: float = 0.5, look: Tokens | None = None, size: int = 12
) -> None:
    """Name the rows, the first on top; `room` is above the first one and below the last, in rows."""
    font = None if look is None else {"color": look.text, "size": size}
    ends = [round(len(names) - 1 + room, 2), -room]
    places = list(range(len(names)))
    figure.update_yaxes(tickvals=places, ticktext=names, range=ends, showgrid=False, tickfont=font)


def part_name(part: str, name: str) -> str:
    """A part of an estimate: all, an agent, a sub-goal."""
    return "all" if part == "all" else text.figure(text.short(name, 32))


def in_points(*shares: Score | None) -> list[float | None]:
    """Differences of shares in percentage points, as axes have them."""
    return [None if value is None else 100 * value for value in map(number, shares)]


def intervals(
    bars: Iterable[tuple[float, Score | None, Score | None]], line: Mapping[str, Any], **more: Any
) -> go.Scatter:
    """Lines across rows, each from (row, low, high); where an end is unknown, there is none."""
    ends = [(at, number(low), number(high)) for at, low, high in bars]
    known = [(at, low, high) for at, low, high in ends if low is not None and high is not None]
    return go.Scatter(
        # None lifts the pen: one trace has all lines.
        x=[x for _, low, high in known for x in (low, high, None)],
        y=[y for place, _, _ in known for y in (place, place, None)],
        mode="lines",
        line=line,
        hoverinfo="skip",
        **more,
    )


def error_bars(
    values: Iterable[tuple[Score | None, Score | None, Score | None]], colour: str
) -> dict[str, Any]:
    """Bars from (value, low, high); an end that is unknown has none."""
    known = [(number(value) or 0.0, number(low), number(high)) for value, low, high in values]
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else max(0.0, high - value) for value, _, high in known],
        "arrayminus": [0 if low is None else max(0.0, value - low) for value, low, _ in known],
        "color": colour,
        "thickness": 1.5,
        "width": 4,
    }


def estimates(
    rows: Iterable[Estimate], name: str, symbol: str, colour: str, *, hover: str = "", bars: bool = True
) -> go.Scatter:
    """One kind of estimates, a mark in each row where it is known; `hover` says how the value is written."""
    known = [(at, number(value), low, high, words) for at, value, low, high, words in rows]
    known = [row for row in known if row[1] is not None]
    return go.Scatter(
        x=[value for _, value, *_ in known],
        y=[at for at, *_ in known],
        error_x=error_bars([row[1:4] for row in known], colour) if bars else None,
        mode="markers",
        name=name,
        marker={"symbol": symbol, "size": 10, "color": colour},
        customdata=[words for *_, words in known],
        hovertemplate=f"{hover or f'{name} %{{x:.3f}}<br>%{{customdata}}'}<extra></extra>",
    )


def least_end(values: Iterable[Score | None]) -> float:
    """Where an axis up to 1 begins: at 0, or below the least value."""
    return min([0.0, *(end for end in map(number, values) if end is not None)]) - 0.03


def legend_above(figure: go.Figure, **more: Any) -> go.Figure:
    """Show plotly's legend, above what is drawn."""
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0} | more
    return figure.update_layout(showlegend=True, legend=legend)


def cell(x: float, y: float, size: tuple[float, float], fill: str, line: Mapping[str, Any]) -> dict[str, Any]:
    """A box around a place, `size` from its middle to its sides."""
    (wide, high), ends = size, {"fillcolor": fill, "line": line, "layer": "below"}
    return {"type": "rect", "x0": x - wide, "x1": x + wide, "y0": y - high, "y1": y + high, **ends}


def cell_words(x: float, y: float, words: str, colour: str, *, size: int = 12) -> dict[str, Any]:
    """Words in a cell that leave clicks to the cell."""
    font = {"size": size, "color": colour}
    return {"x": x, "y": y, "text": words, "showarrow": False, "font": font, "captureevents": False}


def handles(cells: Sequence[tuple[float, float, str, str]], size: int) -> go.Scatter:
    """What a pointer meets in cells, invisible: a click gives the third value, hovering shows the fourth."""
    # Plotly fades what is not selected, and would show it by that.
    hidden = {"marker": {"opacity": 0}}
    return go.Scatter(
        x=[x for x, *_ in cells],
        y=[y for _, y, *_ in cells],
        mode="markers",
        marker={"size": size, "symbol": "square", "opacity": 0},
        customdata=[[carried] for _, _, carried, _ in cells],
        hovertext=[words for *_, words in cells],
        hoverinfo="text",
        selected=hidden,
        unselected=hidden,
    )


def caption(figure: go.Figure, words: str, x: float, y: float, look: Tokens, **more: Any) -> None:
    """Quiet words at a place of the frame, from 0 to 1."""
    words_at(figure, words, x, y, look.muted, **{"xref": "paper", "yref": "paper"} | more)


def words_at(
    figure: go.Figure, words: str, x: Any, y: Any, colour: str, *, size: int = 12, **more: Any
) -> None:
    """Words at a place of the axes."""
    font = {"color": colour, "size": size}
    figure.add_annotation(text=words, x=x, y=y, showarrow=False, **{"font": font} | more)


def side_words(figure: go.Figure, sides: Iterable[tuple[float, str]], look: Tokens) -> None:
    """What the sides of 0 mean, above an axis: the left one is good, the right one bad."""
    for x, words in sides:
        side = "left" if x < 0 else "right" if x > 0 else "center"
        colour = look.good if x < 0 else look.bad if x > 0 else look.muted
        words_at(
            figure, words, x, 1, colour, yref="paper", xanchor=side, yanchor="bottom", yshift=2, align=side
        )


def column_names(
    figure: go.Figure, names: Sequence[str], *, room: float = 0.5, look: Tokens, size: int = 12, **more: Any
) -> None:
    """Name the columns, above them; `room` is before the first one and after the last, in columns."""
    font, ends = {"color": look.text, "size": size}, [-room, len(names) - 1 + room]
    named = {"tickvals": list(range(len(names))), "ticktext": names, "range": ends, "tickfont": font}
    figure.update_xaxes(named, side="top", **{"showgrid": False} | more)
