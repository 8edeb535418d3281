"""What an edited plan graph would change, and a discovered draft with what each edge rests on."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from untaken.analysis import Preview
from untaken.numbers import counted, interval, percent
from untaken.plans import ProposedGraph, SubGoal, Support, edges
from untaken.scoring import Status
from untaken.views import BORDER, STATUS, Box, PlanLayout, StatusLook, wrapped

from ..shared import text
from ..shared.palette import Tokens, tokens
from .canvas import both_ways, box_figure, plain_box
from .parts import row_names, text_trace, words_at
from .theme import message, themed

Flow = tuple[Status | None, Status | None]
MOST_ROWS: Final = 40
ROW: Final = 46
COLUMN: Final = 128
HEAD: Final = 92
GONE: Final = StatusLook(word="not there", icon="∅", fill="#FFFFFF", line="#6B7280", dash=(2, 4))
FOUND: Final = StatusLook(word="found", icon="", fill="#F3F7FB", line="#4A5968")
STRONG: Final = 3.5
"""Width of an edge that every run keeps; one at the threshold is as thin as any line."""


def status_changes(seen: Preview, *, dark: bool = False) -> go.Figure:
    """Sub-goals × changes of status: in how many runs each would change, from what to what.

    A cell's left edge has the colour of the status now, the rest that of the status after; it holds the
    number of runs.
    """
    if not seen.changes:
        return message("No run would change the status of a sub-goal", dark=dark)
    columns, rows = _ranked(seen.flows)
    look = tokens(dark)
    figure = go.Figure()
    cells = [
        (x, y, flow, seen.flows[name, *flow])
        for y, name in enumerate(rows)
        for x, flow in enumerate(columns)
        if (name, *flow) in seen.flows
    ]
    figure.update_layout(shapes=[shape for x, y, flow, _ in cells for shape in _cell(x, y, flow, dark=dark)])
    figure.add_trace(
        text_trace(
            x=[x for x, *_ in cells],
            y=[y for _, y, *_ in cells],
            text=[f"<b>{runs:,}</b>" for *_, runs in cells],
            textfont={
                "size": 15,
                "color": [_style(flow[1]).shaded(dark=dark).ink for _, _, flow, _ in cells],
            },
            hovertext=[
                f"{text.figure(rows[y])}: {_words(flow)}<br>{runs:,} of {counted(seen.runs, 'run')}"
                for _, y, flow, runs in cells
            ],
        )
    )
    themed(figure, dark=dark, height=HEAD + ROW * len(rows) + 16, margin=(8, 8, HEAD, 8))
    _axes(figure, columns, rows, look)
    least = 220 + COLUMN * len(columns)
    moved = len({change.digest for change in seen.changes})
    runs = counted(seen.runs, "run")
    words = f"{moved} of {runs} would change the status of a sub-goal if the graph were saved"
    figure.update_layout(meta={"description": words, "least_width": min(least, 1_600)})
    return figure


def _ranked(flows: Mapping[tuple[str, Status | None, Status | None], int]) -> tuple[list[Flow], list[str]]:
    """Changes and sub-goals, those of most runs first."""
    columns, rows = Counter[Flow](), Counter[str]()
    for (name, before, after), runs in flows.items():
        columns[before, after] += runs
        rows[name] += runs
    return [flow for flow, _ in columns.most_common()], [name for name, _ in rows.most_common(MOST_ROWS)]


def _cell(x: int, y: int, flow: Flow, *, dark: bool) -> list[dict[str, Any]]:
    before, after = (_style(status).shaded(dark=dark) for status in flow)
    box = {"type": "rect", "y0": y - 0.36, "y1": y + 0.36, "layer": "below"}
    line = {"color": after.line, "width": BORDER, "dash": after.line_name}
    return [
        box | {"x0": x - 0.44, "x1": x + 0.44, "fillcolor": after.fill, "line": line},
        box | {"x0": x - 0.44, "x1": x - 0.32, "fillcolor": before.line, "line": {"width": 0}},
    ]


def _axes(figure: go.Figure, columns: Sequence[Flow], rows: Sequence[str], look: Tokens) -> None:
    for x, (before, after) in enumerate(columns):
        one, other = _style(before), _style(after)
        words = f"{one.icon} {_short(one)}<br>↓<br>{other.icon} {_short(other)}"
        words_at(figure, words, x, -0.5, look.text, yanchor="bottom", yshift=4, align="center")
    # Never fewer than three columns wide: a single one would fill the figure.
    figure.update_xaxes(visible=False, range=[-0.6, max(len(columns) - 0.4, 2.4)])
    row_names(figure, [_folded(name) for name in rows], look=look, size=13)


def _folded(name: str) -> str:
    return "<br>".join(map(text.figure, textwrap.wrap(text.one_line(name, 44), 24) or [" "]))


def _style(status: Status | None) -> StatusLook:
    return GONE if status is None else STATUS[status]


def _short(style: StatusLook) -> str:
    return style.word.split(",", maxsplit=1)[0]


def _words(flow: Flow) -> str:
    before, after = map(_style, flow)
    return f"{before.icon} {before.word} → {after.icon} {after.word}"


def draft_figure(draft: ProposedGraph, *, dark: bool = False) -> go.Figure:
    """A discovered draft: each edge with the runs that keep the order, of those that hold both."""
    goals = draft.graph.sub_goals
    if not goals:
        return message("No sub-goal is in enough runs", dark=dark)
    held = {found.sub_goal: found.runs for found in draft.sub_goals}
    boxes = [_box(goal, held.get(goal.id), draft.runs) for goal in goals]
    place = {goal.id: number for number, goal in enumerate(goals)}
    pairs = [(place[a], place[b]) for a, b in edges(draft.graph)]
    layout = both_ways(boxes, pairs)
    known = {(place[edge.dependency], place[edge.sub_goal]): edge for edge in draft.edges}
    look = tokens(dark)
    runs = counted(draft.runs, "run")
    legend = f"on an edge: runs in this order / runs with both · θ = {draft.theta:g} · n = {runs}"
    figure = box_figure(
        boxes,
        [FOUND.shaded(dark=dark)] * len(boxes),
        layout,
        [(ends, _line(known.get(ends), draft, look)) for ends in pairs],
        [legend],
        description=f"Draft with {counted(len(goals), 'sub-goal')} and {counted(len(draft.edges), 'edge')} "
        f"from {counted(draft.runs, 'run')}",
        dark=dark,
    )
    _counts(figure, known, layout, look)
    return figure


def _box(goal: SubGoal, runs: int | None, of: int) -> Box:
    name = text.one_line(goal.title or goal.id)
    count = f"any one of {len(goal.any_of)}" if runs is None else f"in {runs:,} of {counted(of, 'run')}"
    lines = (*wrapped(name), f"({count})")
    return plain_box(goal.id, lines, f"{name}: {count}", critical=goal.critical)


def _line(edge: Support | None, draft: ProposedGraph, look: Tokens) -> dict[str, Any]:
    span = max(1 - draft.theta, 1e-9)  # with θ = 1 every edge is at the threshold
    strength = 0.0 if edge is None else min(1.0, max(0.0, (edge.share - draft.theta) / span))
    return {"color": look.good, "width": 1.5 + (STRONG - 1.5) * strength, "dash": "solid"}


def _counts(
    figure: go.Figure, known: Mapping[tuple[int, int], Support], layout: PlanLayout, look: Tokens
) -> None:
    """Support on the middle of each edge."""
    for ends, edge in known.items():
        middle = len(layout.lines[ends]) // 2
        # An edge may bend around boxes: the middle of its own points, not of its two ends.
        (x0, y0), (x1, y1) = layout.lines[ends][middle - 1 : middle + 1]
        hover = (
            f"first in {edge.first:,} of {counted(edge.both, 'run')} with both"
            f" ({percent(edge.share)}, 95% {interval(edge.low, edge.high, percent)}), {edge.agents:,} agents"
        )
        words, at = f"{edge.first:,}/{edge.both:,}", ((x0 + x1) / 2, (y0 + y1) / 2)
        words_at(figure, words, *at, look.text, bgcolor=look.background, borderpad=1, hovertext=hover)
