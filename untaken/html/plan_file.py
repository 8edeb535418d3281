"""A plan graph as one SVG file that any viewer opens: no font, style or picture from elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from untaken.errors import UntakenError
from untaken.html.markup import short, stylesheet, tag
from untaken.html.plan_picture import PAD, plan_picture
from untaken.plans import PlanGraph
from untaken.present.statuses import STAR, STATUS
from untaken.subgoals import RunScore

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
        tag("rect", width=width, height=height, fill="#ffffff"),
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
        counts = Counter(node.status for node in score.nodes)
        yield from (f"{look.icon} {look.word}: {counts[s]}" for s, look in STATUS.items() if counts[s])
        if any(violation.kind == "critical" for violation in score.violations):
            yield "╌ reached without it"
    if any(goal.critical for goal in graph.sub_goals):
        yield f"{STAR} critical"
    if any(goal.any_of for goal in graph.sub_goals):
        yield "┈ any one is enough"
