"""Positions of the boxes of a plan graph: in layers, by Graphviz `dot`, deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import pygraphviz

Direction = Literal["LR", "TB"]
POINTS_PER_INCH: Final = 72.0
LAYER_GAP: Final[dict[Direction, float]] = {"LR": 56.0, "TB": 44.0}
BOX_GAP: Final = 22.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasLayout:
    """Centres of the boxes in pixels, x to the right and y down, from 0 to `width` and `height`."""

    direction: Direction
    centres: tuple[tuple[float, float], ...]
    width: float
    height: float

    def scale(self, width: float, height: float, *, most: float = 1.0) -> float:
        """How large the drawing can be shown in a frame, at most `most`."""
        return min(most, width / max(self.width, 1.0), height / max(self.height, 1.0))


@lru_cache(maxsize=256)
def lay_out(
    sizes: tuple[tuple[float, float], ...], edges: tuple[tuple[int, int], ...], direction: Direction
) -> CanvasLayout:
    """Lay out boxes of these sizes (width, height in pixels) along these edges (positions in `sizes`).

    Names never reach Graphviz, so nothing in them can be read as its language.
    """
    drawing = pygraphviz.AGraph(
        strict=False,
        directed=True,
        rankdir=direction,
        nodesep=str(BOX_GAP / POINTS_PER_INCH),
        ranksep=str(LAYER_GAP[direction] / POINTS_PER_INCH),
    )
    for number, (width, height) in enumerate(sizes):
        inches = {"width": str(width / POINTS_PER_INCH), "height": str(height / POINTS_PER_INCH)}
        drawing.add_node(number, shape="box", fixedsize="true", label="", **inches)
    drawing.add_edges_from(edges)
    drawing.layout(prog="dot")
    points = [_point(drawing.get_node(number).attr["pos"]) for number in range(len(sizes))]
    return _framed(direction, sizes, points)


def _point(position: str) -> tuple[float, float]:
    x, y = position.split(",")
    return float(x), -float(y)


def _framed(
    direction: Direction, sizes: Sequence[tuple[float, float]], points: Sequence[tuple[float, float]]
) -> CanvasLayout:
    if not points:
        return CanvasLayout(direction=direction, centres=(), width=1.0, height=1.0)
    boxes = list(zip(points, sizes, strict=True))
    left = min(x - w / 2 for (x, _), (w, _) in boxes)
    top = min(y - h / 2 for (_, y), (_, h) in boxes)
    return CanvasLayout(
        direction=direction,
        centres=tuple((round(x - left, 1), round(y - top, 1)) for x, y in points),
        width=max(x + w / 2 for (x, _), (w, _) in boxes) - left,
        height=max(y + h / 2 for (_, y), (_, h) in boxes) - top,
    )


def larger(layouts: Sequence[CanvasLayout], width: float, height: float) -> CanvasLayout:
    """The layout that a frame of this size shows larger; the first one where they are equal."""
    return max(layouts, key=lambda layout: layout.scale(width, height))
