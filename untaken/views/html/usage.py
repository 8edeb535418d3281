"""Outcome, cost, tokens and steps by agent, for a report without a plan graph."""

from __future__ import annotations

from typing import Final

from untaken.analysis import Corpus
from untaken.numbers import counted
from untaken.views.html.markup import Markup, facts, row, section, short, table, tag, together
from untaken.views.spending import MEASURES, AgentUsage, figure_words, usage

TASKS: Final = 60
"""Rows by agent and task that the full report shows."""


def usage_section(corpus: Corpus, *, full: bool) -> Markup | None:
    """What runs come to, by agent and (in full) by task; nothing where there is a plan graph, or no run."""
    if corpus.graphs.graphs or not corpus.runs:
        return None
    found = usage(corpus.runs.values())
    note = (
        "No plan graph covers these runs, so only what they record is shown: means over tasks of each task's "
        "mean, with 95% intervals over tasks."
    )
    agents, tasks = ([one for one in found if (one.task_id is None) is whole] for whole in (True, False))
    parts = [_table(agents, counted(len(agents), "agent"))]
    if full and len(tasks) > len(agents):  # with one task for each agent, it would repeat the first
        shown = tasks[:TASKS]
        parts.append(_table(shown, f"By agent and task, {len(shown)} of {len(tasks)} rows"))
    return section("Outcome, cost, tokens and steps", note, *parts)


def _table(rows: list[AgentUsage], caption: str) -> Markup:
    tasks = any(one.task_id is not None for one in rows)
    heads = ("agent", *(("task",) if tasks else ()), "runs", "success", "cost", "tokens", "steps")
    return table(heads, [_row(one, tasks=tasks) for one in rows], caption)


def _row(one: AgentUsage, *, tasks: bool) -> Markup:
    return row(
        *((short(one.task_id, 60),) if tasks else ()),
        f"{one.runs:,}",
        *(_cell(one, name) for name in MEASURES),
        head=short(one.agent, 40),
    )


def _cell(one: AgentUsage, name: str) -> Markup:
    words = figure_words(one, name, short(one.cost_unit or "", 12))
    return together(words[0], facts(words[1])) if words else tag("span", "not recorded")
