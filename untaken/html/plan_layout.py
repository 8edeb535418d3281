"""Positions of the boxes of a plan graph: in layers, with few crossings, deterministic.

A small Sugiyama layout (Sugiyama, Tagawa, Toda 1981): longest-path layers, a place kept in each layer that a
line passes, barycentre sweeps against crossings, then places as near to the neighbours as the gaps allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

GAP: Final = 22.0
LAYER_GAP: Final = 40.0
SWEEPS: Final = 6
IN_A_ROW: Final = 3
"""Boxes without edges are below the others, this many in a row."""
LINE_WIDTH: Final = 10.0
"""Room kept in a layer that a line passes through."""

Point = tuple[float, float]
Edge = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Centres of the boxes in pixels, and for each line the points it goes through, both ends included."""

    centres: tuple[Point, ...]
    lines: Mapping[Edge, tuple[Point, ...]]
    width: float
    height: float


def lay_out(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> Layout:
    """Lay out boxes of these sizes (width, height) along these edges, from top to bottom."""
    if not sizes:
        return Layout(centres=(), lines={}, width=0.0, height=0.0)
    layers, chains = _layered(len(sizes), edges)
    links = [pair for chain in chains.values() for pair in pairwise(chain)]
    widths = {node: sizes[node][0] if node < len(sizes) else LINE_WIDTH for layer in layers for node in layer}
    layers = _uncrossed(layers, links)
    x = _placed(layers, links, widths)
    heights = [max((sizes[n][1] for n in layer if n < len(sizes)), default=0.0) for layer in layers]
    middle = [sum(heights[:i]) + i * LAYER_GAP + heights[i] / 2 for i in range(len(layers))]
    y = {node: middle[i] for i, layer in enumerate(layers) for node in layer}
    left = min(x[n] - widths[n] / 2 for n in x)
    at = {n: (round(x[n] - left, 1), round(y[n], 1)) for n in x}
    return Layout(
        centres=tuple(at[n] for n in range(len(sizes))),
        lines={edge: _through(edge, chain, at, sizes) for edge, chain in chains.items()},
        width=round(max(at[n][0] + widths[n] / 2 for n in at), 1),
        height=round(sum(heights) + (len(layers) - 1) * LAYER_GAP, 1),
    )


def _layered(boxes: int, edges: Sequence[Edge]) -> tuple[list[list[int]], dict[Edge, list[int]]]:
    """Layers of boxes and of places for passing lines; and each edge as a chain, one node a layer."""
    import networkx as nx  # noqa: PLC0415 (slow)

    layers = [sorted(layer) for layer in nx.topological_generations(nx.DiGraph(edges))]
    alone = sorted(set(range(boxes)).difference(*layers))
    layers += [alone[i : i + IN_A_ROW] for i in range(0, len(alone), IN_A_ROW)]
    depth = {node: i for i, layer in enumerate(layers) for node in layer}
    chains: dict[Edge, list[int]] = {}
    following = boxes
    for start, end in dict.fromkeys(edges):
        passing = range(depth[start] + 1, depth[end])
        for number, layer in enumerate(passing, following):
            layers[layer].append(number)
        chains[start, end] = [start, *range(following, following + len(passing)), end]
        following += len(passing)
    return layers, chains


def _uncrossed(layers: list[list[int]], links: Sequence[Edge]) -> list[list[int]]:
    """The order with the fewest crossings among those that sweeping down and up comes by."""
    above, below = _neighbours(links)
    best, least = layers, _crossings(layers, links)
    current = [list(layer) for layer in layers]
    for sweep in range(SWEEPS):
        near = below if sweep % 2 else above
        order = range(len(current) - 1, -1, -1) if sweep % 2 else range(len(current))
        place = {node: float(i) for layer in current for i, node in enumerate(layer)}
        for i in order:
            current[i].sort(key=lambda node: _mean([place[n] for n in near.get(node, ())], place[node]))
            place |= {node: float(at) for at, node in enumerate(current[i])}
        crossed = _crossings(current, links)
        if crossed < least:
            best, least = [list(layer) for layer in current], crossed
    return best


def _neighbours(links: Sequence[Edge]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for start, end in links:
        above.setdefault(end, []).append(start)
        below.setdefault(start, []).append(end)
    return above, below


def _crossings(layers: Sequence[Sequence[int]], links: Sequence[Edge]) -> int:
    place = {node: (i, at) for i, layer in enumerate(layers) for at, node in enumerate(layer)}
    by_layer: dict[int, list[tuple[int, int]]] = {}
    for start, end in links:
        by_layer.setdefault(place[start][0], []).append((place[start][1], place[end][1]))
    return sum(
        (a - c) * (b - d) < 0
        for pairs in by_layer.values()
        for i, (a, b) in enumerate(pairs)
        for c, d in pairs[i + 1 :]
    )


def _placed(
    layers: Sequence[Sequence[int]], links: Sequence[Edge], widths: Mapping[int, float]
) -> dict[int, float]:
    """Moves each node as near to the mean of its neighbours as order and gaps allow."""
    above, below = _neighbours(links)
    x: dict[int, float] = {}
    for layer in layers:
        x |= _spread(layer, [0.0] * len(layer), widths)
    near = {node: [*above.get(node, ()), *below.get(node, ())] for layer in layers for node in layer}
    for sweep in range(2 * SWEEPS):
        for layer in reversed(layers) if sweep % 2 else layers:
            wanted = [_mean([x[n] for n in near[node]], x[node]) for node in layer]
            x |= _spread(layer, wanted, widths)
    alone = [layer for layer in layers if not any(near[node] for node in layer)]
    others = [x[node] for node in x if near[node]]
    centre = (min(others) + max(others)) / 2 if others else 0.0
    for layer in alone:
        x |= _spread(layer, [centre] * len(layer), widths)
    return x


def _spread(layer: Sequence[int], wanted: Sequence[float], widths: Mapping[int, float]) -> dict[int, float]:
    """Both ways to push neighbours apart, and the middle of the two: it keeps every gap, too."""
    if not layer:
        return {}
    gaps = [(widths[a] + widths[b]) / 2 + GAP for a, b in pairwise(layer)]
    right, left = [wanted[0]], [wanted[-1]]
    for gap, want in zip(gaps, wanted[1:], strict=True):
        right.append(max(want, right[-1] + gap))
    for gap, want in zip(reversed(gaps), reversed(wanted[:-1]), strict=True):
        left.append(min(want, left[-1] - gap))
    return {node: (a + b) / 2 for node, a, b in zip(layer, right, reversed(left), strict=True)}


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _through(
    edge: Edge, chain: Sequence[int], at: Mapping[int, Point], sizes: Sequence[tuple[float, float]]
) -> tuple[Point, ...]:
    """A line from the lower side of the first box to the upper side of the last."""
    start, end = edge
    (x0, y0), (x1, y1) = at[start], at[end]
    first, last = (x0, y0 + sizes[start][1] / 2), (x1, y1 - sizes[end][1] / 2)
    return (first, *(at[node] for node in chain[1:-1]), last)
