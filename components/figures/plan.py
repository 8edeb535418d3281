"""The coloured plan graph as a figure."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from untaken.answers.plan_drawing import Drawing, draw
from untaken.plans.model import PlanGraph
from untaken.present.plan_layout import larger
from untaken.present.statuses import STAR, STATUS
from untaken.subgoals.model import RunScore

from ..shared.palette import Tokens, tokens
from .canvas import arrow, box_shapes, canvas, labels, on_lines
from .theme import message


def plan_figure(
    graph: PlanGraph,
    score: RunScore | None = None,
    *,
    dark: bool = False,
    width: int = 960,
    height: int = 560,
) -> go.Figure:
    """Draw a plan graph, coloured by what a run made of it."""
    drawing = draw(graph, score)
    if not drawing.boxes:
        return message("This graph has no sub-goals: nothing was expected", dark=dark)
    layout = larger(drawing.layouts, width, height)
    look = tokens(dark)
    looks = [STATUS[box.status].shaded(dark=dark) for box in drawing.boxes]
    boxes = drawing.boxes
    sizes, critical = [box.size for box in boxes], [box.critical for box in boxes]
    lines = (
        part
        for start, end, kind in drawing.lines
        for part in arrow(layout.lines[start, end], _line_style(kind, look))
    )
    shapes = [*lines, *box_shapes(sizes, layout, looks, critical)]
    figure, scale = canvas(
        layout,
        shapes,
        _legend(drawing, look),
        description=drawing.description,
        dark=dark,
        width=width,
        height=height,
    )
    words, hover = [on_lines(box.lines) for box in boxes], [box.description for box in boxes]
    figure.add_trace(labels(layout, words, hover, scale, [one.ink for one in looks]))
    return figure


def _line_style(kind: str, look: Tokens) -> dict[str, Any]:
    if kind == "violated":
        return {"color": look.bad, "width": 3, "dash": "dash"}
    return {"color": look.line, "width": 1.5, "dash": "dot" if kind == "option" else "solid"}


def _legend(drawing: Drawing, look: Tokens) -> list[str]:
    present = [name for name in STATUS if any(box.status == name for box in drawing.boxes)]
    words = [
        f'<span style="color:{look.text}">{STATUS[name].icon}</span> {STATUS[name].word}' for name in present
    ]
    if any(box.critical for box in drawing.boxes):
        words.append(f'<span style="color:{look.text}">{STAR}</span> critical')
    if any(kind == "violated" for _, _, kind in drawing.lines):
        words.append(f'<span style="color:{look.bad}">╌▸</span> reached without it')
    return words
