"""The report's section on two versions of the agents, where runs name versions."""

from __future__ import annotations

from typing import Final

from untaken.analysis import Corpus, SubGoalChange, most_paired
from untaken.numbers import p_value, points
from untaken.views.html.markup import Markup, row, section, short, table, tag
from untaken.views.statuses import STAR
from untaken.views.versions import suspect_words, version_changes, version_headline

MOST: Final = 20


def versions_section(corpus: Corpus, *, full: bool) -> Markup | None:
    """What changed between the versions with most tasks in common; in a focused report only what did."""
    names = most_paired(corpus.runs.values(), "version")
    if names is None:
        return None
    found = version_changes(corpus, *names)
    shown = found.sub_goals[:MOST] if full else found.called
    suspect = suspect_words(found)
    parts = [tag("p", short(suspect, 400), class_="note")] if suspect else []
    if shown:
        heads = ("sub-goal", short(found.a, 30), short(found.b, 30), "difference", "p (Holm)", "changed")
        parts.append(table(heads, map(_row, shown)))
    return section("What changed between versions", short(version_headline(found), 600), *parts)


def _row(one: SubGoalChange) -> Markup:
    return row(
        f"{one.a_completed} of {one.a_reached}",
        f"{one.b_completed} of {one.b_reached}",
        "–" if one.difference is None else f"{points(one.difference, 0)} points",
        p_value(one.p_holm, unknown="–"),
        one.kind or "yes" if one.called else "",
        head=short(one.title, 120) + (f" {STAR}" if one.critical else ""),
    )
