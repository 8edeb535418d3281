"""Figures that set agents against each other: every pair, one pair, and what drives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from untaken.analysis import Comparison, PairedDifference, SubGoalGap
from untaken.errors import number
from untaken.numbers import chance, counted, interval, p_value, points

from ..rankings.words import SIGNS, fill_of
from ..shared import text
from ..shared.palette import Tokens, tokens
from .parts import (
    caption,
    cell,
    cell_words,
    column_names,
    handles,
    in_points,
    intervals,
    line_trace,
    mark,
    point_trace,
    row_names,
)
from .theme import message, themed

MOST_AGENTS: Final = 12
MOST_GAPS: Final = 12


def pair_matrix(compared: Comparison, *, marked: str | None = None, dark: bool = False) -> go.Figure:
    """Every pair of agents: difference with interval above the diagonal, P(above) and Holm's p below it.

    A cell above the diagonal reads: the agent of the row minus that of the column, in percentage points. Its
    sign says what its colour says. Each cell carries the pair's digest.
    """
    agents = compared.agents[:MOST_AGENTS]
    if len(agents) < 2:
        return message("Comparing takes two agents or more", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    cells: list[tuple[int, int, str, str]] = []
    shapes: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    for row, one in enumerate(agents):
        for column, other in enumerate(agents[row + 1 :], start=row + 1):
            pair = compared.pair(one, other)
            if pair is None:
                continue
            for x, y in ((column, row), (row, column)):
                fill = fill_of(pair, look) if x > y else look.background
                shapes.append(cell(x, y, (0.49, 0.45), fill, _border(pair, pair.digest == marked, look)))
                cells.append((x, y, pair.digest, _pair_hover(pair)))
            words.append(cell_words(column, row, _difference_words(pair), look.text))
            words.append(cell_words(row, column, _chance_words(pair), look.text))
    figure.layout.shapes, figure.layout.annotations = shapes, words
    figure.add_trace(handles(cells, 46))
    _frame(figure, agents, look, dark=dark)
    if len(compared.agents) > len(agents):
        cut = f"The first {len(agents)} of {len(compared.agents)} agents"
        caption(figure, cut, 1, 0, look, yshift=-6, yanchor="top")
    return figure


def _border(pair: PairedDifference, marked: bool, look: Tokens) -> dict[str, Any]:
    if marked:
        return {"color": look.text, "width": 3, "dash": "solid"}
    unclear = pair.direction in ("level", "unknown")
    return {"color": look.line, "width": 1, "dash": "dot" if unclear else "solid"}


def _difference_words(pair: PairedDifference) -> str:
    sign = SIGNS[pair.direction]
    if number(pair.low) is None:
        return f"{sign} {points(pair.difference)}"
    between = f'<span style="font-size:11px">{interval(pair.low, pair.high, points)}</span>'
    return f"<b>{sign} {points(pair.difference)}</b><br>{between}"


def _chance_words(pair: PairedDifference) -> str:
    if number(pair.p_above) is None:
        return SIGNS["unknown"]
    return f"{chance(pair.p_above)}<br>{p_value(pair.p_holm, 'p')}"


def _pair_hover(pair: PairedDifference) -> str:
    names = f"{text.figure(pair.first, 40)} − {text.figure(pair.second, 40)}"
    return (
        f"{names}: {points(pair.difference)} points, 95% {interval(pair.low, pair.high, points)}"
        f"<br>{p_value(pair.p, 'p')}, {p_value(pair.p_holm, 'Holm')} of {pair.family} pairs"
        f"<br>P(above) {chance(pair.p_above)}; detectable {points(pair.mde, sign=False)} points"
        f"<br>{pair.n_tasks} tasks, {pair.n_runs} runs"
    )


def _frame(figure: go.Figure, agents: Sequence[str], look: Tokens, *, dark: bool) -> None:
    row = 54 if len(agents) <= 8 else 44
    themed(figure, dark=dark, height=78 + row * len(agents), margin=(8, 8, 54, 20))
    heads = [text.folded(agent, width=13, lines=2) for agent in agents]
    column_names(figure, heads, room=0.55, look=look)
    names = [text.short(agent, 22) for agent in agents]
    row_names(figure, [text.figure(name) for name in names], room=0.55, look=look)
    least = 16 + 7 * max(map(len, names)) + 92 * len(agents)
    figure.update_layout(meta={"least_width": least}, clickmode="event+select")


def difference_bar(pair: PairedDifference, *, dark: bool = False) -> go.Figure:
    """One difference with its interval against 0, and the band in which it could hardly have been found."""
    low, middle, high, found = in_points(pair.low, pair.difference, pair.high, pair.mde)
    if low is None or middle is None or high is None:
        return message("No interval: it takes two tasks that both ran", dark=dark, height=110)
    look, reach = tokens(dark), found or 0.0
    figure = go.Figure()
    figure.add_vrect(x0=-reach, x1=reach, fillcolor=look.band, line_width=0, layer="below")
    figure.add_vline(x=0, line={"color": look.line, "width": 1.5})
    colour = {"above": look.good, "below": look.bad}.get(pair.direction, look.muted)
    line = {"color": colour, "width": 4, "dash": "solid" if pair.clear_difference else "dot"}
    figure.add_trace(line_trace(x=[low, high], y=[0, 0], line=line))
    figure.add_trace(
        point_trace(
            x=[middle],
            y=[0],
            mode="markers+text",
            marker={"size": 14, "color": look.background, "line": {"color": colour, "width": 3}},
            text=[f"{SIGNS[pair.direction]} {points(pair.difference)}"],
            textposition="top center",
            textfont={"size": 14, "color": look.text},
            hovertext=[_pair_hover(pair)],
        )
    )
    # As far on both sides: 0 is in the middle, and the side says who is ahead.
    far = 1.15 * max(abs(low), abs(high), reach)
    themed(figure, dark=dark, height=132, margin=(8, 8, 24, 8))
    figure.update_xaxes(range=[-far, far], tickformat="+,~f", title_text="points, with 95% interval")
    figure.update_yaxes(visible=False, range=[-0.8, 1.2])
    first, second = (text.figure(text.short(name, 18)) for name in (pair.first, pair.second))
    caption(figure, f"◀ {second} higher", 0, 1, look, xanchor="left", yanchor="bottom")
    caption(figure, f"{first} higher ▶", 1, 1, look, xanchor="right", yanchor="bottom")
    return figure


def gap_bars(gaps: Sequence[SubGoalGap], *, dark: bool = False) -> go.Figure:
    """How much more often the first agent completed each sub-goal, with 95% interval; largest part first."""
    shown = [gap for gap in gaps if number(gap.difference) is not None][:MOST_GAPS]
    if not shown:
        return message("No sub-goal counts for both", dark=dark, height=110)
    look = tokens(dark)
    figure = go.Figure()
    figure.add_vline(x=0, line={"color": look.line, "width": 1.5})
    bars = [(place, *in_points(gap.low, gap.high)) for place, gap in enumerate(shown)]
    figure.add_trace(intervals(bars, {"color": look.muted, "width": 3}))
    figure.add_trace(
        point_trace(
            x=in_points(*(gap.difference for gap in shown)),
            y=list(range(len(shown))),
            # One task has no interval: its mark is a quiet one.
            marker=mark(
                "circle",
                11,
                look.background,
                [look.text if low is not None else look.line for _, low, _ in bars],
            ),
            hovertext=[_gap_hover(gap) for gap in shown],
        )
    )
    themed(figure, dark=dark, height=96 + 42 * len(shown))
    _gap_axes(figure, shown, look)
    return figure


def _gap_axes(figure: go.Figure, shown: Sequence[SubGoalGap], look: Tokens) -> None:
    spans = [in_points(gap.low, gap.difference, gap.high) for gap in shown]
    ends = [0.0, *(x for span in spans for x in span if x is not None)]
    room = 0.1 * (max(ends) - min(ends)) or 5  # where all of them are 0, too, the axis has a width
    sure = any(low is not None for low, _, _ in spans)
    figure.update_xaxes(
        tickformat="+,~f",
        title_text=f"points more often,<br>{'95% interval' if sure else 'one task each: no interval'}",
        range=[min(ends) - room, max(ends) + room],
        nticks=4,
    )
    titles = [gap.title or gap.sub_goal for gap in shown]
    names = [
        # With its plan, where another sub-goal has the same title.
        f"{text.figure(text.short(title, 26))}<br>{_gap_words(gap, look, named=titles.count(title) > 1)}"
        for title, gap in zip(titles, shown, strict=True)
    ]
    row_names(figure, names, look=look)
    figure.update_layout(meta={"least_width": 320})


def _gap_words(gap: SubGoalGap, look: Tokens, *, named: bool) -> str:
    plan = f"{text.figure(text.short(gap.graph, 14))} · " if named else ""
    share = f"{plan}{points(gap.contribution)} · {counted(gap.n_tasks, 'task')}"
    return f'<span style="color:{look.muted};font-size:11px">{share}</span>'


def _gap_hover(gap: SubGoalGap) -> str:
    return (
        f"{text.figure(gap.title or gap.sub_goal)} ({text.figure(gap.graph, 30)})"
        f"<br>{points(gap.difference)} points, 95% {interval(gap.low, gap.high, points)}"
        f"<br>{gap.n_tasks} tasks on which both count it"
        f"<br>{points(gap.contribution)} points of the whole difference"
    )
