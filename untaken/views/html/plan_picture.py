"""A plan graph as a picture, coloured by what a run made of it; statuses have icons and borders, too.

`plan_svg` is one file that any viewer opens: no font, style or picture from elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from untaken.errors import UntakenError
from untaken.numbers import counted
from untaken.plans import PlanGraph
from untaken.scoring import RunScore
from untaken.views.html.markup import Markup, short, stylesheet, tag
from untaken.views.plan_drawing import LINE_HEIGHT, Box, draw
from untaken.views.plan_layout import Point, arrow
from untaken.views.statuses import (
    BORDER,
    CRITICAL_BORDER,
    STAR,
    STATUS,
    StatusLook,
    StatusName,
    shown_status,
)

PLANNED: Final = StatusLook(word="planned", icon="", fill="#FFFFFF", line="#6B7280")
"""The look of a plan without a run."""
READABLE: Final = 40
"""Larger graphs are described in words, because their picture is not readable."""
PAD: Final = 4.0


class Picture(Struct, frozen=True, kw_only=True):
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
    drawing = draw(graph, score, readable=readable, icons=score is not None)
    layout = drawing.downwards
    boxes = [
        _box(box, centre, STATUS[box.status] if score else PLANNED)
        for box, centre in zip(drawing.boxes, layout.centres, strict=True)
    ]
    lines = [
        tag("path", d=way, class_=f"{part} {kind}")
        for start, end, kind in drawing.lines
        for part, way in zip(("edge", "head"), arrow(layout.lines[start, end]), strict=True)
    ]
    width, height = layout.width + 2 * PAD, layout.height + 2 * PAD
    drawn = tag(
        "svg",
        # Ids begin with `name`: a page may hold several pictures.
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
        critical = sum(goal.critical for goal in graph.sub_goals)
        return f"{counted(len(graph.sub_goals), 'sub-goal')}, {critical} critical."
    counts = Counter(shown_status(node) for node in score.results)
    parts = ", ".join(f"{counts[status]} {look.word}" for status, look in STATUS.items() if counts[status])
    titles = {goal.id: goal.title or goal.id for goal in graph.sub_goals}
    undone = [n for n in score.results if n.critical and n.completed is False and n.status != "not_required"]
    named = ", ".join(short(titles.get(n.sub_goal, n.sub_goal)) for n in undone)
    return f"{counted(len(graph.sub_goals), 'sub-goal')}: {parts}." + (
        f" Critical and not completed: {named}." if named else ""
    )


def _box(box: Box, centre: Point, look: StatusLook) -> Markup:
    (x, y), (wide, high) = centre, box.size
    width = CRITICAL_BORDER if box.critical else BORDER
    # SVG draws half of a border outside of its rectangle, so the rectangle is smaller by that much.
    rectangle = tag(
        "rect",
        x=f"{x - wide / 2 + width / 2:g}",
        y=f"{y - high / 2 + width / 2:g}",
        width=f"{wide - width:g}",
        height=f"{high - width:g}",
        rx=9,
        fill=look.fill,
        stroke=look.line,
        stroke_width=width,
        stroke_dasharray=_dash(look),
    )
    first = y - (len(box.lines) - 1) * LINE_HEIGHT / 2 + 5
    rows = [tag("text", row, x=f"{x:g}", y=f"{first + n * LINE_HEIGHT:g}") for n, row in enumerate(box.lines)]
    return tag("g", rectangle, tag("g", *rows, text_anchor="middle", style=f"--text:{look.ink}"))


def legend(seen: Mapping[StatusName, int], *, critical: bool, violated: bool) -> Markup:
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
            tag(
                "li",
                tag("svg", sample, width=28, height=16, aria_hidden="true"),
                "went on without a critical step",
            )
        )
    return tag("ul", *items, class_="legend")


def _swatch(status: StatusName) -> Markup:
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


LARGEST: Final = 400
"""Sub-goals: of more, laying out takes minutes and shows nothing."""
LINE: Final = 20
MARGIN: Final = 16
NARROW: Final = 460
"""Pixels that the words below need."""
NO_XML: Final = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}
"""Characters that no XML file may hold, escaped or not."""
CSS: Final = (
    "text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;fill:#1b2530;"
    # Again, for what does not know variables and so leaves this line out.
    "fill:var(--text,#1b2530)}"
    ".edge{fill:none;stroke:#6b7280;stroke-width:1.5}.edge.option{stroke-dasharray:2 4}"
    ".edge.violated{stroke:#b34e00;stroke-width:3;stroke-dasharray:8 5}"
    ".head{fill:#6b7280}.head.violated{fill:#b34e00}"
)


def plan_svg(graph: PlanGraph, score: RunScore | None = None) -> str:
    """The picture with what its marks mean, as a whole file; equal input gives equal bytes.

    Raises:
        UntakenError: ``graph-not-drawn`` where there is nothing to draw, or too much.
    """
    picture = plan_picture(graph, score, name="plan", readable=LARGEST)
    if picture is None:
        raise UntakenError(
            "graph-not-drawn",
            f"the graph has {len(graph.sub_goals):,} sub-goals; 1 to {LARGEST} can be drawn",
            hint="Export it for another program: `untaken graph export --to mermaid`.",
        )
    words = list(_words(graph, score))
    width = max(round(picture.width), NARROW) + 2 * MARGIN
    height = round(picture.height) + len(words) * LINE + 3 * MARGIN
    rows = [
        tag("text", row, x=MARGIN + PAD, y=round(picture.height) + 2 * MARGIN + (n + 1) * LINE - 6)
        for n, row in enumerate(words)
    ]
    drawn = tag(
        "svg",
        tag("title", short(graph.title or graph.id, 120)),
        stylesheet(CSS),
        tag("rect", width=width, height=height, fill="#ffffff"),  # the words are dark, whatever is behind
        tag("g", picture.svg, transform=f"translate({MARGIN} {MARGIN})"),
        *rows,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )
    return f"{drawn.translate(NO_XML)}\n"


def _words(graph: PlanGraph, score: RunScore | None) -> Iterator[str]:
    """What is shown, and what the marks mean."""
    yield short(f"{graph.title or graph.id}, version {graph.version}", 60)
    if score is not None:
        yield short(f"Run {score.run_id} of {score.agent}", 60)
        counts = Counter(shown_status(node) for node in score.results)
        yield from (f"{look.icon} {look.word}: {counts[s]}" for s, look in STATUS.items() if counts[s])
        if any(violation.kind == "critical" for violation in score.violations):
            yield "╌ went on without a critical step"
    if any(goal.critical for goal in graph.sub_goals):
        yield f"{STAR} critical"
    if any(goal.any_of for goal in graph.sub_goals):
        yield "┈ any one is enough"
