"""How far two authors of verdicts agree: share and κ with their intervals, overall and by agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import plotly.graph_objects as go

from untaken.errors import Score, number
from untaken.judging import AgreementEstimate, VerdictAgreement

from ..shared import text
from ..shared.palette import tokens
from .theme import message, themed

MOST_AGENTS: Final = 20
MARKS: Final[tuple[tuple[str, str, Callable[[AgreementEstimate], tuple[Score, Score, Score]]], ...]] = (
    ("share of one opinion", "circle", lambda one: (one.agreement, one.low, one.high)),
    ("Cohen's κ: beyond chance", "diamond", lambda one: (one.kappa, one.kappa_low, one.kappa_high)),
)
SHIFT: Final = 0.16


def agreement_figure(agreement: VerdictAgreement, *, dark: bool = False) -> go.Figure:
    """Share (circles) and κ (diamonds) with 95% intervals: all runs first, then each agent."""
    parts = [one for one in (agreement.overall, *agreement.agents) if one.n][: MOST_AGENTS + 1]
    if not parts:
        return message("No sub-goal has an opinion of both", dark=dark)
    look = tokens(dark)
    figure = go.Figure()
    for place, (name, symbol, values) in enumerate(MARKS):
        figure.add_trace(
            _marks(
                parts,
                name,
                symbol,
                values,
                shift=SHIFT * (2 * place - 1),
                colour=(look.text, look.muted)[place],
            )
        )
    themed(figure, dark=dark, height=110 + 46 * len(parts), margin=(8, 8, 30, 8))
    names = ["all" if one.part == "all" else text.figure(text.short(one.name, 32)) for one in parts]
    figure.update_yaxes(
        tickvals=list(range(len(parts))),
        ticktext=[f"{name}  n={one.n:,}" for name, one in zip(names, parts, strict=True)],
        autorange="reversed",
        showgrid=False,
    )
    figure.update_xaxes(title="1 is full agreement; 0 of κ is chance", range=[_least(parts), 1.03])
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return figure


def _marks(
    parts: list[AgreementEstimate],
    name: str,
    symbol: str,
    values: Callable[[AgreementEstimate], tuple[Score, Score, Score]],
    *,
    shift: float,
    colour: str,
) -> go.Scatter:
    known = [(at, *map(number, values(one)), one) for at, one in enumerate(parts)]
    known = [row for row in known if row[1] is not None]
    return go.Scatter(
        x=[row[1] for row in known],
        y=[row[0] + shift for row in known],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [(row[3] - row[1]) if row[3] is not None else 0 for row in known],
            "arrayminus": [(row[1] - row[2]) if row[2] is not None else 0 for row in known],
            "color": colour,
            "thickness": 1.5,
            "width": 4,
        },
        mode="markers",
        name=name,
        marker={"symbol": symbol, "size": 10, "color": colour},
        customdata=[_words(row[4]) for row in known],
        hovertemplate=f"{name} %{{x:.3f}}<br>%{{customdata}}<extra></extra>",
    )


def _words(one: AgreementEstimate) -> str:
    return (
        f"{one.n:,} pairs: both met {one.both_met}, both not {one.both_not}, "
        f"only the first {one.only_a}, only the second {one.only_b}"
    )


def _least(parts: list[AgreementEstimate]) -> float:
    ends = [number(value) for one in parts for value in (one.low, one.kappa, one.kappa_low)]
    return min([0.0, *(end for end in ends if end is not None)]) - 0.03
