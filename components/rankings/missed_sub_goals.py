"""Which sub-goals of a plan graph each agent misses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from components import figures
from components.shared import options, state, tables, text
from components.shared.panels import panel

if TYPE_CHECKING:
    import pandas as pd

GRAPH: Final = "missed_graph"


@panel
def draw(failures: pd.DataFrame, graphs: Sequence[str]) -> None:
    """The share of each agent's runs in which each sub-goal of the chosen graph was completed."""
    if not graphs:
        return
    graph = options.one("missed", graphs) or graphs[0]
    if len(graphs) > 1:
        st.session_state[GRAPH] = graph  # what the address says, not what was picked last
        st.selectbox(
            "Plan graph, most missed first",
            graphs,
            format_func=lambda name: text.one_line(name, 80),
            key=GRAPH,
            on_change=options.changed,
            args=("missed", GRAPH),
        )
    tables.figure(
        lambda: figures.sub_goal_bars(failures[failures["graph"] == graph], dark=state.is_dark()),
        key="missed",
        name="Sub-goals by agent",
        of=(graph,),
        about="Share of each agent's runs in which the sub-goal was completed. ★ critical.",
        table=lambda: failures[failures["graph"] == graph],
    )
