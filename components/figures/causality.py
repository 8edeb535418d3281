"""Causal graphs: the structural causal model of planning, and what acts on a task in one state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, groupby, pairwise
from math import hypot
from typing import Any, Final

import networkx as nx
import plotly.graph_objects as go

from untaken.crafter.scm import StructuralCausalModel
from untaken.crafter.state_causality import CausalState, EdgeKind
from untaken.present.statuses import INK, STAR, StatusLook, shade

from ..plan.drawing import Box, wrapped
from ..plan.layout import CanvasLayout, lay_out
from ..shared import text
from ..shared.palette import Tokens, tokens
from .canvas import box_shapes, canvas, head, labels, on_lines, path
from .parts import text_trace
from .theme import message

_NODES: Final[Mapping[str, StatusLook]] = {
    "task": StatusLook(word="the task", icon=STAR, fill="#BFE0F7", line="#0B5C94"),
    "kept": StatusLook(word="kept, with its value", icon="", fill="#FFFFFF", line="#0B5C94"),
    "missing": StatusLook(word="missing", icon="∅", fill="#FFD199", line="#B34E00", dash=(7, 5)),
    "absent": StatusLook(word="not here", icon="·", fill="#EEF0F2", line="#6B7280", dash=(2, 4)),
}
_EDGES: Final[Mapping[EdgeKind, tuple[str, str]]] = {
    "rule": ("─▸", "rule"),
    "tested": ("━▸", "rule, tested in clones"),
    "policy-mediated": ("╌▸", "only through what the policy does"),
}
_EXOGENOUS: Final = StatusLook(
    word="given from outside", icon="", fill="#EEF0F2", line="#6B7280", dash=(7, 5)
)
_ENDOGENOUS: Final = StatusLook(word="follows from its parents", icon="", fill="#BFE0F7", line="#0B5C94")
_DONE: Final = StatusLook(word="set by do(…)", icon="", fill="#FFD199", line="#B34E00")

SLICE: Final = 190.0
"""Pixels from one moment to the next."""
_ROWS: Final = {"l": 0.0, "m": 84.0, "a": 140.0, "s": 250.0, "u": 330.0}
_LATER: Final = {"a": 0.3, "u": 0.3}
"""Offset within a slice that places a variable after its inputs."""
_SIZE: Final = (56.0, 40.0)
BELOW: Final = 40.0
"""Pixels that a line which leads back takes below the boxes."""
_LEAST: Final = 640
"""Pixels below which the words would not fit their boxes."""
_INDEXED: Final = re.compile(r"([a-z]+)_([0-9]+)")


def state_causality_figure(
    state: CausalState, *, dark: bool = False, width: int = 960, height: int = 560
) -> go.Figure:
    """Draw what acts on a task in one state: kept variables with their values, edges by their kind."""
    if state.unscored or not state.edges:
        return message(
            text.figure(state.summary if state.unscored else "Nothing acts on this task", 160), dark=dark
        )
    nodes = _nodes(state)
    boxes = [_box(name, kind, state) for name, kind in nodes.items()]
    place = {name: number for number, name in enumerate(nodes)}
    lines = {(place[e.cause], place[e.effect]): e.kind for e in state.edges}
    sizes = tuple(box.size for box in boxes)
    ways, back = _ways(tuple(lines), len(boxes))
    whole = lay_out(
        (*sizes, *_stops(ways, len(boxes))), tuple(p for way in ways.values() for p in pairwise(way)), "LR"
    )
    layout = replace(whole, centres=whole.centres[: len(boxes)], height=whole.height + (BELOW if back else 0))
    look = tokens(dark)
    looks = [_NODES[kind].shaded(dark=dark) for kind in nodes.values()]
    shapes = [p for ends, way in ways.items() for p in _way(way, sizes, whole, _style(lines[ends], look))]
    shapes += [p for ends in back for p in _back(ends, sizes, layout, _style(lines[ends], look))]
    description = f"What acts on {text.figure(state.goal)}: {state.summary}, {len(state.edges)} edges"
    figure, scale = canvas(
        layout,
        [*shapes, *box_shapes(sizes, layout, looks, [box.critical for box in boxes])],
        _legend(nodes, state, look),
        description=description,
        dark=dark,
        width=width,
        height=height,
        least_width=_LEAST,
    )
    words, hover = [on_lines(box.lines) for box in boxes], [box.description for box in boxes]
    figure.add_trace(labels(layout, words, hover, scale, shade(INK, dark=dark)))
    return figure


def scm_figure(
    model: StructuralCausalModel | nx.DiGraph, *, dark: bool = False, width: int = 960, height: int = 560
) -> go.Figure:
    """Draw a structural causal model: a column for each moment where its variables have one."""
    graph = model.graph() if isinstance(model, StructuralCausalModel) else model
    if not graph:
        return message("This model has no variables", dark=dark)
    names = list(graph)
    sizes = tuple(_SIZE if _INDEXED.fullmatch(name) or len(name) < 3 else _named(name).size for name in names)
    place = {name: number for number, name in enumerate(names)}
    ends = [(place[a], place[b]) for a, b in graph.edges]
    sliced = all(_lane(name) in _ROWS for name in names)
    layout = _slices(graph) if sliced else lay_out(sizes, tuple(ends), "LR")
    look, looks = tokens(dark), [_look_of(graph.nodes[name]) for name in names]
    shaded = [one.shaded(dark=dark) for one in looks]
    line = {"color": look.line, "width": 1.5, "dash": "solid"}
    shapes = [part for pair in ends for part in _straight(pair, sizes, layout, line)]
    drawn = [one for one in (_ENDOGENOUS, _EXOGENOUS, _DONE) if one in looks]
    name = text.figure(graph.graph.get("name") or "Causal graph")
    figure, scale = canvas(
        layout,
        [*shapes, *box_shapes(sizes, layout, shaded, [one is _DONE for one in looks])],
        [f"{_border(one, dark=dark)} {one.word}" for one in drawn],
        description=f"{name}: {len(names)} variables, {len(ends)} edges",
        dark=dark,
        width=width,
        height=height,
        least_width=_LEAST,
    )
    hover = [
        f"{name}: {graph.nodes[name].get('words', '')} ({one.word})"
        for name, one in zip(names, looks, strict=True)
    ]
    words = [_symbol(name) for name in names]
    figure.add_trace(labels(layout, words, hover, scale, shade(INK, dark=dark)))
    if sliced:
        figure.add_trace(_captions(graph, look, scale))
    return figure


def _nodes(state: CausalState) -> dict[str, str]:
    """Each node with its kind; only those that an edge leads from or to."""
    drawn = {name for edge in state.edges for name in (edge.cause, edge.effect)}
    nodes = dict.fromkeys(state.absent, "absent") | dict.fromkeys(state.missing, "missing")
    nodes |= dict.fromkeys(state.kept, "kept")
    return {name: kind for name, kind in nodes.items() if name in drawn} | {state.goal: "task"}


def _box(name: str, kind: str, state: CausalState) -> Box:
    look = _NODES[kind]
    values = {variable.name: variable.words for variable in state.variables}
    value = values.get(name, "") if kind == "kept" else "" if kind == "task" else look.word
    plain = text.one_line(name.replace("_", " "))
    lines = (*wrapped(f"{look.icon} {plain}".strip()), *(wrapped(text.one_line(value)) if value else ()))
    description = text.one_line(f"{plain}: {value or look.word}", 160)
    return Box(
        sub_goals=(name,), status="unscored", critical=kind == "task", lines=lines, description=description
    )


def _style(kind: EdgeKind, look: Tokens) -> dict[str, Any]:
    if kind == "tested":
        return {"color": look.good, "width": 3, "dash": "solid"}
    if kind == "policy-mediated":
        return {"color": look.bad, "width": 1.5, "dash": "dash"}
    return {"color": look.line, "width": 1.5, "dash": "solid"}


def _legend(nodes: Mapping[str, str], state: CausalState, look: Tokens) -> list[str]:
    there, drawn = set(nodes.values()), {edge.kind for edge in state.edges}
    words = [f"{one.icon or '▢'} {one.word}" for kind, one in _NODES.items() if kind in there]
    words += [
        f'<span style="color:{_style(kind, look)["color"]}">{sign}</span> {meaning}'
        for kind, (sign, meaning) in _EDGES.items()
        if kind in drawn
    ]
    return words


Ends = tuple[int, int]


def _ways(lines: tuple[Ends, ...], boxes: int) -> tuple[dict[Ends, tuple[int, ...]], list[Ends]]:
    """The stops of each line, one a layer, so that none runs behind a box; and lines that lead back."""
    graph = nx.DiGraph(lines)
    graph.add_nodes_from(range(boxes))
    back: list[Ends] = []
    while not nx.is_directed_acyclic_graph(graph):
        circle = nx.find_cycle(graph, source=boxes - 1, orientation="reverse")
        back.append(max(circle[:], key=lambda edge: lines.index(edge[:2]))[:2])
        graph.remove_edge(*back[-1])
    layer = dict.fromkeys(graph, 0)
    for node in reversed(list(nx.topological_sort(graph))):
        layer[node] = max((layer[after] + 1 for after in graph.successors(node)), default=0)
    stop, ways = count(boxes), {}
    for start, end in graph.edges:
        between = [next(stop) for _ in range(layer[start] - layer[end] - 1)]
        ways[start, end] = (start, *between, end)
    return ways, back


def _stops(ways: Mapping[Ends, tuple[int, ...]], boxes: int) -> list[tuple[float, float]]:
    return [(8.0, 8.0)] * sum(node >= boxes for way in ways.values() for node in way)


def _way(
    way: tuple[int, ...], sizes: Sequence[tuple[float, float]], layout: CanvasLayout, line: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The shapes of a line from box to box by its stops, from left to right."""
    points = [layout.centres[node] for node in way]
    points[0] = (points[0][0] + sizes[way[0]][0] / 2, points[0][1])
    x1, y1 = points[-1][0] - sizes[way[-1]][0] / 2, points[-1][1]
    points[-1] = (x1 - 9, y1)
    bends = [
        f"C {(x + next_x) / 2},{y} {(x + next_x) / 2},{next_y} {next_x},{next_y}"
        for (x, y), (next_x, next_y) in pairwise(points)
    ]
    yield path(f"M {points[0][0]},{points[0][1]} {' '.join(bends)}", line)
    yield head(f"M {x1},{y1} L {x1 - 10},{y1 - 5} L {x1 - 10},{y1 + 5} Z", line)


def _back(
    ends: Ends, sizes: Sequence[tuple[float, float]], layout: CanvasLayout, line: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """A line that leads back, below the boxes."""
    (x0, y0), (x1, y1) = (layout.centres[n] for n in ends)
    y0, y1 = y0 + sizes[ends[0]][1] / 2, y1 + sizes[ends[1]][1] / 2
    low = max(y0, y1) + BELOW
    yield path(f"M {x0},{y0} C {x0},{low} {x1},{low} {x1},{y1 + 9}", line)
    yield head(f"M {x1},{y1} L {x1 - 5},{y1 + 10} L {x1 + 5},{y1 + 10} Z", line)


# A model, moment by moment


def _lane(name: str) -> str:
    indexed = _INDEXED.fullmatch(name)
    return indexed[1] if indexed else name


def _slices(graph: nx.DiGraph) -> CanvasLayout:
    """One column a moment; the task above all, since it acts on every action."""
    moments = [time for _, time in graph.nodes(data="time") if time is not None]
    last, captions = max(moments, default=0), 190.0
    used = sorted({_ROWS[_lane(name)] for name in graph})
    top = used[0]

    def centre(name: str, time: int | None) -> tuple[float, float]:
        slot = last / 2 + 0.2 if time is None else time + _LATER.get(_lane(name), 0)
        return captions + slot * SLICE, _ROWS[_lane(name)] - top + _SIZE[1] / 2

    centres = tuple(centre(name, time) for name, time in graph.nodes(data="time"))
    width = max(x for x, _ in centres) + _SIZE[0] / 2
    return CanvasLayout(direction="LR", centres=centres, width=width, height=used[-1] - top + _SIZE[1])


def _captions(graph: nx.DiGraph, look: Tokens, scale: float) -> go.Scatter:
    """What each row is."""
    lanes = sorted(
        (_ROWS[_lane(name)], _lane(name), str(graph.nodes[name].get("words", ""))) for name in graph
    )
    rows = [next(group) for _, group in groupby(lanes, key=lambda row: row[0])]
    return text_trace(
        x=[0] * len(rows),
        y=[y - rows[0][0] + _SIZE[1] / 2 for y, _, _ in rows],
        text=["<br>".join(text.figure(part) for part in wrapped(words)) for _, _, words in rows],
        textposition="middle right",
        textfont={"size": max(7, round(12 * scale, 1)), "color": look.muted},
    )


def _straight(
    ends: tuple[int, int], sizes: tuple[tuple[float, float], ...], layout: CanvasLayout, line: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """An arrow from the border of one box to that of another."""
    start, end = (layout.centres[n] for n in ends)
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = hypot(dx, dy) or 1.0
    x0, y0 = _border_point(start, sizes[ends[0]], dx, dy)
    x1, y1 = _border_point(end, sizes[ends[1]], -dx, -dy)
    ux, uy = dx / length, dy / length
    ends_at = {"x0": x0, "y0": y0, "x1": x1 - 6 * ux, "y1": y1 - 6 * uy}
    yield {"type": "line", **ends_at, "line": line, "layer": "below"}
    left, right = (
        (x1 - 10 * ux - 5 * uy, y1 - 10 * uy + 5 * ux),
        (x1 - 10 * ux + 5 * uy, y1 - 10 * uy - 5 * ux),
    )
    yield head(f"M {x1},{y1} L {left[0]},{left[1]} L {right[0]},{right[1]} Z", line)


def _border_point(
    centre: tuple[float, float], size: tuple[float, float], dx: float, dy: float
) -> tuple[float, float]:
    part = min(size[0] / 2 / abs(dx) if dx else 1e9, size[1] / 2 / abs(dy) if dy else 1e9)
    return centre[0] + dx * part, centre[1] + dy * part


def _look_of(node: Mapping[str, Any]) -> StatusLook:
    if node.get("set_by"):
        return _DONE
    return _EXOGENOUS if node.get("exogenous") else _ENDOGENOUS


def _border(look: StatusLook, *, dark: bool) -> str:
    return (
        f'<span style="color:{shade(look.line, dark=dark)}">{"╌" if look.line_name == "dash" else "━"}</span>'
    )


def _symbol(name: str) -> str:
    indexed = _INDEXED.fullmatch(name)
    return f"{indexed[1]}<sub>{indexed[2]}</sub>" if indexed else text.figure(name)


def _named(name: str) -> Box:
    lines = wrapped(text.one_line(name))
    return Box(sub_goals=(name,), status="unscored", critical=False, lines=lines, description=name)
