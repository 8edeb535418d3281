"""Figures of plan decisions: one run as a line of states, and the calibration of the forecasts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from untaken.counterfactual import (
    CalibrationCard,
    EvaluatedDecision,
    EvaluatedPath,
    OptionKind,
    ReliabilityBin,
)
from untaken.errors import Unscored, number
from untaken.numbers import interval, percent, signed

from ..shared import text
from ..shared.palette import Tokens, tokens
from .parts import error_bars, legend_above, line_trace, mark, point_trace, words_at
from .theme import message, themed

MOST: Final = 40
A_CHANGE_WIDE: Final = 86
"""Pixels that a change needs, with the words below it."""
SYMBOLS: Final[dict[OptionKind, str]] = {
    "advance": "circle",
    "unplanned": "x",
    "hand_over": "triangle-right",
    "stop_open": "square-open",
    "stop_done": "square",
}
WORDS: Final[dict[OptionKind, str]] = {
    "advance": "planned change",
    "unplanned": "unplanned change",
    "hand_over": "hand-over",
    "stop_open": "stop, changes left",
    "stop_done": "stop, nothing left",
}


def plan_changes_figure(run: EvaluatedPath, *, dark: bool = False) -> go.Figure:
    """The plan changes of a run in order, each at the chance of success after it; the decisive one marked.

    A change without a forecast is drawn with a question mark at the foot, never as a chance of 0.
    """
    shown = run.decisions[:MOST]
    if not shown:
        return message("This run changed nothing and did not stop", dark=dark)
    look, figure = tokens(dark), go.Figure()
    chances = [number(each.forecast) for each in shown]
    figure.add_trace(
        line_trace(
            x=list(range(len(shown))), y=chances, line={"color": look.line, "width": 2}, showlegend=False
        )
    )
    for kind in SYMBOLS:
        _add_kind(figure, kind, shown, look)
    themed(figure, dark=dark, height=310, margin=(8, 24, 64, 8))
    _mark_decisive(figure, run, shown, look)
    cut = (
        f" (the first {MOST} of {len(run.decisions)}; the table has all)" if len(run.decisions) > MOST else ""
    )
    figure.update_xaxes(
        tickvals=list(range(len(shown))),
        ticktext=[_tick(each) for each in shown],
        tickangle=0,
        range=[-0.6, len(shown) - 0.4],
        showgrid=False,
        title_text=f"plan changes in order{cut}",
    )
    known = any(chance is not None for chance in chances)
    figure.update_yaxes(
        range=[-0.12, 1.12],
        tickvals=[0, 0.25, 0.5, 0.75, 1] if known else [],
        tickformat=".0%",
        title_text="chance of success after it" if known else "no forecast",
    )
    figure.update_layout(meta={"least_width": max(340, A_CHANGE_WIDE * len(shown))})
    return legend_above(figure, y=1.04)


def _add_kind(figure: go.Figure, kind: OptionKind, shown: Sequence[EvaluatedDecision], look: Tokens) -> None:
    at = [place for place, each in enumerate(shown) if each.decision.option.kind == kind]
    if not at:
        return
    colour = look.good if kind in ("advance", "stop_done") else look.bad
    forecasts = [number(shown[place].forecast) for place in at]
    figure.add_trace(
        point_trace(
            x=at,
            # Below the axis: no forecast is not a forecast of 0.
            y=[-0.06 if chance is None else chance for chance in forecasts],
            mode="markers+text",
            name=WORDS[kind],
            marker=mark(SYMBOLS[kind], 13, colour, colour),
            text=["?" if chance is None else percent(chance) for chance in forecasts],
            # Near the top there is no room above it.
            textposition=["bottom center" if (chance or 0) > 0.9 else "top center" for chance in forecasts],
            textfont={"size": 12, "color": look.text},
            hovertext=[_hover(shown[place]) for place in at],
            cliponaxis=False,
        )
    )


def _tick(each: EvaluatedDecision) -> str:
    option = each.decision.option
    name = text.folded(option.name or WORDS[option.kind], width=13, lines=2)
    return f"{each.decision.seq}<br>{name}"


def _hover(each: EvaluatedDecision) -> str:
    decision = each.decision
    named = f": {text.figure(decision.option.name)}" if decision.option.name else ""
    change = number(each.change)
    lines = [f"event {decision.seq}, {WORDS[decision.option.kind]}{named}", f"{decision.left} left before it"]
    if change is not None:
        lines.append(f"changed the chance by {signed(change)}")
    if isinstance(each.forecast, Unscored):
        lines.append(text.figure(each.forecast.reason, 120))
    return "<br>".join(lines)


def _mark_decisive(
    figure: go.Figure, run: EvaluatedPath, shown: Sequence[EvaluatedDecision], look: Tokens
) -> None:
    for place, each in enumerate(shown):
        if each.decision.seq == run.decisive_seq:
            figure.add_vrect(
                x0=place - 0.45, x1=place + 0.45, fillcolor=look.band, line_width=0, layer="below"
            )
            words = f"▼ decisive {signed(number(each.change) or 0.0)}"
            words_at(figure, words, place, 1.12, look.text, yanchor="top")


def plan_calibration(card: CalibrationCard, *, dark: bool = False) -> go.Figure:
    """Observed success against forecast, in bins, with 95% intervals whose n is the tasks.

    On the diagonal a forecast means what it says.
    """
    look, bins = tokens(dark), card.bins
    figure = go.Figure(
        line_trace(x=[0, 1], y=[0, 1], line={"color": look.line, "width": 1, "dash": "dash"})
    )  # fmt: skip
    figure.add_trace(
        point_trace(
            x=[b.predicted for b in bins],
            y=[b.observed for b in bins],
            error_y=error_bars([(b.observed, b.low, b.high) for b in bins], look.good),
            mode="markers+text",
            marker={"size": 11, "color": look.good},
            text=[f"n {b.n:,}" for b in bins],
            textposition="middle right",
            textfont={"size": 12, "color": look.text},
            hovertext=[_bin_words(b) for b in bins],
            cliponaxis=False,
        )
    )
    themed(figure, dark=dark, height=360, margin=(8, 24, 36, 8))
    figure.update_xaxes(range=[-0.02, 1.1], tickformat=".0%", title_text="forecast", tickvals=_TENTHS)
    figure.update_yaxes(range=[-0.02, 1.04], tickformat=".0%", title_text="succeeded", tickvals=_TENTHS)
    return figure


_TENTHS: Final = [0, 0.2, 0.4, 0.6, 0.8, 1]


def _bin_words(one: ReliabilityBin) -> str:
    return (
        f"forecast {percent(one.predicted)}, succeeded {percent(one.observed)} "
        f"({interval(one.low, one.high, percent)})<br>"
        f"{one.n:,} forecasts of {one.runs:,} runs, {one.tasks:,} tasks"
    )
