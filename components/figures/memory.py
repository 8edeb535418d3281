"""Figures of policy memory: what each skill came to in a context, and how an estimate came about."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from untaken.numbers import counted, interval, percent

from ..shared import text
from ..shared.palette import Tokens, tokens
from .parts import intervals, line_trace, point_trace, row_names, words_at
from .theme import message, themed

MOST_SKILLS: Final = 40
OUTCOME_WORDS: Final = {1.0: "succeeded", 0.0: "failed"}


def skill_rates(records: pd.DataFrame, *, dark: bool = False) -> go.Figure:
    """Success rate of each skill in one context, with its 95% interval and the outcomes behind it."""
    if records.empty:
        return message("No outcomes in this context yet", dark=dark)
    look = tokens(dark)
    # By name where all else is equal: the same figure each time.
    ordered = records.sort_values(["success_rate", "n", "skill"], ascending=[False, False, True])
    shown = ordered.head(MOST_SKILLS)
    places = list(range(len(shown)))
    rates, lows, highs = (
        shown[name].astype(float).tolist() for name in ("success_rate", "success_low", "success_high")
    )
    figure = go.Figure()
    bars = zip(places, lows, highs, strict=True)
    figure.add_trace(intervals(bars, {"color": look.line, "width": 4}, opacity=0.55))
    figure.add_trace(_points(shown, places, rates, look))
    themed(figure, dark=dark, height=70 + 34 * len(shown), margin=(8, 84, 8, 40))
    for place, n in zip(places, shown["n"], strict=True):
        words_at(figure, f"n = {n:,}", 1, place, look.muted, xref="paper", xanchor="left", xshift=10)
    cut = f" · the first {len(shown)} of {len(ordered)} skills" if len(ordered) > len(shown) else ""
    figure.update_xaxes(
        range=[-0.02, 1.02], tickformat=".0%", title_text=f"success rate{cut}", tickvals=[0, 0.5, 1]
    )
    row_names(figure, [text.figure(skill, 28) for skill in shown["skill"]], room=0.6, look=look)
    return figure


def _points(shown: pd.DataFrame, places: list[int], rates: list[float], look: Tokens) -> go.Scatter:
    words = [
        f"{text.figure(row.skill)}: {_rate(row)}"
        f"<br>{counted(row.n, 'outcome')} of {counted(row.n_runs, 'run')}"
        + (f"<br>weak signals weigh {row.weak_weight:g}" if row.weak_weight else "")
        for row in shown.itertuples()
    ]
    return point_trace(
        x=rates,
        y=places,
        mode="markers+text",
        marker={"color": look.good, "size": 11, "line": {"width": 2, "color": look.background}},
        text=[percent(rate) for rate in rates],
        textposition="top center",
        textfont={"size": 11, "color": look.text},
        hovertext=words,
        cliponaxis=False,
    )


def estimates_over_time(estimates: pd.DataFrame, *, dark: bool = False) -> go.Figure:
    """The success rate of a skill in a context after each observation, with its interval as a band.

    Weak signals that were applied are marked: they move the estimate without anything having been observed.
    """
    known = estimates[estimates["success_rate"].notna()]
    if known.empty:
        return message("No outcomes of this skill yet", dark=dark)
    look = tokens(dark)
    # One step for each moment, however long it is until the next one.
    steps = known.drop_duplicates("ts", keep="last").reset_index(drop=True)
    weak = known[known["kind"] == "weak"].groupby("ts").size()
    figure = go.Figure()
    # The upper edge first: the lower one is filled up to the trace before it.
    for name, fill in (("success_high", None), ("success_low", "tonexty")):
        edge, line = steps[name].astype(float), {"width": 0, "shape": "hv"}
        trace = line_trace(x=list(steps.index), y=edge, line=line, fill=fill, fillcolor=look.grid)
        figure.add_trace(trace)
    figure.add_trace(_line(steps, look))
    figure.add_trace(_weak(steps, weak, look))
    themed(figure, dark=dark, height=300, margin=(8, 24, 24, 40))
    last, signals = known.iloc[-1], int(weak.sum())
    if len(steps) < 2:
        return message(f"{_rate(last)} after {counted(last['n'], 'outcome')}", dark=dark)
    applied = f", {signals} weak signals ◆" if signals else ""
    ticks = sorted({round(share * (len(steps) - 1)) for share in (0, 1 / 2, 1)})
    figure.update_xaxes(
        title_text=f"{_rate(last)} after {counted(last['n'], 'outcome')}{applied}",
        tickvals=ticks,
        ticktext=_days([steps["ts"][place] for place in ticks]),
        range=[-0.5, len(steps) - 0.5],
        showgrid=False,
    )
    figure.update_yaxes(range=[-0.02, 1.02], tickformat=".0%", title_text="success rate", nticks=6)
    return figure


def _days(moments: list[Any]) -> list[str]:
    """Each as a day, or as a time where days repeat; none where imported records all have the same time."""
    for pattern in ("%Y-%m-%d", "%m-%d %H:%M"):
        words = [f"{moment:{pattern}}" for moment in moments]
        if len(set(words)) == len(words):
            return words
    return [""] * len(moments)


def _rate(row: Any) -> str:
    return f"{percent(row.success_rate, 1)} ({interval(row.success_low, row.success_high, percent)})"


def _line(steps: pd.DataFrame, look: Tokens) -> go.Scatter:
    words = [
        f"{row.ts:%Y-%m-%d %H:%M} UTC<br>{_rate(row)} "
        f"after {counted(row.n, 'outcome')}<br>{_what(row.kind, row.success)}: {text.figure(row.run_id)}"
        for row in steps.itertuples()
    ]
    return point_trace(
        x=list(steps.index),
        y=steps["success_rate"].astype(float),
        mode="lines+markers",
        line={"color": look.good, "width": 2, "shape": "hv"},
        marker={"color": look.good, "size": 5 if len(steps) < 80 else 3},
        hovertext=words,
    )


def _weak(steps: pd.DataFrame, weak: pd.Series, look: Tokens) -> go.Scatter:
    marked = steps[steps["ts"].isin(weak.index)]
    return point_trace(
        x=list(marked.index),
        y=marked["success_rate"].astype(float),
        marker={"symbol": "diamond", "color": look.bad, "size": 12, "line": {"color": look.text, "width": 1}},
        hovertext=[
            f"{row.ts:%Y-%m-%d %H:%M} UTC<br>{weak[row.ts]} weak signals applied"
            f"<br>{percent(row.success_rate, 1)} after them"
            for row in marked.itertuples()
        ],
    )


def _what(kind: str, success: float) -> str:
    return "weak signal from" if kind == "weak" else f"{OUTCOME_WORDS.get(success, 'ended')} in"
