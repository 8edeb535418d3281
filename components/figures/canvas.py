"""The canvas of figures that draw boxes and lines in pixels: plan graphs, causal graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from untaken.views import (
    BORDER,
    CRITICAL_BORDER,
    Box,
    Edge,
    PlanLayout,
    Point,
    StatusLook,
    larger,
    lay_out,
    plan_layout,
)

from ..shared import text
from ..shared.palette import tokens
from .parts import caption
from .theme import themed

WIDTH: Final = 960
"""Room for a drawing in pixels; its scale, at most 1, makes it fit."""
HEIGHT: Final = 560
"""As `WIDTH`; the legend included."""
PAD: Final = 16.0
LEGEND: Final = 40.0
_GAP: Final = "&nbsp;&nbsp;&nbsp;&nbsp;"


def canvas(
    layout: PlanLayout,
    shapes: Iterable[dict[str, Any]],
    legend: Sequence[str],
    *,
    description: str,
    dark: bool,
    least_width: int | None = None,
) -> tuple[go.Figure, float]:
    """A figure of shapes at one scale in both directions, with its legend below and no axes; and that scale.

    Args:
        layout: where the boxes are.
        shapes: boxes and lines, in the units of the layout.
        legend: what marks mean; from a ledger only where it is guarded.
        description: the figure in words, for a screen reader.
        dark: the theme.
        least_width: pixels below which the figure is not squeezed but scrolls.
    """
    look, scale = tokens(dark), layout.scale(WIDTH, HEIGHT - LEGEND)
    figure = go.Figure()
    tall = round(layout.height * scale + LEGEND + 2 * PAD)
    themed(figure, dark=dark, height=tall, margin=(8, 8, 8, round(LEGEND)))
    hidden = {"visible": False, "constrain": "domain", "automargin": False}
    drawn = figure.layout
    drawn.shapes = list(shapes)
    drawn.xaxis = {**hidden, "range": [-PAD, layout.width + PAD]}
    # Downwards, as the layout counts.
    # One scale both ways: boxes keep their form.
    drawn.yaxis = {**hidden, "range": [layout.height + PAD, -PAD], "scaleanchor": "x"}
    drawn.meta = {"description": description} | ({} if least_width is None else {"least_width": least_width})
    caption(figure, _GAP.join(legend), 0.5, 0, look, yshift=-12, xanchor="center", yanchor="top")
    return figure, scale


def box_figure(
    boxes: Sequence[Box],
    looks: Sequence[StatusLook],
    layout: PlanLayout,
    lines: Iterable[tuple[Edge, dict[str, Any]]],
    legend: Sequence[str],
    **more: Any,
) -> go.Figure:
    """Boxes with their labels, and arrows: each its ends and its line; `looks` as they are in the theme.

    `legend` and `more` are as for `canvas`.
    """
    arrows = [part for ends, line in lines for part in arrow(layout.lines[ends], line)]
    drawn = box_shapes([box.size for box in boxes], layout, looks, [box.critical for box in boxes])
    figure, scale = canvas(layout, [*arrows, *drawn], legend, **more)
    words = ["<br>".join(map(text.figure, box.lines)) for box in boxes]
    hover = [box.description for box in boxes]
    figure.add_trace(labels(layout, words, hover, scale, [look.ink for look in looks]))
    return figure


def plain_box(name: str, lines: tuple[str, ...], description: str, *, critical: bool = False) -> Box:
    """The box of one node that has no status."""
    return Box(sub_goals=(name,), status="unscored", critical=critical, lines=lines, description=description)


def both_ways(boxes: Iterable[Box], lines: Iterable[Edge]) -> PlanLayout:
    """The layout of boxes that the canvas shows larger, from left to right or from top to bottom."""
    sizes, ends = tuple(box.size for box in boxes), tuple(lines)
    return larger([lay_out(sizes, ends, "LR"), lay_out(sizes, ends, "TB")], WIDTH, HEIGHT)


def corners(size: tuple[float, float], centre: tuple[float, float]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a box."""
    (x, y), (width, height) = centre, size
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def rounded(left: float, top: float, right: float, bottom: float, radius: float = 8.0) -> str:
    """The path of a box with round corners."""
    r = radius
    return (
        f"M {left + r},{top} L {right - r},{top} Q {right},{top} {right},{top + r} "
        f"L {right},{bottom - r} Q {right},{bottom} {right - r},{bottom} "
        f"L {left + r},{bottom} Q {left},{bottom} {left},{bottom - r} "
        f"L {left},{top + r} Q {left},{top} {left + r},{top} Z"
    )


def box_shapes(
    sizes: Iterable[tuple[float, float]],
    layout: PlanLayout,
    looks: Iterable[StatusLook],
    critical: Iterable[bool],
) -> Iterator[dict[str, Any]]:
    """The boxes; `looks` as they are in the theme."""
    for size, centre, look, wide in zip(sizes, layout.centres, looks, critical, strict=True):
        width = CRITICAL_BORDER if wide else BORDER
        line = {"color": look.line, "width": width, "dash": look.line_name}
        yield path(rounded(*corners(size, centre)), line, fillcolor=look.fill)


def labels(
    layout: PlanLayout, words: Sequence[str], hover: Iterable[str], scale: float, inks: str | list[str]
) -> go.Scatter:
    """The labels of boxes: `words` for plotly already, `hover` from anywhere."""
    return go.Scatter(
        x=[x for x, _ in layout.centres],
        y=[y for _, y in layout.centres],
        mode="text",
        text=words,
        textfont={"size": max(7, round(14.5 * scale, 1)), "color": inks},  # smaller letters cannot be read
        hovertext=[text.figure(line, 160) for line in hover],
        hoverinfo="text",
    )


def arrow(points: Sequence[Point], line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The shapes of a line of a layout, and of its head."""
    way, tip = plan_layout.arrow(points)
    yield path(way, line)
    yield head(tip, line)


def path(way: str, line: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A shape along a way in SVG's words."""
    return {"type": "path", "path": way, "line": line, "layer": "below"} | more


def head(way: str, line: dict[str, Any]) -> dict[str, Any]:
    """The head of an arrow whose line is `line`."""
    return path(way, {"width": 0}, fillcolor=line["color"])
