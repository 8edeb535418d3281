"""A plan graph as a picture, coloured by what a run made of it; statuses have icons and borders, too."""

from __future__ import annotations

import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from untaken.html.markup import Markup, short, tag
from untaken.html.plan_layout import Edge, Layout, Point, lay_out
from untaken.plans import PlanGraph
from untaken.present.statuses import STAR, STATUS, StatusLook
from untaken.subgoals import RunScore, Status

Kind = Literal["needs", "option", "violated"]
PLANNED: Final = StatusLook(word="planned", icon="", fill="#FFFFFF", line="#6B7280")
"""The look of a plan without a run."""
READABLE: Final = 40
"""Larger graphs are described in words, because their picture is not readable."""
LINE_CHARS: Final = 21
LINES: Final = 3
LINE_HEIGHT: Final = 18.0
BOX_WIDTH: Final = 188.0
PAD: Final = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An SVG element, and how many pixels it is wide and high."""

    svg: Markup
    width: float
    height: float


def plan_picture(
    graph: PlanGraph, score: RunScore | None, *, name: str, readable: int = READABLE
) -> Picture | None:
    """The picture, or ``None`` where the graph is too large for one."""
    if not 0 < len(graph.sub_goals) <= readable:
        return None
    looks = {node.sub_goal: STATUS[node.status] for node in score.nodes} if score else {}
    other = STATUS["unscored"] if score else PLANNED
    labels = tuple(_lines(goal.title or goal.id, goal.critical) for goal in graph.sub_goals)
    edges = _edges(graph, score)
    layout = _laid_out(tuple(len(label) for label in labels), tuple(edges))
    boxes = [
        _box(centre, label, looks.get(goal.id, other), goal.critical)
        for goal, centre, label in zip(graph.sub_goals, layout.centres, labels, strict=True)
    ]
    lines = [part for edge, kind in edges.items() for part in _line(layout.lines[edge], kind)]
    width, height = layout.width + 2 * PAD, layout.height + 2 * PAD
    drawn = tag(
        "svg",
        tag("title", f"Plan graph: {short(graph.title or graph.id, 120)}", id=f"{name}-title"),
        tag("desc", described(graph, score), id=f"{name}-desc"),
        tag("g", *lines, *boxes, transform=f"translate({PAD:g} {PAD:g})"),
        viewBox=f"0 0 {width:g} {height:g}",
        width=round(width),
        height=round(height),
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )
    return Picture(svg=drawn, width=width, height=height)


def described(graph: PlanGraph, score: RunScore | None) -> str:
    """What the picture shows, for who does not see it."""
    if score is None:
        return f"{len(graph.sub_goals)} sub-goals, {sum(goal.critical for goal in graph.sub_goals)} critical."
    counts = Counter(node.status for node in score.nodes)
    parts = ", ".join(f"{counts[status]} {look.word}" for status, look in STATUS.items() if counts[status])
    titles = {goal.id: goal.title or goal.id for goal in graph.sub_goals}
    undone = [n for n in score.nodes if n.critical and n.completed is False and n.status != "not_required"]
    named = ", ".join(short(titles.get(n.sub_goal, n.sub_goal)) for n in undone)
    return f"{len(graph.sub_goals)} sub-goals: {parts}." + (
        f" Critical and not completed: {named}." if named else ""
    )


def _lines(title: str, critical: bool) -> tuple[str, ...]:
    """The label, wrapped, with room for the icon and the star in front of it."""
    shown = short(title, 120)
    room = LINE_CHARS // 2 if any(unicodedata.east_asian_width(c) in "WF" for c in shown) else LINE_CHARS
    marks = "xxx" if critical else "x"
    wrapped = textwrap.wrap(f"{marks} {shown}", room, max_lines=LINES, placeholder=" …")
    return (wrapped[0].removeprefix(marks).lstrip(), *wrapped[1:])


@lru_cache(maxsize=256)
def _laid_out(lines: tuple[int, ...], edges: tuple[Edge, ...]) -> Layout:
    """Many runs share a graph: it is laid out once."""
    return lay_out([(BOX_WIDTH, n * LINE_HEIGHT + 22.0) for n in lines], edges)


def _edges(graph: PlanGraph, score: RunScore | None) -> dict[Edge, Kind]:
    """What a longer way implies is left out: it would run behind the boxes on that way."""
    import networkx as nx  # noqa: PLC0415 (slow)

    place = {goal.id: number for number, goal in enumerate(graph.sub_goals)}
    broken = score.violations if score else ()
    reached = {(v.dependency, v.sub_goal) for v in broken if v.kind == "critical"}
    kinds: dict[Edge, Kind] = {}
    for goal in graph.sub_goals:
        for option in goal.any_of:
            kinds[place[option], place[goal.id]] = "option"
        for dep in goal.deps:
            kinds[place[dep], place[goal.id]] = "violated" if (dep, goal.id) in reached else "needs"
    drawn = nx.DiGraph(list(kinds))
    kept = nx.transitive_reduction(drawn).edges if nx.is_directed_acyclic_graph(drawn) else ()
    return {edge: kind for edge, kind in kinds.items() if edge in kept}


def _box(centre: Point, label: Sequence[str], look: StatusLook, critical: bool) -> Markup:
    x, y = centre
    height = len(label) * LINE_HEIGHT + 22.0
    width = 4 if critical else 2
    rectangle = tag(
        "rect",
        x=f"{x - BOX_WIDTH / 2 + width / 2:g}",
        y=f"{y - height / 2 + width / 2:g}",
        width=f"{BOX_WIDTH - width:g}",
        height=f"{height - width:g}",
        rx=9,
        fill=look.fill,
        stroke=look.line,
        stroke_width=width,
        stroke_dasharray=_dash(look),
    )
    marks = "".join(f"{mark} " for mark in (look.icon, STAR if critical else "") if mark)
    first = y - (len(label) - 1) * LINE_HEIGHT / 2 + 5
    rows = [
        tag("text", (marks if n == 0 else "") + row, x=f"{x:g}", y=f"{first + n * LINE_HEIGHT:g}")
        for n, row in enumerate(label)
    ]
    return tag("g", rectangle, tag("g", *rows, text_anchor="middle", style=f"--text:{look.ink}"))


def _line(points: Sequence[Point], kind: Kind) -> Iterator[Markup]:
    (x, y), before = points[-1], points[:-1]
    ends = [*before, (x, y - 8)]
    way = f"M{ends[0][0]:g} {ends[0][1]:g}" + "".join(
        f"C{a:g} {(b + d) / 2:g} {c:g} {(b + d) / 2:g} {c:g} {d:g}" for (a, b), (c, d) in pairwise(ends)
    )
    yield tag("path", d=way, class_=f"edge {kind}")
    yield tag("path", d=f"M{x:g} {y:g}l-5 -10h10z", class_=f"head {kind}")


def legend(seen: Mapping[Status, int], *, critical: bool, violated: bool) -> Markup:
    """What colours, icons and lines say: of the statuses that are there."""
    items = [
        tag("li", _swatch(status), f"{STATUS[status].icon} {STATUS[status].word}")
        for status in STATUS
        if seen.get(status)
    ]
    if critical:
        items.append(tag("li", f"{STAR} critical: later sub-goals require it"))
    if violated:
        sample = tag("path", d="M1 8h26", class_="edge violated")
        items.append(
            tag("li", tag("svg", sample, width=28, height=16, aria_hidden="true"), "reached without it")
        )
    return tag("ul", *items, class_="legend")


def _swatch(status: Status) -> Markup:
    look = STATUS[status]
    box = tag(
        "rect",
        x=1,
        y=1,
        width=24,
        height=14,
        rx=4,
        fill=look.fill,
        stroke=look.line,
        stroke_width=2,
        stroke_dasharray=_dash(look),
    )
    return tag("svg", box, width=26, height=16, aria_hidden="true")


def _dash(look: StatusLook) -> str | None:
    return " ".join(map(str, look.dash)) or None
