"""One look for every figure, in light and dark."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import plotly.graph_objects as go

from ..shared import text
from ..shared.palette import FONT, Tokens, tokens
from .parts import caption

TITLE_ROOM: Final = 40
"""Pixels above a figure for its title."""


def themed(
    figure: go.Figure, *, dark: bool, height: int, margin: tuple[int, int, int, int] = (8, 8, 8, 8)
) -> go.Figure:
    """Dress a figure.

    Args:
        figure: is changed and returned.
        dark: the theme.
        height: pixels.
        margin: pixels left, right, top, bottom; axes ask for more room themselves.
    """
    left, right, top, bottom = margin
    layout = figure.layout
    # One property at a time: `update_layout` takes much longer.
    layout.template = _template(dark)
    layout.height = height
    layout.paper_bgcolor = tokens(dark).background
    layout.margin = {"l": left, "r": right, "t": top, "b": bottom, "pad": 4}
    return figure


@lru_cache(maxsize=256)
def _template(dark: bool) -> go.layout.Template:
    """Built once: each call of `update_layout` or `update_xaxes` takes as long as drawing a small figure."""
    look = tokens(dark)
    words = {"family": FONT, "size": 13, "color": look.text}
    return go.layout.Template(
        layout={
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": words,
            "hoverlabel": {"bgcolor": look.surface, "bordercolor": look.line, "font": words, "align": "left"},
            "showlegend": False,
            "dragmode": False,
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": look.muted, "activecolor": look.text},
            "xaxis": _axis(look),
            "yaxis": _axis(look),
        }
    )


def _axis(look: Tokens) -> dict[str, Any]:
    return {
        "gridcolor": look.grid,
        "zeroline": False,
        "linecolor": look.grid,
        "ticks": "",
        "tickfont": {"color": look.muted, "size": 12},
        "title": {"font": {"color": look.muted, "size": 12}, "standoff": 10},
        "automargin": True,
        "fixedrange": True,
    }


def titled(figure: go.Figure, words: str) -> go.Figure:
    """Write a title above a figure, so that a picture saved from it has it, too.

    Args:
        figure: is changed and returned; one that has a title keeps it.
        words: not from a ledger.
    """
    layout = figure.layout
    if layout.title.text:
        return figure
    layout.title = {
        "text": text.figure(words, 120),
        "font": {"size": 15},
        "x": 0,
        "xanchor": "left",
        "yref": "container",
        "y": 1,
        "yanchor": "top",
        "pad": {"t": 12, "l": 8},
    }
    layout.margin.t = (layout.margin.t or 0) + TITLE_ROOM
    layout.height = (layout.height or 400) + TITLE_ROOM
    return figure


def message(words: str, *, dark: bool, height: int = 160) -> go.Figure:
    """A figure that says in words why there is nothing to draw."""
    figure = themed(go.Figure(), dark=dark, height=height)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    caption(figure, words, 0.5, 0.5, tokens(dark), font={"color": tokens(dark).muted})
    return figure
