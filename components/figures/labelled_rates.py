"""Rates from a few labels and a judge, beside the labels alone and the judge alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import plotly.graph_objects as go

from untaken.errors import Score, number
from untaken.judging import LabelledRate, LabelledRates
from untaken.present.numbers import decimal

from ..shared.palette import tokens
from .parts import estimates, legend_above, part_name, part_names
from .theme import message, themed

MOST_AGENTS: Final = 20
SHIFT: Final = 0.22
JUDGE: Final = "judge alone"
Values = Callable[[LabelledRate], tuple[Score, Score, Score]]
MARKS: Final[tuple[tuple[str, str, Values], ...]] = (
    ("labels and judge", "circle", lambda one: (one.value, one.low, one.high)),
    ("labels alone", "circle-open", lambda one: (one.people, one.people_low, one.people_high)),
    (JUDGE, "x-thin-open", lambda one: (one.judge, one.judge, one.judge)),
)


def labelled_rates_figure(found: LabelledRates, *, dark: bool = False) -> go.Figure:
    """Share of sub-goals met with 95% intervals: all runs first, then each agent with a label."""
    parts = [one for one in found.rates if one.part in ("all", "agent")][: MOST_AGENTS + 1]
    if not found.overall.labels:
        return message("No sub-goal that a judge decided has a label", dark=dark)
    look, figure = tokens(dark), go.Figure()
    for place, (name, symbol, values) in enumerate(MARKS):
        colour = (look.good, look.muted, look.bad)[place]
        rows = [(at + SHIFT * (place - 1), *values(one), _words(one)) for at, one in enumerate(parts)]
        hover = f"{name} %{{x:.1%}}<br>%{{customdata}}"
        trace = estimates(rows, name, symbol, colour, hover=hover)
        trace.error_x.visible, trace.marker.line = name != JUDGE, {"width": 2, "color": colour}
        figure.add_trace(trace)
    themed(figure, dark=dark, height=120 + 58 * len(parts), margin=(8, 8, 30, 8))
    part_names(figure, (f"{part_name(one.part, one.name)}  {one.labels:,} of {one.items:,}" for one in parts))
    figure.update_xaxes(title="share of sub-goals met", range=[-0.02, 1.02], tickformat=".0%")
    return legend_above(figure)


def _words(one: LabelledRate) -> str:
    worth = number(one.worth)
    words = f"{one.labels:,} labels in {one.clusters:,} tasks or runs, of {one.items:,} sub-goals judged"
    return words if worth is None else f"{words}; worth {decimal(worth, 1)}× the labels"
