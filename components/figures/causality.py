"""Causal graphs: the structural causal model of planning, and what acts on a task in one state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import networkx as nx
import plotly.graph_objects as go

from untaken.simulator import CausalState, EdgeKind, StructuralCausalModel
from untaken.views import INK, STAR, Box, Edge, PlanLayout, Point, StatusLook, lay_out, shade, wrapped

from ..shared import text
from ..shared.palette import Tokens, tokens
from .canvas import arrow, box_figure, box_shapes, canvas, labels, plain_box
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
_LEAST: Final = 640
"""Pixels below which the words would not fit their boxes."""
_INDEXED: Final = re.compile(r"([a-z]+)_([0-9]+)")


def state_causality_figure(state: CausalState, *, dark: bool = False) -> go.Figure:
    """Draw what acts on a task in one state: kept variables with their values, edges by their kind."""
    if state.unscored or not state.edges:
        return message(
            text.figure(state.summary if state.unscored else "Nothing acts on this task", 160), dark=dark
        )
    nodes = _nodes(state)
    boxes = [_box(name, kind, state) for name, kind in nodes.items()]
    place = {name: number for number, name in enumerate(nodes)}
    lines = {(place[e.cause], place[e.effect]): e.kind for e in state.edges}
    look = tokens(dark)
    return box_figure(
        boxes,
        [_NODES[kind].shaded(dark=dark) for kind in nodes.values()],
        lay_out(tuple(box.size for box in boxes), tuple(lines), "LR"),
        [(ends, _style(kind, look)) for ends, kind in lines.items()],
        _legend(nodes, state, look),
        description=f"What acts on {text.figure(state.goal)}: {state.summary}, {len(state.edges)} edges",
        dark=dark,
        least_width=_LEAST,
    )


def scm_figure(model: StructuralCausalModel | nx.DiGraph, *, dark: bool = False) -> go.Figure:
    """Draw a structural causal model: a column for each moment where its variables have one."""
    graph = model.graph() if isinstance(model, StructuralCausalModel) else model
    if not graph:
        return message("This model has no variables", dark=dark)
    names = list(graph)
    sizes = tuple(_size(name) for name in names)
    place = {name: number for number, name in enumerate(names)}
    ends = tuple((place[a], place[b]) for a, b in graph.edges)
    # A model without moments is laid out like any other graph.
    sliced = all(_lane(name) in _ROWS for name in names)
    layout = _slices(graph, ends) if sliced else lay_out(sizes, ends, "LR")
    look, looks = tokens(dark), [_look_of(graph.nodes[name]) for name in names]
    shaded = [one.shaded(dark=dark) for one in looks]
    line = {"color": look.line, "width": 1.5, "dash": "solid"}
    shapes = [part for pair in ends for part in arrow(layout.lines[pair], line)]
    drawn = [one for one in (_ENDOGENOUS, _EXOGENOUS, _DONE) if one in looks]
    name = text.figure(graph.graph.get("name") or "Causal graph")
    figure, scale = canvas(
        layout,
        [*shapes, *box_shapes(sizes, layout, shaded, [one is _DONE for one in looks])],
        [f"{_swatch(one, dark=dark)} {one.word}" for one in drawn],
        description=f"{name}: {len(names)} variables, {len(ends)} edges",
        dark=dark,
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
    return plain_box(name, lines, description, critical=kind == "task")


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


# A model, moment by moment


def _lane(name: str) -> str:
    indexed = _INDEXED.fullmatch(name)
    return indexed[1] if indexed else name


def _slices(graph: nx.DiGraph, ends: Sequence[Edge]) -> PlanLayout:
    """One column a moment; the task above all, since it acts on every action. Lines are straight."""
    moments = [time for _, time in graph.nodes(data="time") if time is not None]
    # `captions` is the room for the words of the rows, left of the first moment.
    last, captions = max(moments, default=0), 190.0
    used = sorted({_ROWS[_lane(name)] for name in graph})
    top = used[0]

    def centre(name: str, time: int | None) -> tuple[float, float]:
        slot = last / 2 + 0.2 if time is None else time + _LATER.get(_lane(name), 0)
        return captions + slot * SLICE, _ROWS[_lane(name)] - top + _SIZE[1] / 2

    centres = tuple(centre(name, time) for name, time in graph.nodes(data="time"))
    width = max(x for x, _ in centres) + _SIZE[0] / 2
    lines = {(a, b): (_border(centres[a], centres[b]), _border(centres[b], centres[a])) for a, b in ends}
    height = used[-1] - top + _SIZE[1]
    return PlanLayout(direction="LR", centres=centres, lines=lines, width=width, height=height)


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


def _border(centre: Point, other: Point) -> Point:
    """Where a straight line from the middle of a box to that of another leaves it."""
    dx, dy = other[0] - centre[0], other[1] - centre[1]
    # Through the side that it reaches first; it never reaches one that it is parallel to.
    part = min(_SIZE[0] / 2 / abs(dx) if dx else 1e9, _SIZE[1] / 2 / abs(dy) if dy else 1e9)
    return centre[0] + dx * part, centre[1] + dy * part


def _look_of(node: Mapping[str, Any]) -> StatusLook:
    if node.get("set_by"):
        return _DONE
    return _EXOGENOUS if node.get("exogenous") else _ENDOGENOUS


def _swatch(look: StatusLook, *, dark: bool) -> str:
    return (
        f'<span style="color:{shade(look.line, dark=dark)}">{"╌" if look.line_name == "dash" else "━"}</span>'
    )


def _symbol(name: str) -> str:
    indexed = _INDEXED.fullmatch(name)
    return f"{indexed[1]}<sub>{indexed[2]}</sub>" if indexed else text.figure(name)


def _size(name: str) -> tuple[float, float]:
    """A symbol has a small box, a name one that holds its words."""
    if _INDEXED.fullmatch(name) or len(name) < 3:
        return _SIZE
    return plain_box(name, wrapped(text.one_line(name)), name).size
