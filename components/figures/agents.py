"""Figures that compare agents: where rankings cross, and which sub-goals each completes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from .parts import (
    caption,
    column_names,
    line_trace,
    mark,
    point_trace,
    row_names,
    text_trace,
    width,
    words_at,
)
from .theme import message, themed

if TYPE_CHECKING:
    import pandas as pd

MOST_PANELS: Final = 12
MOST_AGENTS: Final = 20
"""More lines cannot be told apart."""
CHARS: Final = 20
"""Of a line of a name next to the rank flow: it has two. Hovering a mark shows all of it."""


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
    end says by how many places an agent moved from first to last. Of many agents those are drawn that move
    most.
    """
    names = report.ranked_metrics(metrics)
    everyone = sorted({s.agent for m in names for s in report.metrics[m] if s.rank is not None})
    if len(names) < 2 or not everyone:
        return message("Rankings need two metrics and an agent with values under both", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    ranks: dict[str, dict[str, float]] = {}
    for before, metric in zip([None, *names], names, strict=False):
        ranks[metric] = _places(report.metrics[metric], ranks[before] if before else {})
    moves = {a: _moves([ranks[m].get(a) for m in names]) for a in everyone}
    agents = sorted(sorted(everyone, key=lambda a: -abs(moves[a]))[:MOST_AGENTS])
    standings = {m: {s.agent: s for s in report.metrics[m] if s.agent in agents} for m in names}
    places = {m: _places([*standings[m].values()], ranks[m]) for m in names}
    for column, (one, other) in enumerate(pairwise(names)):
        crossing = crossing_agents(standings[one], standings[other])
        # Those that cross come last, and are drawn over the others.
        for agent in sorted(agents, key=lambda a: a in crossing):
            ends = [places[one].get(agent), places[other].get(agent)]
            line = (
                {"color": look.bad, "width": 3} if agent in crossing else {"color": look.line, "width": 1.75}
            )
            figure.add_trace(line_trace(x=[column, column + 1], y=ends, line=line))
    symbol, spans = markers(everyone), []
    for agent in agents:
        at = [places[m].get(agent) for m in names]
        words = [_rank_words(agent, m, standings[m].get(agent)) for m in names]
        for column, m in enumerate(names):
            if agent in standings[m] and not unrankable(report, m):
                spans += _span(standings[m], agent, column, agents.index(agent), look)
        marker = mark(symbol[agent], 13, look.background, look.text)
        figure.add_trace(point_trace(x=list(range(len(at))), y=at, marker=marker, hovertext=words))
        for x, moved in ((0, ""), (len(names) - 1, _moved(moves[agent], look))):
            ranked, y = standings[names[x]].get(agent), at[x]
            if y is not None and ranked is not None:
                _label(figure, ranked, (x, y), look.text, moved, left=x == 0)
    figure.layout.shapes = spans
    room = 52 + max(width(line, 13) for agent in agents for line in _name(agent).split("<br>"))
    row = 44 if len(agents) <= 8 else 34
    themed(figure, dark=dark, height=120 + row * len(agents), margin=(room, room + 24, 58, 28))
    if len(agents) < len(everyone):
        cut = f"The {len(agents)} of {len(everyone)} agents that change most places"
        caption(figure, cut, 0.5, 0, look, yshift=-4, yanchor="top")
    heads = [text.folded(metric_words(m), width=13, lines=3) for m in names]
    column_names(figure, heads, room=0.08, look=look, showgrid=True, automargin=False, tickangle=0)
    # From high to low: the first rank is on top.
    figure.update_yaxes(visible=False, range=[len(agents) + 0.5, 0.5])
    figure.update_layout(meta={"least_width": 2 * room + 24 + 95 * (len(names) - 1)})
    return figure


def _span(
    standings: Mapping[str, RankedAgent], agent: str, column: int, turn: int, look: Tokens
) -> list[dict[str, Any]]:
    """The interval of one agent's rank, from the first to the last place among those drawn."""
    low, high = standings[agent].rank_low, standings[agent].rank_high
    if low is None or high is None:
        return []
    drawn = [s.rank for s in standings.values() if s.rank is not None]
    # Five places beside each other, by turns: no agent's lines cover those of the next.
    x = column + 0.02 * (turn % 5 - 2)
    ends = {"y0": sum(r < low for r in drawn) + 0.88, "y1": sum(r <= high for r in drawn) + 0.12}
    line = {"color": look.line, "width": 1.25}
    return [{"type": "line", "x0": x, "x1": x, "line": line, "layer": "below"} | ends]


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


def _moves(at: Sequence[float | None]) -> int:
    """By how many places an agent moves down from the first metric to the last."""
    return 0 if at[0] is None or at[-1] is None else round(at[-1] - at[0])


def _moved(places: int, look: Tokens) -> str:
    if not places:
        return ""
    return f' <span style="color:{look.bad}">{"▲" if places < 0 else "▼"}{abs(places)}</span>'


def _name(agent: str) -> str:
    return text.folded(agent, width=CHARS, lines=2)


def _label(
    figure: go.Figure, ranked: RankedAgent, at: tuple[float, float], colour: str, moved: str, *, left: bool
) -> None:
    value = number(ranked.value)
    share = percent(value)
    name = _name(ranked.agent)
    words = f"{name}  {share}" if left else f"{share}  {name}{moved}"
    side = {"xanchor": "right", "xshift": -14} if left else {"xanchor": "left", "xshift": 14}
    side["align"] = side["xanchor"]
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
