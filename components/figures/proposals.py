"""Figures of criteria: two agents side by side, and how many different criteria some seeds give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from untaken.errors import Unscored
from untaken.judging import CriterionDifference, UniqueCount
from untaken.numbers import decimal, interval, percent

from ..shared import text
from ..shared.palette import MARKERS, tokens
from .parts import error_bars, intervals, legend_above, mark, point_trace, row_names, words_at
from .theme import message, themed

WAYS: Final = {"task": "from the task", "solution": "from the task and two runs"}
DASHES: Final = ("solid", "dash", "dot", "dashdot")
LEGEND: Final = {"y": 1, "xanchor": "left", "font": {"size": 12}}
APART: Final = 0.17
"""Distance between the two agents, as a share of a row."""


def agents_by_criterion(
    found: Sequence[CriterionDifference], first: str, second: str, *, dark: bool = False
) -> go.Figure:
    """Mean of two agents by each criterion as a share of its scale, with 95% intervals."""
    if not found:
        return message("No task has values of both agents", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    for own, name, colour in ((True, first, look.good), (False, second, look.bad)):
        marks = [_mark(one, place, own=own) for place, one in enumerate(found)]
        bars = [(at, low, high) for at, _, low, high in marks]
        figure.add_trace(intervals(bars, {"color": colour, "width": 3}, opacity=0.6, showlegend=False))
        points = _points(marks, name, found)
        points.marker = mark(MARKERS[0 if own else 1], 11, colour, look.background, 1.5)
        figure.add_trace(points)
    themed(figure, dark=dark, height=96 + 46 * len(found), margin=(8, 96, 34, 44))
    for place, one in enumerate(found):
        sign, colour = ("≠", look.text) if one.clear_difference else ("≈", look.muted)
        words_at(
            figure, f"{sign}  n = {one.tasks:,}", 1, place, colour, xref="paper", xanchor="left", xshift=10
        )
    figure.update_xaxes(
        range=[-0.03, 1.03], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%",
        title_text="mean, as a share of the scale<br>(0% worst, 100% best)",
    )  # fmt: skip
    row_names(figure, [text.figure(one.name, 26) for one in found], room=0.6, look=look)
    return legend_above(figure, **LEGEND)


Mark = tuple[float, float, float | None, float | None]
"""Its place, a mean and its interval as shares of the scale; of one task, the interval is ``None``."""


def _mark(one: CriterionDifference, place: int, *, own: bool) -> Mark:
    mean, *ends = (
        (one.first, one.first_low, one.first_high) if own else (one.second, one.second_low, one.second_high)
    )
    low, high = (None if isinstance(end, Unscored) else end / one.top for end in ends)
    return place - APART if own else place + APART, mean / one.top, low, high


def _points(marks: Sequence[Mark], name: str, found: Sequence[CriterionDifference]) -> go.Scatter:
    words = [
        f"{text.figure(name)} by {text.figure(one.name)}: {percent(mean)} of the scale"
        + (" (one task: no interval)" if low is None else f" (95% {interval(low, high, percent)})")
        + f"<br>over {one.tasks:,} common tasks, {one.runs:,} runs of both"
        for one, (_, mean, low, high) in zip(found, marks, strict=True)
    ]
    return point_trace(
        x=[mean for _, mean, *_ in marks],
        y=[at for at, *_ in marks],
        name=text.figure(text.short(name, 30)),
        hovertext=words,
        cliponaxis=False,
    )


def unique_criteria(counts: Sequence[UniqueCount], *, dark: bool = False) -> go.Figure:
    """How many different criteria some seeds give, by way of asking and threshold (fig. 4 of the paper)."""
    if not counts:
        return message("Nothing was proposed here yet", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    taus = sorted({one.tau for one in counts})
    for place, way in enumerate(dict.fromkeys(one.way for one in counts)):
        colour = look.good if place == 0 else look.bad
        for tau in taus:
            curve = [one for one in counts if (one.way, one.tau) == (way, tau)]
            figure.add_trace(_curve(curve, colour, DASHES[taus.index(tau) % len(DASHES)], MARKERS[place]))
    themed(figure, dark=dark, height=340, margin=(8, 24, 34, 44))
    # With few seeds, ticks would fall between them.
    figure.update_xaxes(title_text="seeds drawn", dtick=1 if max(one.of for one in counts) <= 12 else None)
    figure.update_yaxes(title_text="different criteria", rangemode="tozero", nticks=6)
    return legend_above(figure, **LEGEND)


def _curve(curve: Sequence[UniqueCount], colour: str, dash: str, symbol: str) -> go.Scatter:
    one = curve[0]
    words = f"{WAYS.get(one.way, text.figure(one.way))}, τ = {one.tau:g}"
    return point_trace(
        x=[point.seeds for point in curve],
        y=[point.mean for point in curve],
        error_y=error_bars([(point.mean, point.low, point.high) for point in curve], colour)
        | {"thickness": 1, "width": 3},
        mode="lines+markers",
        name=words,
        line={"color": colour, "dash": dash, "width": 2},
        marker={"symbol": symbol, "size": 7, "color": colour},
        hovertext=[
            f"{words}<br>{point.seeds} of {point.of} seeds: {decimal(point.mean, 1)} criteria "
            f"(95% of draws {point.low:g} to {point.high:g}, {point.draws} draws)"
            for point in curve
        ],
    )
