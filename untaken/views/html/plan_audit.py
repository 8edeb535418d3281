"""The report's section on the plan itself: what of it the runs put in doubt."""

from __future__ import annotations

from typing import Final

from untaken.analysis import Corpus, PlanAudit
from untaken.numbers import decimal
from untaken.views.audit import audit_corpus, writes_in_words
from untaken.views.html.markup import Markup, row, section, short, table
from untaken.views.statuses import STAR

MOST: Final = 40
TASKS: Final = 10


def audit_section(corpus: Corpus, *, full: bool) -> Markup | None:
    """Doubtful, blind and contested sub-goals, doubtful edges; in a full report the tasks, too."""
    if not corpus.graphs.graphs:
        return None
    found = audit_corpus(corpus)
    rows = [*_sub_goals(found), *_edges(found)]
    tasks = [task for task in found.tasks if task.proposed is not None] if full else []
    if not rows and not tasks:
        return None
    parts = [table(("sub-goal or edge", "verdict", "why", "proposed"), rows[:MOST])] if rows else []
    if tasks:
        parts.append(_tasks(found))
    return section("Is the plan right?", f"{found.headline}.", *parts)


def _sub_goals(found: PlanAudit) -> list[Markup]:
    return [
        row(
            one.verdict,
            short(one.why, 200),
            short(one.proposed_words, 120) or "–",
            head=short(one.title or one.sub_goal, 120) + (f" {STAR}" if one.critical else ""),
        )
        for one in found.to_look_at
    ]


def _edges(found: PlanAudit) -> list[Markup]:
    return [
        row(one.verdict, short(one.why, 200), "–", head=short(f"{one.dependency} → {one.sub_goal}", 120))
        for one in found.doubtful_edges
    ]


def _tasks(found: PlanAudit) -> Markup:
    rows = [
        row(
            decimal(one.doubt, 2),
            f"{round(one.passed * one.runs)} of {one.runs}",  # `passed` is a share
            f"{one.agree} of {one.runs}",
            short(writes_in_words(one) or "", 200),
            head=short(one.task_id, 60),
        )
        for one in found.tasks[:TASKS]
        if one.proposed is not None
    ]
    return table(("task", "doubt", "succeeded", "agree", "on other writes"), rows, "Tasks to look at")
