"""The canvas of figures that draw boxes and lines in pixels: plan graphs, causal graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from ..plan.layout import CanvasLayout
from ..shared.palette import tokens
from .theme import themed

PAD: Final = 16.0
LEGEND: Final = 40.0
_GAP: Final = "&nbsp;&nbsp;&nbsp;&nbsp;"


def canvas(
    layout: CanvasLayout,
    shapes: Iterable[dict[str, Any]],
    legend: Sequence[str],
    *,
    description: str,
    dark: bool,
    width: int,
    height: int,
    least_width: int | None = None,
) -> tuple[go.Figure, float]:
    """A figure of shapes at one scale in both directions, with its legend below and no axes; and that scale.

    Args:
        layout: where the boxes are.
        shapes: boxes and lines, in the units of the layout.
        legend: what marks mean; from a ledger only where it is guarded.
        description: the figure in words, for a screen reader.
        dark: the theme.
        width: room in pixels.
        height: room in pixels, the legend included; the scale, at most 1, makes the drawing fit.
        least_width: pixels below which the figure is not squeezed but scrolls.
    """
    look, scale = tokens(dark), layout.scale(width, height - LEGEND)
    figure = go.Figure()
    tall = round(layout.height * scale + LEGEND + 2 * PAD)
    themed(figure, dark=dark, height=tall, margin=(8, 8, 8, round(LEGEND)))
    hidden = {"visible": False, "constrain": "domain", "automargin": False}
    drawn = figure.layout
    drawn.shapes = list(shapes)
    drawn.xaxis = {**hidden, "range": [-PAD, layout.width + PAD]}
    drawn.yaxis = {**hidden, "range": [layout.height + PAD, -PAD], "scaleanchor": "x"}
    drawn.meta = {"description": description} | ({} if least_width is None else {"least_width": least_width})
    figure.add_annotation(
        text=_GAP.join(legend),
        x=0.5,
        y=0,
        yshift=-12,
        xref="paper",
        yref="paper",
        xanchor="center",
        yanchor="top",
        showarrow=False,
        font={"color": look.muted, "size": 12},
    )
    return figure, scale
