"""Figures that compare agents: where rankings cross, and which sub-goals each completes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from untaken.analysis import RankedAgent, RankReport, crossing_agents, unrankable
from untaken.errors import number
from untaken.numbers import interval, percent

from ..rankings.words import metric_words
from ..shared import text
from ..shared.palette import MARKERS, Tokens, tokens
from .parts import caption, column_names, line_trace, mark, point_trace, row_names, text_trace, words_at
from .theme import message, themed

if TYPE_CHECKING:
    import pandas as pd

MOST_PANELS: Final = 12
MOST_CHARS: Final = 20
"""Longest name drawn next to the rank flow; hovering a mark shows all of it."""


def markers(agents: Sequence[str]) -> dict[str, str]:
    """A marker for each agent, the same on every page that shows the same agents."""
    return {agent: MARKERS[number % len(MARKERS)] for number, agent in enumerate(sorted(agents))}


def rank_flow(report: RankReport, *, metrics: Sequence[str] | None = None, dark: bool = False) -> go.Figure:
    """Ranks of each agent from the outcome (left) to the sub-goal metrics: crossing lines are disagreement.

    Args:
        report: rankings over the tasks that all agents share.
        metrics: names in the order to show; default all, outcome first. One that ranks nobody is left out.
        dark: the theme.

    The thin upright line at a mark is the 95% interval of the rank. Where two agents change places between
    two neighbouring metrics, both lines there are drawn in the warning colour and thicker; the label at the
    end says by how many places an agent moved from first to last.
    """
    names = report.ranked_metrics(metrics)
    standings = {m: {s.agent: s for s in report.metrics[m]} for m in names}
    agents = sorted({a for m in names for a, s in standings[m].items() if s.rank is not None})
    if len(names) < 2 or not agents:
        return message("Rankings need two metrics and an agent with values under both", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    places: dict[str, dict[str, float]] = {}
    for before, metric in zip([None, *names], names, strict=False):
        places[metric] = _places(report.metrics[metric], places[before] if before else {})
    for column, (one, other) in enumerate(pairwise(names)):
        crossing = crossing_agents(standings[one], standings[other])
        # Those that cross come last, and are drawn over the others.
        for agent in sorted(agents, key=lambda a: a in crossing):
            ends = [places[one].get(agent), places[other].get(agent)]
            line = (
                {"color": look.bad, "width": 3} if agent in crossing else {"color": look.line, "width": 1.75}
            )
            figure.add_trace(line_trace(x=[column, column + 1], y=ends, line=line))
    symbol, spans = markers(agents), []
    for agent in agents:
        at = [places[m].get(agent) for m in names]
        words = [_rank_words(agent, m, standings[m].get(agent)) for m in names]
        ranks = [None if unrankable(report, m) else standings[m].get(agent) for m in names]
        spans += _spans(ranks, agents.index(agent), look)
        marker = mark(symbol[agent], 13, look.background, look.text)
        figure.add_trace(point_trace(x=list(range(len(at))), y=at, marker=marker, hovertext=words))
        for x, moved in ((0, ""), (len(names) - 1, _moved(at, look))):
            ranked, y = standings[names[x]].get(agent), at[x]
            if y is not None and ranked is not None:
                _label(figure, ranked, (x, y), look.text, moved, left=x == 0)
    figure.layout.shapes = spans
    room = 46 + round(7.6 * max(len(text.short(agent, MOST_CHARS)) for agent in agents))
    row = 44 if len(agents) <= 8 else 32
    themed(figure, dark=dark, height=120 + row * len(agents), margin=(room, room + 24, 58, 8))
    heads = [text.folded(metric_words(m), width=13, lines=3) for m in names]
    column_names(figure, heads, room=0.08, look=look, showgrid=True, automargin=False, tickangle=0)
    # From high to low: the first rank is on top.
    figure.update_yaxes(visible=False, range=[len(agents) + 0.5, 0.5])
    figure.update_layout(meta={"least_width": 2 * room + 24 + 85 * (len(names) - 1)})
    return figure


def _spans(standings: Sequence[RankedAgent | None], place: int, look: Tokens) -> list[dict[str, Any]]:
    """The rank intervals of one agent."""
    # Five places beside each other, by turns: no agent's lines cover those of the next.
    return [
        {
            "type": "line",
            "x0": column + 0.02 * (place % 5 - 2),
            "x1": column + 0.02 * (place % 5 - 2),
            "y0": ranked.rank_low - 0.12,
            "y1": ranked.rank_high + 0.12,
            "line": {"color": look.line, "width": 1.25},
            "layer": "below",
        }
        for column, ranked in enumerate(standings)
        if ranked is not None and ranked.rank_low is not None and ranked.rank_high is not None
    ]


def _places(standings: Sequence[RankedAgent], before: dict[str, float]) -> dict[str, float]:
    """Positions by rank; agents that tie keep the order of the metric before: no tie looks crossed."""
    ranked = [s for s in standings if s.rank is not None]
    ranked.sort(key=lambda s: (s.rank or 0, before.get(s.agent, 0.0), s.agent))
    return {s.agent: float(place) for place, s in enumerate(ranked, 1)}


def _rank_words(agent: str, metric: str, ranked: RankedAgent | None) -> str:
    name = f"{text.figure(agent)} · {metric_words(metric)}"
    if ranked is None or ranked.rank is None:
        return f"{name}: unscored"
    low, high = number(ranked.low), number(ranked.high)
    span = f" ({interval(low, high, percent)})" if low is not None and high is not None else ""
    ranks = f", 95% {ranked.rank_low} to {ranked.rank_high}" if ranked.rank_low is not None else ""
    return (
        f"{name}: rank {ranked.rank}{ranks}<br>{percent(number(ranked.value) or 0.0, 1)}{span}"
        f"<br>{ranked.n_runs} runs of {ranked.n_tasks} tasks"
    )


def _moved(at: Sequence[float | None], look: Tokens) -> str:
    if at[0] is None or at[-1] is None or at[0] == at[-1]:
        return ""
    places = abs(round(at[-1] - at[0]))
    return f' <span style="color:{look.bad}">{"▲" if at[-1] < at[0] else "▼"}{places}</span>'


def _label(
    figure: go.Figure, ranked: RankedAgent, at: tuple[float, float], colour: str, moved: str, *, left: bool
) -> None:
    value = number(ranked.value)
    share = percent(value)
    name = text.figure(text.short(ranked.agent, MOST_CHARS))
    words = f"{name}  {share}" if left else f"{share}  {name}{moved}"
    side = {"xanchor": "right", "xshift": -14} if left else {"xanchor": "left", "xshift": 14}
    words_at(figure, words, *at, colour, size=13, **side)


def sub_goal_bars(table: pd.DataFrame, *, dark: bool = False) -> go.Figure:
    """Share of runs that completed each sub-goal: a row per sub-goal, a panel per agent, the runs on each
    bar.

    Args:
        table: one row for each sub-goal and agent, with columns ``sub_goal``, ``title``, ``critical``,
            ``agent``, ``completed`` and ``runs`` (counts; runs in which the sub-goal counts).
        dark: the theme.
    """
    counted = table[table["runs"] > 0] if len(table) else table
    if counted.empty:
        return message("No sub-goal was required in these runs", dark=dark)
    look = tokens(dark)
    goals = list(dict.fromkeys(counted["sub_goal"]))
    agents = list(dict.fromkeys(counted["agent"]))
    shown = agents[:MOST_PANELS]
    figure = make_subplots(
        rows=1, cols=len(shown), shared_yaxes=True, horizontal_spacing=min(0.02, 0.5 / len(shown))
    )
    for column, agent in enumerate(shown, start=1):
        rows = counted[counted["agent"] == agent]
        places = [goals.index(goal) for goal in rows["sub_goal"]]
        _add_panel(figure, column, places, rows, look)
    themed(figure, dark=dark, height=84 + 30 * len(goals), margin=(8, 8, 40, 8))
    for column, agent in enumerate(shown, start=1):
        figure.update_xaxes(
            title_text=text.folded(agent, width=12, lines=3),
            side="top",
            range=[0, 1],
            showticklabels=False,
            row=1,
            col=column,
        )
    figure.update_xaxes(showgrid=False, title_font={"color": look.text, "size": 12}, title_standoff=4)
    named = dict(zip(counted["sub_goal"], counted["title"], strict=True))
    critical = set(counted.loc[counted["critical"].astype(bool), "sub_goal"])
    row_names(
        figure, [("★ " if g in critical else "") + text.figure(named[g] or g, 30) for g in goals], look=look
    )
    if len(agents) > len(shown):
        words = f"The first {len(shown)} of {len(agents)} agents"
        caption(figure, words, 1, -0.02, look, yanchor="top")
    figure.update_layout(bargap=0.35, barmode="overlay", meta={"least_width": 170 + 84 * len(shown)})
    return figure


def _add_panel(figure: go.Figure, column: int, places: list[int], rows: pd.DataFrame, look: Tokens) -> None:
    shares = (rows["completed"] / rows["runs"]).tolist()
    counts = [f"{done} of {runs}" for done, runs in zip(rows["completed"], rows["runs"], strict=True)]
    track = go.Bar(
        x=[1.0] * len(places), y=places, orientation="h", marker={"color": look.band}, hoverinfo="skip"
    )
    bars = go.Bar(
        x=shares,
        y=places,
        orientation="h",
        marker={"color": look.fill, "line": {"width": 0}},
        hoverinfo="text",
        hovertext=[
            f"{text.figure(agent)} · {text.figure(goal)}: {count} runs, {percent(share)}"
            for agent, goal, count, share in zip(rows["agent"], rows["sub_goal"], counts, shares, strict=True)
        ],
    )
    numbers = text_trace(
        x=[0.04] * len(places),
        y=places,
        text=counts,
        textposition="middle right",
        textfont={"size": 12, "color": look.text},
        cliponaxis=False,
    )
    for trace in (track, numbers, bars):
        figure.add_trace(trace, row=1, col=column)
