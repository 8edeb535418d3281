"""How far reviewers agree: Krippendorff's α with its interval, overall and by sub-goal."""

from __future__ import annotations

from typing import Final

import plotly.graph_objects as go

from components import text
from components.figures.theme import message, themed
from components.palette import tokens
from untaken.errors import Unscored, number
from untaken.judging import Reliability, Reviewers

MOST_GOALS: Final = 24


def reliability_figure(found: Reviewers, *, dark: bool = False) -> go.Figure:
    """α (diamonds) with 95 % intervals: all sub-goals first, then each, the least agreement first.

    A sub-goal whose α is unscored has a line of its own that says why.

    Args:
        found: of several reviewers.
        dark: the theme.
    """
    parts = [one for one in (found.overall, *found.sub_goals) if one.items][: MOST_GOALS + 1]
    if not parts:
        return message("No sub-goal has an opinion of two reviewers", dark=dark)
    look, figure = tokens(dark), go.Figure()
    known = [(at, number(one.alpha), one) for at, one in enumerate(parts) if number(one.alpha) is not None]
    figure.add_trace(
        go.Scatter(
            x=[alpha for _, alpha, _ in known],
            y=[at for at, _, _ in known],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [_span(one, one.high) for _, _, one in known],
                "arrayminus": [_span(one, one.low) for _, _, one in known],
                "color": look.text,
                "thickness": 1.5,
                "width": 4,
            },
            mode="markers",
            name="Krippendorff's α",
            marker={"symbol": "diamond", "size": 10, "color": look.text},
            customdata=[_words(one) for _, _, one in known],
            hovertemplate="α %{x:.3f}<br>%{customdata}<extra></extra>",
        )
    )
    for at, one in enumerate(parts):
        if isinstance(one.alpha, Unscored):
            figure.add_annotation(
                x=0.0, y=at, text=text.figure(one.alpha.reason, 60), showarrow=False, xanchor="left"
            )
    themed(figure, dark=dark, height=110 + 34 * len(parts), margin=(8, 8, 30, 8))
    names = ["all" if one.part == "all" else text.figure(one.name, 40) for one in parts]
    figure.update_yaxes(
        tickvals=list(range(len(parts))),
        ticktext=[f"{name}  n={one.items:,}" for name, one in zip(names, parts, strict=True)],
        range=[len(parts) - 0.5, -0.5],
        showgrid=False,
    )
    ends = [number(value) for one in parts for value in (one.alpha, one.low)]
    least = min([0.0, *(end for end in ends if end is not None)])
    figure.update_xaxes(title="1 is full agreement, 0 chance", range=[least - 0.03, 1.03])
    return figure


def _span(one: Reliability, end: float | Unscored) -> float:
    alpha, other = number(one.alpha), number(end)
    return abs(other - alpha) if alpha is not None and other is not None else 0.0


def _words(one: Reliability) -> str:
    return (
        f"{one.agreed:,} of {one.items:,} with one opinion, {one.runs:,} runs, {len(one.reviewers)} reviewers"
    )
