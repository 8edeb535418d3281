"""Two versions of a plan graph in one drawing: what came, what went, what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import plotly.graph_objects as go

from untaken.plans import GraphDiff, SubGoal, edges

from ..plan.drawing import Box, wrapped
from ..plan.layout import CanvasLayout, larger, lay_out
from ..shared import text
from ..shared.palette import BORDER, CRITICAL_BORDER, INK, STAR, Tokens, shade, tokens
from .canvas import canvas
from .plan import arrow, corners, rounded
from .theme import message

Change = Literal["kept", "added", "removed", "changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How each change is shown: mark, line and colour."""

    word: str
    mark: str
    fill: str
    line: str
    dash: str = "solid"


LOOKS: Final[dict[Change, Look]] = {
    "kept": Look(word="as before", mark="", fill="#FFFFFF", line="#6B7280"),
    "added": Look(word="added", mark="+", fill="#BFE0F7", line="#0B5C94"),
    "removed": Look(word="removed", mark="−", fill="#EEF0F2", line="#6B7280", dash="dash"),
    "changed": Look(word="changed", mark="~", fill="#FFD199", line="#B34E00", dash="dot"),
}
WIDE: Final = 3.0


def plan_diff_figure(
    diff: GraphDiff, *, dark: bool = False, width: int = 960, height: int = 560
) -> go.Figure:
    """Draw both versions at once."""
    goals = [*diff.after.sub_goals, *diff.removed]
    if not goals:
        return message("Neither version has a sub-goal", dark=dark)
    changes = _changes(diff)
    boxes = [_box(goal, changes) for goal in goals]
    sizes = tuple(box.size for box in boxes)
    lines = _lines(diff, {goal.id: place for place, goal in enumerate(goals)})
    layout = larger([lay_out(sizes, tuple(lines), "LR"), lay_out(sizes, tuple(lines), "TB")], width, height)
    looks = [LOOKS[changes.get(goal.id, "kept")] for goal in goals]
    look = tokens(dark)
    arrows = [part for ends, kind in lines.items() for part in arrow(ends, sizes, layout, _style(kind, look))]
    shapes, legend = [*arrows, *_shapes(boxes, looks, layout, dark=dark)], _legend(changes, lines)
    figure, scale = canvas(
        layout, shapes, legend, description=_description(diff), dark=dark, width=width, height=height
    )
    figure.add_trace(_labels(boxes, layout, scale, dark=dark))
    return figure


def _changes(diff: GraphDiff) -> dict[str, Change]:
    changes: dict[str, Change] = {goal.sub_goal: "changed" for goal in diff.changed}
    changes |= {goal.id: "added" for goal in diff.added}
    changes |= {goal.id: "removed" for goal in diff.removed}
    return changes


def _box(goal: SubGoal, changes: Mapping[str, Change]) -> Box:
    look = LOOKS[changes.get(goal.id, "kept")]
    marks = [look.mark, STAR if goal.critical else ""]
    words = text.one_line(" ".join([*filter(None, marks), goal.title or goal.id]))
    description = text.one_line(f"{goal.title or goal.id} ({goal.id}): {look.word}", 160)
    return Box(
        sub_goals=(goal.id,),
        status="unscored",
        critical=goal.critical,
        lines=wrapped(words),
        description=description,
    )


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


def _shapes(
    boxes: list[Box], looks: list[Look], layout: CanvasLayout, *, dark: bool
) -> Iterator[dict[str, Any]]:
    for box, look, centre in zip(boxes, looks, layout.centres, strict=True):
        width = CRITICAL_BORDER if box.critical else BORDER
        yield {
            "type": "path",
            "path": rounded(*corners(box.size, centre)),
            "fillcolor": shade(look.fill, dark=dark),
            "line": {"color": shade(look.line, dark=dark), "width": width, "dash": look.dash},
            "layer": "below",
        }


def _labels(boxes: list[Box], layout: CanvasLayout, scale: float, *, dark: bool) -> go.Scatter:
    return go.Scatter(
        x=[x for x, _ in layout.centres],
        y=[y for _, y in layout.centres],
        mode="text",
        text=["<br>".join(text.figure(line) for line in box.lines) for box in boxes],
        textfont={"size": max(7, round(14.5 * scale, 1)), "color": shade(INK, dark=dark)},
        hovertext=[text.figure(box.description, 160) for box in boxes],
        hoverinfo="text",
    )


def _legend(changes: Mapping[str, Change], lines: Mapping[tuple[int, int], Change]) -> list[str]:
    there = set(changes.values())
    words = [f"{look.mark} {look.word}" for change, look in LOOKS.items() if change in there]
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
