"""Positions of the boxes of a plan graph: in layers, deterministic, by Graphviz `dot` if it is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from math import hypot
from statistics import fmean
from typing import Final, Literal

from msgspec import Struct

Direction = Literal["LR", "TB"]
Point = tuple[float, float]
Edge = tuple[int, int]
POINTS_PER_INCH: Final = 72.0
LAYER_GAP: Final[dict[Direction, float]] = {"LR": 56.0, "TB": 44.0}
BOX_GAP: Final = 22.0


class PlanLayout(Struct, frozen=True, kw_only=True):
    """Where boxes and lines are, in pixels: x to the right and y down, from 0 to `width` and `height`.

    Attributes:
        centres: of the boxes.
        lines: of each edge, from border to border: control points of cubic Bézier curves, or two points.
    """

    direction: Direction
    centres: tuple[Point, ...]
    lines: Mapping[Edge, tuple[Point, ...]]
    width: float
    height: float

    def scale(self, width: float, height: float, *, most: float = 1.0) -> float:
        """How large the drawing can be shown in a frame, at most `most`."""
        return min(most, width / max(self.width, 1.0), height / max(self.height, 1.0))


@lru_cache(maxsize=256)
def lay_out(sizes: tuple[Point, ...], edges: tuple[Edge, ...], direction: Direction) -> PlanLayout:
    """Lay out boxes of these sizes (width, height in pixels) along these edges (positions in `sizes`).

    Without Graphviz (the extra ``app``) boxes are in the same layers, and lines are straight. Names never
    reach Graphviz, so nothing in them can be read as its language.
    """
    if not sizes:
        return PlanLayout(direction=direction, centres=(), lines={}, width=1.0, height=1.0)
    try:
        centres, lines = _by_graphviz(sizes, edges, direction)
    except ImportError:
        centres, lines = _in_layers(sizes, edges, direction)
    boxes = list(zip(centres, sizes, strict=True))
    through = [point for points in lines.values() for point in points]
    # Infinity, because `min` does not take a single number: the case of one box without lines.
    left = min(*(x - w / 2 for (x, _), (w, _) in boxes), *(x for x, _ in through), float("inf"))
    top = min(y - h / 2 for (_, y), (_, h) in boxes)
    right = max(*(x + w / 2 for (x, _), (w, _) in boxes), *(x for x, _ in through), left)

    def framed(points: Sequence[Point]) -> tuple[Point, ...]:
        return tuple((round(x - left, 1), round(y - top, 1)) for x, y in points)

    return PlanLayout(
        direction=direction,
        centres=framed(centres),
        lines={edge: framed(points) for edge, points in lines.items()},
        width=right - left,
        height=max(y + h / 2 for (_, y), (_, h) in boxes) - top,
    )


def _by_graphviz(
    sizes: Sequence[Point], edges: Sequence[Edge], direction: Direction
) -> tuple[list[Point], dict[Edge, list[Point]]]:
    import pygraphviz  # noqa: PLC0415 (slow, and of an extra)

    drawing = pygraphviz.AGraph(
        directed=True,
        rankdir=direction,
        nodesep=str(BOX_GAP / POINTS_PER_INCH),
        ranksep=str(LAYER_GAP[direction] / POINTS_PER_INCH),
    )
    for number, (width, height) in enumerate(sizes):
        inches = {"width": str(width / POINTS_PER_INCH), "height": str(height / POINTS_PER_INCH)}
        drawing.add_node(number, shape="box", fixedsize="true", label="", **inches)
    drawing.add_edges_from(edges, arrowhead="none")
    drawing.layout(prog="dot")
    centres = [_points(drawing.get_node(number).attr["pos"])[0] for number in range(len(sizes))]
    return centres, {edge: _points(drawing.get_edge(*edge).attr["pos"]) for edge in edges}


def _points(written: str) -> list[Point]:
    # In Graphviz y grows upwards, on screens downwards.
    return [(float(x), -float(y)) for x, y in (pair.split(",") for pair in written.split())]


def _in_layers(
    sizes: Sequence[Point], edges: Sequence[Edge], direction: Direction
) -> tuple[list[Point], dict[Edge, list[Point]]]:
    """Each box one layer after the last that leads to it, beside what leads to it; straight lines."""
    above: list[set[int]] = [
        {start for start, end in edges if end == box != start} for box in range(len(sizes))
    ]
    along = 0 if direction == "LR" else 1
    depth, side, at = [0.0] * len(sizes), [0.0] * len(sizes), 0.0
    for layer in _layers(above):
        before = {box: [side[other] for other in above[box]] or [0.0] for box in layer}
        end = -(sum(sizes[box][1 - along] + BOX_GAP for box in layer) - BOX_GAP) / 2
        thick = max(sizes[box][along] for box in layer)
        for box in sorted(layer, key=lambda box: (fmean(before[box]), box)):
            depth[box], side[box] = at + thick / 2, end + sizes[box][1 - along] / 2
            end += sizes[box][1 - along] + BOX_GAP
        at += thick + LAYER_GAP[direction]
    centres = list(zip(*((depth, side) if along == 0 else (side, depth)), strict=True))

    def border(box: int, sign: int) -> Point:
        x, y = centres[box]
        reach = sign * sizes[box][along] / 2
        return (x + reach, y) if along == 0 else (x, y + reach)

    return centres, {edge: [border(edge[0], 1), border(edge[1], -1)] for edge in edges}


def _layers(above: list[set[int]]) -> Iterator[list[int]]:
    """The boxes, each after all that are above it; of each circle an edge is taken out of `above`."""
    while True:
        sorter = TopologicalSorter(dict(enumerate(above)))
        try:
            sorter.prepare()
        except CycleError as circle:
            start, end = circle.args[1][:2]
            above[end].discard(start)
            continue
        break
    while sorter.is_active():
        layer = sorted(sorter.get_ready())
        yield layer
        sorter.done(*layer)


def arrow(points: Sequence[Point]) -> tuple[str, str]:
    """A line through control points, or straight between two, and its head at the last one: two SVG paths."""
    *before, (a, b), (x, y) = points
    length = hypot(x - a, y - b) or 1.0
    u, v = (x - a) / length, (y - b) / length
    # The line ends inside its arrowhead, so that it does not show beyond the tip.
    start, *ways = [f"{p:g},{q:g}" for p, q in (*before, (a, b), (x - 9 * u, y - 9 * v))]
    left, right = (f"{x - 10 * u + side * v:g},{y - 10 * v - side * u:g}" for side in (5, -5))
    curves = (f"C {' '.join(ways[at : at + 3])}" for at in range(0, len(ways), 3))
    way = " ".join(curves) if before else f"L {ways[0]}"
    return f"M {start} {way}", f"M {x:g},{y:g} L {left} L {right} Z"


def larger(layouts: Sequence[PlanLayout], width: float, height: float) -> PlanLayout:
    """The layout that a frame of this size shows larger; the first one where they are equal."""
    return max(layouts, key=lambda layout: layout.scale(width, height))
