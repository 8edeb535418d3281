"""The coloured plan graph as a figure, and two versions of one: what came, what went, what changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import plotly.graph_objects as go

from untaken.plans import GraphDiff, PlanGraph, SubGoal, edges
from untaken.scoring import RunScore
from untaken.views import STAR, STATUS, Box, Drawing, StatusLook, draw, larger, wrapped

from ..shared import text
from ..shared.palette import Tokens, tokens
from .canvas import HEIGHT, WIDTH, both_ways, box_figure, plain_box
from .theme import message

Change = Literal["kept", "added", "removed", "changed"]


LOOKS: Final[dict[Change, StatusLook]] = {
    "kept": StatusLook(word="as before", icon="", fill="#FFFFFF", line="#6B7280"),
    "added": StatusLook(word="added", icon="+", fill="#BFE0F7", line="#0B5C94"),
    "removed": StatusLook(word="removed", icon="−", fill="#EEF0F2", line="#6B7280", dash=(7, 5)),
    "changed": StatusLook(word="changed", icon="~", fill="#FFD199", line="#B34E00", dash=(2, 4)),
}
"""How each change is shown: mark, line and colour."""
WIDE: Final = 3.0


def plan_diff_figure(diff: GraphDiff, *, dark: bool = False) -> go.Figure:
    """Draw both versions at once."""
    goals = [*diff.after.sub_goals, *diff.removed]  # what was removed is drawn, too
    if not goals:
        return message("Neither version has a sub-goal", dark=dark)
    changes = _changes(diff)
    boxes = [_box(goal, changes) for goal in goals]
    lines = _lines(diff, {goal.id: place for place, goal in enumerate(goals)})
    return box_figure(
        boxes,
        [LOOKS[changes.get(goal.id, "kept")].shaded(dark=dark) for goal in goals],
        both_ways(boxes, lines),
        [(ends, _style(kind, tokens(dark))) for ends, kind in lines.items()],
        _legend(changes, lines),
        description=_description(diff),
        dark=dark,
    )


def _changes(diff: GraphDiff) -> dict[str, Change]:
    changes: dict[str, Change] = {goal.sub_goal: "changed" for goal in diff.changed}
    changes |= {goal.id: "added" for goal in diff.added}
    changes |= {goal.id: "removed" for goal in diff.removed}
    return changes


def _box(goal: SubGoal, changes: Mapping[str, Change]) -> Box:
    look = LOOKS[changes.get(goal.id, "kept")]
    marks = [look.icon, STAR if goal.critical else ""]
    words = text.one_line(" ".join([*filter(None, marks), goal.title or goal.id]))
    description = text.one_line(f"{goal.title or goal.id} ({goal.id}): {look.word}", 160)
    return plain_box(goal.id, wrapped(words), description, critical=goal.critical)


def _lines(diff: GraphDiff, place: Mapping[str, int]) -> dict[tuple[int, int], Change]:
    added = {(edge.dependency, edge.sub_goal) for edge in diff.edges_added}
    kinds: dict[tuple[int, int], Change] = {}
    for a, b in edges(diff.after):
        kinds[place[a], place[b]] = "added" if (a, b) in added else "kept"
    for edge in diff.edges_removed:
        kinds[place[edge.dependency], place[edge.sub_goal]] = "removed"
    return kinds


def _style(kind: Change, look: Tokens) -> dict[str, Any]:
    if kind == "added":
        return {"color": look.good, "width": WIDE, "dash": "solid"}
    if kind == "removed":
        return {"color": look.bad, "width": 1.5, "dash": "dash"}
    return {"color": look.line, "width": 1.5, "dash": "solid"}


def _legend(changes: Mapping[str, Change], lines: Mapping[tuple[int, int], Change]) -> list[str]:
    there = set(changes.values())
    words = [f"{look.icon} {look.word}" for change, look in LOOKS.items() if change in there]
    drawn = set(lines.values())
    words += ["━▸ edge added"] if "added" in drawn else []
    words += ["╌▸ edge removed"] if "removed" in drawn else []
    return words or ["nothing differs in what is drawn"]


def _description(diff: GraphDiff) -> str:
    counts = {
        "added": len(diff.added),
        "removed": len(diff.removed),
        "changed": len(diff.changed),
        "edges added": len(diff.edges_added),
        "edges removed": len(diff.edges_removed),
    }
    parts = ", ".join(f"{count} {words}" for words, count in counts.items() if count)
    return f"Two versions of a plan graph: {parts or 'nothing differs in what is drawn'}"


def plan_figure(graph: PlanGraph, score: RunScore | None = None, *, dark: bool = False) -> go.Figure:
    """Draw a plan graph, coloured by what a run made of it."""
    drawing = draw(graph, score)
    if not drawing.boxes:
        return message("This graph has no sub-goals: nothing was expected", dark=dark)
    look = tokens(dark)
    return box_figure(
        drawing.boxes,
        [STATUS[box.status].shaded(dark=dark) for box in drawing.boxes],
        larger(drawing.layouts, WIDTH, HEIGHT),
        [((start, end), _line_style(kind, look)) for start, end, kind in drawing.lines],
        _status_legend(drawing, look),
        description=drawing.description,
        dark=dark,
    )


def _line_style(kind: str, look: Tokens) -> dict[str, Any]:
    if kind == "violated":
        return {"color": look.bad, "width": 3, "dash": "dash"}
    return {"color": look.line, "width": 1.5, "dash": "dot" if kind == "option" else "solid"}


def _status_legend(drawing: Drawing, look: Tokens) -> list[str]:
    present = [name for name in STATUS if any(box.status == name for box in drawing.boxes)]
    words = [
        f'<span style="color:{look.text}">{STATUS[name].icon}</span> {STATUS[name].word}' for name in present
    ]
    if any(box.critical for box in drawing.boxes):
        words.append(f'<span style="color:{look.text}">{STAR}</span> critical')
    if any(kind == "violated" for _, _, kind in drawing.lines):
        words.append(f'<span style="color:{look.bad}">╌▸</span> went on without a critical step')
    return words
