"""What to draw of a plan graph and a run's score: boxes with words and status, lines, and two layouts.

One drawing serves the app's view, the figure for notebooks, the exported page, the report and the SVG file:
they never disagree.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final, Literal

from msgspec import Struct

from untaken.numbers import counted
from untaken.plans import PlanGraph, SubGoal
from untaken.scoring import RunScore
from untaken.views.plan_layout import Direction, PlanLayout, lay_out
from untaken.views.statuses import STAR, STATUS, StatusName, shown_status
from untaken.visible import Wrapper, one_line

Line = tuple[int, int, Literal["needs", "violated", "option"]]
"""From, to (positions of boxes), and what the line says."""
READABLE: Final = 60
"""Above this many sub-goals finished and unreached branches are collapsed: labels would be unreadable."""
LINE_CHARS: Final = 22
LONG_LINE_CHARS: Final = 30
LINES: Final = 3
CHARACTER_WIDTH: Final = 8.5
LINE_HEIGHT: Final = 18.0
MARGIN: Final = 13.0


class Box(Struct, frozen=True, kw_only=True):
    """One sub-goal, or a collapsed branch of several.

    Attributes:
        sub_goals: the ids it shows; one id unless it is a collapsed branch.
        lines: the label, wrapped: icon and star first.
        description: one line for a screen reader.
    """

    sub_goals: tuple[str, ...]
    status: StatusName
    critical: bool
    lines: tuple[str, ...]
    description: str

    @property
    def collapsed(self) -> bool:
        """Whether it is a collapsed branch."""
        return len(self.sub_goals) > 1

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in pixels."""
        wide = (sum(unicodedata.east_asian_width(c) in "WF" for c in line) for line in self.lines)
        # A wide (East Asian) character takes nearly the width of two.
        longest = max(len(line) + 0.9 * more for line, more in zip(self.lines, wide, strict=True))
        width = max(150.0, longest * CHARACTER_WIDTH + 2 * MARGIN)
        return round(width), round(len(self.lines) * LINE_HEIGHT + 2 * MARGIN - 2)


class Drawing(Struct, frozen=True, kw_only=True):
    """Boxes, lines between their positions, and both layouts, which are made when they are asked for."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    description: str
    hidden: int = 0

    @property
    def sideways(self) -> PlanLayout:
        """From left to right."""
        return self._laid_out("LR")

    @property
    def downwards(self) -> PlanLayout:
        """From top to bottom."""
        return self._laid_out("TB")

    @property
    def layouts(self) -> tuple[PlanLayout, PlanLayout]:
        """Both layouts, left to right first."""
        return self.sideways, self.downwards

    @property
    def digest(self) -> str:
        """Changes when anything that is drawn changes, other than a box's status."""
        # Without statuses: a view that shows another run need not be laid out again.
        parts = repr((tuple(b.sub_goals for b in self.boxes), self.lines, self.layouts))
        return hashlib.sha256(parts.encode()).hexdigest()[:16]

    def _laid_out(self, direction: Direction) -> PlanLayout:
        edges = dict.fromkeys((start, end) for start, end, _ in self.lines)  # once each, in order
        return lay_out(tuple(box.size for box in self.boxes), tuple(edges), direction)


def draw(
    graph: PlanGraph,
    score: RunScore | None = None,
    *,
    expanded: Collection[str] = (),
    around: str | None = None,
    readable: int = READABLE,
    every_line: bool = False,
    icons: bool = True,
) -> Drawing:
    """Decide what to draw.

    Args:
        graph: a valid plan graph.
        score: the run's score; without one every sub-goal is unscored.
        expanded: ids of sub-goals whose branch is not to be collapsed.
        around: draw only this sub-goal, what it needs and what needs it.
        readable: number of sub-goals above which branches are collapsed.
        every_line: draw also the lines that a longer way implies: where lines are edited, all of them stand.
        icons: begin labels with the icon of their status.
    """
    from untaken.views import plan_branches as branches  # noqa: PLC0415 (slow: it loads networkx)

    status: dict[str, StatusName] = {goal.id: "unscored" for goal in graph.sub_goals}
    status |= (
        {node.sub_goal: shown_status(node) for node in score.results if node.sub_goal in status}
        if score
        else {}
    )
    goals = branches.around(graph.sub_goals, around)
    noted = {goal for v in score.violations for goal in (v.sub_goal, v.dependency)} if score else set()
    groups = [[goal] for goal in goals]
    if len(goals) > readable:
        groups = branches.groups_of(goals, status, noted, expanded)
    boxes = tuple(_box(group, status, icons=icons) for group in groups)
    place = {goal.id: number for number, group in enumerate(groups) for goal in group}
    lines = tuple(dict.fromkeys(_lines(goals, place, score)))  # those between two branches are one
    if not every_line:
        kept = branches.reduced([line[:2] for line in lines])
        lines = tuple(line for line in lines if line[:2] in kept)
    return Drawing(
        boxes=boxes,
        lines=lines,
        description=_description(goals, status),
        hidden=len(graph.sub_goals) - len(goals),
    )


def _box(group: list[SubGoal], status: dict[str, StatusName], *, icons: bool) -> Box:
    first = group[0]
    shown = status[first.id]
    if len(group) > 1:
        # A finished branch may also contain sub-goals that were not required.
        shown = "completed" if any(status[goal.id] == "completed" for goal in group) else shown
        words = f"{len(group)} {STATUS[shown].word}"
    else:
        words = first.title or first.id
    critical = any(goal.critical for goal in group)
    marks = [STATUS[shown].icon] * icons + [STAR] * critical
    description = f"{one_line(words)}: {STATUS[shown].word}{', critical' if critical else ''}"
    if len(group) > 1:
        description = f"branch of {description}. Press Enter to open it."
    return Box(
        sub_goals=tuple(goal.id for goal in group),
        status=shown,
        critical=critical,
        lines=wrapped(" ".join([*marks, one_line(words)])),
        description=description,
    )


def _lines(goals: list[SubGoal], place: dict[str, int], score: RunScore | None) -> Iterable[Line]:
    broken = (
        {(v.dependency, v.sub_goal) for v in score.violations if v.kind == "critical"} if score else set()
    )
    for goal in goals:
        for dep in goal.deps:
            if dep in place and place[dep] != place[goal.id]:
                yield place[dep], place[goal.id], "violated" if (dep, goal.id) in broken else "needs"
        for option in goal.any_of:
            # A need is drawn as one.
            if option in place and place[option] != place[goal.id] and option not in goal.deps:
                yield place[option], place[goal.id], "option"


def _description(goals: list[SubGoal], status: dict[str, StatusName]) -> str:
    counts = Counter(status[goal.id] for goal in goals)
    parts = [f"{counts[name]} {STATUS[name].word}" for name in STATUS if counts[name]]
    return f"Plan graph with {counted(len(goals), 'sub-goal')}: {', '.join(parts)}"


def wrapped(words: str) -> tuple[str, ...]:
    """A label in the lines of its box; a long one gets a wider box before it is cut."""
    width = LINE_CHARS if len(words) <= LINE_CHARS * LINES else LONG_LINE_CHARS
    return tuple(Wrapper(width, max_lines=LINES, placeholder=" …").wrap(words)) or (words,)
