"""The coloured plan graph as a figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import plotly.graph_objects as go

from untaken.plans.model import PlanGraph
from untaken.subgoals.model import RunScore

from ..plan.drawing import Drawing, draw
from ..plan.layout import CanvasLayout, larger
from ..shared import text
from ..shared.palette import BORDER, CRITICAL_BORDER, STAR, STATUS, StatusLook, Tokens, tokens
from .canvas import canvas
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
    shapes = [*_lines(drawing, layout, look), *_boxes(drawing, layout, looks)]
    figure, scale = canvas(
        layout,
        shapes,
        _legend(drawing, look),
        description=drawing.description,
        dark=dark,
        width=width,
        height=height,
    )
    _add_words(figure, drawing, layout, scale, looks)
    return figure


def corners(size: tuple[float, float], centre: tuple[float, float]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a box."""
    (x, y), (width, height) = centre, size
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _boxes(drawing: Drawing, layout: CanvasLayout, looks: Sequence[StatusLook]) -> Iterator[dict[str, Any]]:
    for box, centre, style in zip(drawing.boxes, layout.centres, looks, strict=True):
        width = CRITICAL_BORDER if box.critical else BORDER
        yield {
            "type": "path",
            "path": rounded(*corners(box.size, centre)),
            "fillcolor": style.fill,
            "line": {"color": style.line, "width": width, "dash": style.line_name},
            "layer": "below",
        }


def rounded(left: float, top: float, right: float, bottom: float, radius: float = 8.0) -> str:
    """The path of a box with round corners."""
    r = radius
    return (
        f"M {left + r},{top} L {right - r},{top} Q {right},{top} {right},{top + r} "
        f"L {right},{bottom - r} Q {right},{bottom} {right - r},{bottom} "
        f"L {left + r},{bottom} Q {left},{bottom} {left},{bottom - r} "
        f"L {left},{top + r} Q {left},{top} {left + r},{top} Z"
    )


def _lines(drawing: Drawing, layout: CanvasLayout, look: Tokens) -> Iterator[dict[str, Any]]:
    sizes = [box.size for box in drawing.boxes]
    for start, end, kind in drawing.lines:
        yield from arrow((start, end), sizes, layout, _line_style(kind, look))


def arrow(
    ends: tuple[int, int], sizes: Sequence[tuple[float, float]], layout: CanvasLayout, line: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The shapes of a line from one box to another (positions in `sizes`), and of its head."""
    start, end = ends
    before = corners(sizes[start], layout.centres[start])
    after = corners(sizes[end], layout.centres[end])
    if layout.direction == "LR":
        x0, y0, x1, y1 = before[2], layout.centres[start][1], after[0], layout.centres[end][1]
        bend = f"C {(x0 + x1) / 2},{y0} {(x0 + x1) / 2},{y1} {x1 - 9},{y1}"
    else:
        x0, y0, x1, y1 = layout.centres[start][0], before[3], layout.centres[end][0], after[1]
        bend = f"C {x0},{(y0 + y1) / 2} {x1},{(y0 + y1) / 2} {x1},{y1 - 9}"
    yield {"type": "path", "path": f"M {x0},{y0} {bend}", "line": line, "layer": "below"}
    head = f"M {x1},{y1} L {x1 - 10},{y1 - 5} L {x1 - 10},{y1 + 5} Z"
    if layout.direction == "TB":
        head = f"M {x1},{y1} L {x1 - 5},{y1 - 10} L {x1 + 5},{y1 - 10} Z"
    yield {"type": "path", "path": head, "fillcolor": line["color"], "line": {"width": 0}, "layer": "below"}


def _line_style(kind: str, look: Tokens) -> dict[str, Any]:
    if kind == "violated":
        return {"color": look.bad, "width": 3, "dash": "dash"}
    return {"color": look.line, "width": 1.5, "dash": "dot" if kind == "option" else "solid"}


def _add_words(
    figure: go.Figure, drawing: Drawing, layout: CanvasLayout, scale: float, looks: Sequence[StatusLook]
) -> None:
    figure.add_trace(
        go.Scatter(
            x=[x for x, _ in layout.centres],
            y=[y for _, y in layout.centres],
            mode="text",
            text=["<br>".join(text.figure(line) for line in box.lines) for box in drawing.boxes],
            textfont={
                "size": max(7, round(14.5 * scale, 1)),
                "color": [look.ink for look in looks],
            },
            hovertext=[text.figure(box.description, 160) for box in drawing.boxes],
            hoverinfo="text",
        )
    )


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
