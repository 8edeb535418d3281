"""How far two authors of verdicts agree: share and κ with their intervals, overall and by agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import plotly.graph_objects as go

from untaken.errors import Score
from untaken.judging import AgreementEstimate, VerdictAgreement

from ..shared.palette import tokens
from .parts import estimates, least_end, legend_above, part_name, part_names
from .theme import message, themed

MOST_AGENTS: Final = 20
MARKS: Final[tuple[tuple[str, str, Callable[[Any], tuple[Score, Score, Score]]], ...]] = (
    ("share of one opinion", "circle", lambda one: (one.agreement, one.low, one.high)),
    ("Cohen's κ: beyond chance", "diamond", lambda one: (one.kappa, one.kappa_low, one.kappa_high)),
)
"""Marks of a row with an agreement and a κ: name, shape, and the figures shown."""
SHIFT: Final = 0.16


def agreement_figure(agreement: VerdictAgreement, *, dark: bool = False) -> go.Figure:
    """Share (circles) and κ (diamonds) with 95% intervals: all runs first, then each agent."""
    parts = [one for one in (agreement.overall, *agreement.agents) if one.n][: MOST_AGENTS + 1]
    if not parts:
        return message("No sub-goal was judged by both", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    for place, (name, symbol, values) in enumerate(MARKS):
        shift, colour = SHIFT * (2 * place - 1), (look.text, look.muted)[place]
        rows = [(at + shift, *values(one), _words(one)) for at, one in enumerate(parts)]
        figure.add_trace(estimates(rows, name, symbol, colour))
    themed(figure, dark=dark, height=110 + 46 * len(parts), margin=(8, 8, 30, 8))
    part_names(figure, (f"{part_name(one.part, one.name)}  n={one.n:,}" for one in parts))
    least = least_end(end for one in parts for end in (one.low, one.kappa, one.kappa_low))
    figure.update_xaxes(title="1 is full agreement; 0 of κ is chance", range=[least, 1.03])
    return legend_above(figure)


def _words(one: AgreementEstimate) -> str:
    return (
        f"{one.n:,} pairs: both met {one.both_met}, both not {one.both_not}, "
        f"only the first {one.only_a}, only the second {one.only_b}"
    )
