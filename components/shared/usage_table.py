"""Outcome, cost, tokens and steps by agent and task: what runs say without a plan graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from components.shared import tables
from components.shared.panels import panel
from untaken.views import MEASURES, AgentUsage, figure_words, usage_table


@panel
def draw(found: Sequence[AgentUsage]) -> None:
    """A table by agent, and one by agent and task."""
    st.subheader("Outcome, cost, tokens and steps", anchor=False)
    st.caption("Means over tasks of each task's mean, with 95% intervals over tasks.")
    agents, tasks = ([one for one in found if (one.task_id is None) is whole] for whole in (True, False))
    _table(agents, key="usage", name="Usage by agent")
    tables.folded(
        "By agent and task",
        lambda: _table(tasks, key="usage-tasks", name="Usage by agent and task", height=320),
        key="usage-tasks",
    )


def _table(found: Sequence[AgentUsage], *, key: str, name: str, **more: Any) -> None:
    """What was recorded, in words; the download has each number by itself."""
    whole = usage_table(found)
    shown = whole[["agent", "task_id", "runs", "tasks"]].assign(
        **{measure: [_figure(one, measure) for one in found] for measure in MEASURES}
    )
    tables.table(shown, key=key, name=name, whole=lambda: whole, **more)


def _figure(one: AgentUsage, measure: str) -> str:
    words = figure_words(one, measure, one.cost_unit or "")
    return f"{words[0]} ({words[1]})" if words else ""
