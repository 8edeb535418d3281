"""How far reviewers agree: Krippendorff's α overall and by sub-goal, Cohen's κ of every two of them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Final

import plotly.graph_objects as go

from untaken.errors import Score, Unscored, number
from untaken.judging import Reliability, ReviewerPair, Reviewers
from untaken.present.numbers import interval

from ..shared import text
from ..shared.palette import tokens
from .theme import message, themed

MOST_GOALS: Final = 24
MOST_PAIRS: Final = 24
SHIFT: Final = 0.17
WORDS_WIDE: Final = 30
"""Characters of a reason on one line, so that it fits a small screen."""
MARKS: Final[tuple[tuple[str, str, Callable[[ReviewerPair], tuple[Score, Score, Score]]], ...]] = (
    ("share of one opinion", "circle", lambda one: (one.agreement, one.low, one.high)),
    ("Cohen's κ: beyond chance", "diamond", lambda one: (one.kappa, one.kappa_low, one.kappa_high)),
)
"""The name of a mark, its shape (open where there is no interval), and what it shows."""


def reliability_figure(found: Reviewers, *, dark: bool = False) -> go.Figure:
    """α (diamonds) with 95% intervals: all sub-goals first, then each, the least agreement first.

    A sub-goal whose α is unscored has a line of its own that says why.
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
    names = ["all" if one.part == "all" else text.figure(text.short(one.name, 32)) for one in parts]
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


def reviewer_pairs_figure(pairs: Sequence[ReviewerPair], *, dark: bool = False) -> go.Figure:
    """Share of one opinion (circles) and κ (diamonds) of every two reviewers, with 95% intervals.

    A mark without an interval is open. Where κ is unscored, the reason replaces it.

    Args:
        pairs: as `reviewer_pairs` orders them; those that judged nothing in common are left out.
        dark: the theme.
    """
    shown = [one for one in pairs if one.n][:MOST_PAIRS]
    if not shown:
        return message("No two reviewers could tell on the same sub-goal of a run", dark=dark)
    look, figure = tokens(dark), go.Figure()
    for place, (name, symbol, values) in enumerate(MARKS):
        colour, shift = (look.muted, look.text)[place], SHIFT * (2 * place - 1)
        figure.add_traces(_marks(shown, name, symbol, values, shift=shift, colour=colour))
    for at, one in enumerate(shown):
        if isinstance(one.kappa, Unscored):
            figure.add_annotation(
                x=0.0,
                y=at,
                text=_on_lines(f"no κ: {one.kappa.reason}"),
                showarrow=False,
                xanchor="left",
                align="left",
                font={"size": 11, "color": look.muted},
            )
    themed(figure, dark=dark, height=130 + 48 * len(shown), margin=(8, 8, 30, 8))
    figure.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=[f"{_person(one.a)} · {_person(one.b)}<br>n={one.n:,}" for one in shown],
        range=[len(shown) - 0.5, -0.5],
        showgrid=False,
    )
    ends = [number(value) for one in shown for value in (one.kappa, one.kappa_low, one.low)]
    least = min([0.0, *(end for end in ends if end is not None)])
    figure.update_xaxes(title="1 is full agreement; 0 of κ is chance", range=[least - 0.03, 1.03])
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    return figure


def _marks(
    shown: Sequence[ReviewerPair],
    name: str,
    symbol: str,
    values: Callable[[ReviewerPair], tuple[Score, Score, Score]],
    *,
    shift: float,
    colour: str,
) -> list[go.Scatter]:
    """Those with an interval, then those without: else plotly would draw bars of no length for these."""
    marks = [(at + shift, one, *map(number, values(one))) for at, one in enumerate(shown)]
    known = [(at, one, value, low, high) for at, one, value, low, high in marks if value is not None]
    sure = [row for row in known if row[3] is not None and row[4] is not None]
    bare = [row for row in known if row not in sure]
    drawn = []
    for rows, shape in ((sure, symbol), (bare, f"{symbol}-open")):
        if rows:
            drawn.append(
                go.Scatter(
                    x=[value for _, _, value, _, _ in rows],
                    y=[at for at, *_ in rows],
                    mode="markers",
                    name=name,
                    showlegend=rows is sure or not sure,
                    marker={"symbol": shape, "size": 10, "color": colour},
                    customdata=[_pair_words(one, values(one)) for _, one, *_ in rows],
                    hovertemplate=f"{name} %{{x:.3f}}<br>%{{customdata}}<extra></extra>",
                )
            )
    if sure:
        drawn[0].error_x = {
            "type": "data",
            "symmetric": False,
            "array": [high - value for _, _, value, _, high in sure],
            "arrayminus": [value - low for _, _, value, low, _ in sure],
            "color": colour,
            "thickness": 1.5,
            "width": 4,
        }
    return drawn


def _on_lines(words: str) -> str:
    return "<br>".join(text.figure(line) for line in textwrap.wrap(words, WORDS_WIDE)[:3])


def _person(name: str) -> str:
    return text.figure(name.removeprefix("human:"), 20)


def _pair_words(one: ReviewerPair, values: tuple[Score, Score, Score]) -> str:
    a, b = _person(one.a), _person(one.b)
    _, low, high = values
    if isinstance(low, Unscored) or isinstance(high, Unscored):
        reason = low.reason if isinstance(low, Unscored) else "one of its ends is unscored"
        span = f"no interval: {text.figure(reason, 90)}"
    else:
        span = f"95%: {interval(low, high, digits=3)}"
    return (
        f"{span}<br>{one.n:,} sub-goals of runs ({one.clusters:,} {one.cluster}s): "
        f"both met {one.both_met:,}, both not {one.both_not:,},<br>only {a} {one.only_a:,}, "
        f"only {b} {one.only_b:,}"
    )
