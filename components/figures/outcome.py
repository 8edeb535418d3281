"""Figures of the outcome beside what it hides: against a sub-goal metric, and over repeated trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from untaken.analysis import PassK, QuadrantPoint, RankedAgent
from untaken.errors import number
from untaken.numbers import interval, percent

from ..rankings.words import metric_words
from ..shared import text
from ..shared.palette import Tokens, tokens
from .agents import markers
from .parts import caption, line_trace, mark, point_trace, words_at
from .theme import message, themed

LEAST_APART: Final = 0.065
"""Least distance between two names at the ends of lines; the axis is 1 high."""
NAME_WIDTH: Final = 0.017
"""Width of one letter, as a share of the figure's width."""
CORNERS: Final = (
    (0.99, 0.99, "right", "top", "both high"),
    (0.01, 0.99, "left", "top", "the outcome hides it"),
    (0.99, 0.01, "right", "bottom", "the outcome flatters it"),
    (0.01, 0.01, "left", "bottom", "both low"),
)


def outcome_scatter(
    placed: Sequence[QuadrantPoint],
    outcome: Sequence[RankedAgent],
    by_metric: Sequence[RankedAgent],
    *,
    dark: bool = False,
) -> go.Figure:
    """Outcome against a sub-goal metric, a mark per agent with both 95% intervals, split at the means."""
    if not placed:
        return message("No agent has a value under both metrics", dark=dark)
    look, figure = tokens(dark), go.Figure()
    spans = [{s.agent: s for s in standings} for standings in (outcome, by_metric)]
    symbols = markers([one.agent for one in placed])
    ends: list[list[float]] = [[], []]
    for one in placed:
        across, up = (_ends(side[one.agent]) for side in spans)
        ends[0] += [one.outcome, *across]
        ends[1] += [one.value, *up]
        xs = [*across, None, *([one.outcome] * len(up))]  # None lifts the pen: one trace has both lines
        ys = [*([one.value] * len(across)), None, *up]
        figure.add_trace(line_trace(x=xs, y=ys, line={"color": look.line, "width": 1.5}, opacity=0.75))
    x_range, y_range = (_padded(values) for values in ends)
    x_range[1] += 0.2 * (x_range[1] - x_range[0])  # for the name of the best agent
    sides = _label_sides(placed, x_range, y_range)
    for one, side in zip(placed, sides, strict=True):
        figure.add_trace(_spot(one, symbols[one.agent], side, look))
    line = {"color": look.line, "width": 1.25, "dash": "dash"}
    figure.add_vline(x=placed[0].outcome_centre, line=line)
    figure.add_hline(y=placed[0].metric_centre, line=line)
    for x, y, across_at, up_at, words in CORNERS:
        caption(figure, words, x, y, look, xanchor=across_at, yanchor=up_at)
    themed(figure, dark=dark, height=430)
    figure.update_xaxes(
        range=x_range,
        tickvals=_shares(x_range),
        tickformat=".0%",
        title_text=f"{metric_words('success_rate')} (dashed: means of the agents)",
    )
    figure.update_yaxes(
        range=y_range, tickvals=_shares(y_range), tickformat=".0%", title_text=metric_words(placed[0].metric)
    )
    figure.update_layout(meta={"least_width": 480})
    return figure


def _ends(ranked: RankedAgent) -> list[float]:
    low, high = number(ranked.low), number(ranked.high)
    return [] if low is None or high is None else [low, high]


def _padded(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    room = max(0.06 * (high - low), 0.03)
    return [low - room, high + room]


def _shares(reach: Sequence[float]) -> list[float]:
    """Where an axis of shares is marked: never beyond 0 and 1, though it may reach further for the names."""
    step = next(step for step in (2, 5, 10, 20) if (reach[1] - reach[0]) * 100 / step <= 8)
    return [percent / 100 for percent in range(0, 101, step) if reach[0] <= percent / 100 <= reach[1]]


def _label_sides(
    placed: Sequence[QuadrantPoint], x_range: Sequence[float], y_range: Sequence[float]
) -> list[str]:
    """Position of each name next to its mark: the first that meets no other name and no edge."""
    wide, high = x_range[1] - x_range[0], y_range[1] - y_range[0]
    spots = [((one.outcome - x_range[0]) / wide, (one.value - y_range[0]) / high) for one in placed]
    occupied = [(x - 0.015, y, 0.03) for x, y in spots]  # a name does not cover a mark either
    sides = []
    for one, (x, y) in zip(placed, spots, strict=True):
        length = NAME_WIDTH * min(len(one.agent), 22)
        boxes = {
            f"{up} {across}": (x + 0.02 if across == "right" else x - 0.02 - length, y + lift, length)
            for across in ("right", "left")
            for up, lift in (("top", 0.045), ("bottom", -0.045))
        }
        free = [side for side, box in boxes.items() if _fits(box, occupied)]
        # Where no side is free, a covered name is better than none.
        sides.append(free[0] if free else next(iter(boxes)))
        occupied.append(boxes[sides[-1]])
    return sides


def _fits(box: tuple[float, float, float], occupied: Sequence[tuple[float, float, float]]) -> bool:
    """Whether a name of (left end, height, length), in shares of the figure, is in it and meets no other."""
    left, height, length = box
    inside = left >= 0 and left + length <= 1 and 0.02 <= height <= 0.98
    return inside and not any(
        abs(height - other) < 0.04 and left < begin + reach and begin < left + length
        for begin, other, reach in occupied
    )


def _spot(one: QuadrantPoint, symbol: str, side: str, look: Tokens) -> go.Scatter:
    odd = one.quadrant in ("outcome_flatters", "outcome_hides")
    return point_trace(
        x=[one.outcome],
        y=[one.value],
        mode="markers+text",
        marker=mark(symbol, 14, look.warm, look.bad, 2.5)
        if odd
        else mark(symbol, 14, look.background, look.text),
        text=[text.figure(text.short(one.agent, 22))],
        textposition=side,
        textfont={"size": 13, "color": look.text},
        hovertext=[
            f"{text.figure(one.agent)}: {percent(one.outcome)} succeeded"
            f"<br>{percent(one.value)} {metric_words(one.metric)}<br>{one.quadrant.replace('_', ' ')}"
        ],
        cliponaxis=False,
    )


def pass_k_lines(curves: Sequence[PassK], *, dark: bool = False) -> go.Figure:
    """The chance that k trials of a task all succeed, by k, with 95% intervals; one line per agent."""
    by_agent: dict[str, list[PassK]] = {}
    for one in curves:
        by_agent.setdefault(one.agent, []).append(one)
    if not by_agent or max(one.k for one in curves) < 2:
        return message("No task was tried twice,<br>so only pass^1, the success rate, is known", dark=dark)
    look, symbols, figure = tokens(dark), markers(list(by_agent)), go.Figure()
    for place, (agent, some) in enumerate(by_agent.items()):
        # Moved a little aside: intervals of agents would lie on each other.
        _curve(figure, some, symbols[agent], 0.02 * (place - len(by_agent) / 2), look)
    _name_ends(figure, [some[-1] for some in by_agent.values()], look)
    most = max(one.k for one in curves)
    themed(figure, dark=dark, height=340, margin=(8, 150, 12, 8))
    figure.update_xaxes(
        tickvals=list(range(1, most + 1)), range=[0.8, most + 0.2], title_text="k trials of a task"
    )
    figure.update_yaxes(range=[-0.02, 1.04], tickformat=".0%", title_text="all k succeed")
    figure.update_layout(meta={"least_width": 460})
    return figure


def _curve(figure: go.Figure, some: Sequence[PassK], symbol: str, shift: float, look: Tokens) -> None:
    xs = [one.k + shift for one in some]
    values = [number(one.value) for one in some]
    for x, one in zip(xs, some, strict=True):
        low, high = number(one.low), number(one.high)
        if low is not None and high is not None:
            line = {"color": look.line, "width": 1.25}
            figure.add_trace(line_trace(x=[x, x], y=[low, high], line=line, opacity=0.7))
    figure.add_trace(
        point_trace(
            x=xs,
            y=values,
            mode="lines+markers",
            line={"color": look.muted, "width": 1.75},
            marker=mark(symbol, 11, look.background, look.text),
            hovertext=[_pass_hover(one) for one in some],
        )
    )


def _name_ends(figure: go.Figure, ends: Sequence[PassK], look: Tokens) -> None:
    """The name at the end of each line; those that end close together are moved apart."""
    last: dict[int, float] = {}
    # From the lowest up: each moves up only as far as the one below it asks.
    for one in sorted(ends, key=lambda end: number(end.value) or 0.0):
        y = max(number(one.value) or 0.0, last.get(one.k, -1.0) + LEAST_APART)
        last[one.k] = y
        name = text.figure(text.short(one.agent, 20))
        words_at(figure, name, one.k, y, look.text, xanchor="left", xshift=12)


def _pass_hover(one: PassK) -> str:
    name = f"{text.figure(one.agent)}: pass^{one.k} {percent(one.value)}"
    span = f"95% {interval(one.low, one.high, percent)}"
    return f"{name}, {span}<br>{one.n_runs} trials of {one.n_tasks} tasks"
