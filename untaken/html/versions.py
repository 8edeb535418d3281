"""The report's section on the last two versions of the agents, where runs name versions."""

from __future__ import annotations

from typing import Final

from untaken.answers.versions import suspect_words, version_changes, version_headline
from untaken.corpus import Corpus
from untaken.errors import UntakenError
from untaken.html.markup import Markup, row, section, short, table, tag
from untaken.present.numbers import p_value, points
from untaken.present.statuses import STAR
from untaken.versions import SubGoalChange, versions_of

MOST: Final = 20


def versions_section(corpus: Corpus, *, full: bool) -> Markup | None:
    """What changed from the last version but one to the last; in a focused report only what did."""
    names = list(versions_of((run for run in corpus.runs.values() if not run.integrity.broken), "version"))
    if len(names) < 2:
        return None
    try:
        found = version_changes(corpus, names[-2], names[-1])
    except UntakenError:  # no agent ran a task under both
        return None
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
