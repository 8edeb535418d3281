"""Which runs a page lists: those of the agents compared, or those of all agents; one choice for all pages."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import cards, state, text
from components.shared.panels import panel

WORDS: Final = {"compared": "Agents compared", "all": "All agents"}


@panel
def switch() -> None:
    """Draw the switch; nothing where all agents can be compared."""
    left = state.runs_left_out()
    if state.group_name() is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="listed"):
        cards.picker(
            "Runs of",
            WORDS,
            "all" if state.lists_all() else "compared",
            _list,
            key="listed_switch",
            draw=st.segmented_control,
            required=True,
            label_visibility="collapsed",
            help="The agents compared are chosen in the sidebar. All agents: also those that share no task "
            "with them.",
        )
        if state.lists_all():
            st.caption(
                f"Runs of all agents, {left:,} of them of agents that are not compared.", width="stretch"
            )


def of_whom() -> str:
    """Whose runs are listed, after a number of them; nothing where all agents can be compared."""
    if state.group_name() is None:
        return ""
    return " of all agents" if state.lists_all() else " of the agents compared"


@panel
def not_compared(agent: str) -> None:
    """Say that the runs of an agent are shown by request and listed nowhere, and offer to list all."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="not-compared"):
        st.markdown(
            f":material/info: **{text.label(text.agent(agent), 60)}** is not among the agents compared. "
            "This run counts in none of the numbers of other pages.",
            width="stretch",
        )
        st.button(
            "List all agents",
            key="list-all",
            on_click=_list,
            args=("all",),
            help="“Agents compared” is in the sidebar.",
        )


def _list(whose: str) -> None:
    state.forget_scope()
    st.session_state[state.LISTED] = whose
    run = state.selected("run")
    if run is not None and not state.is_listed(run):  # else a run stays selected that no list has
        state.select(**{name: state.selected(name) for name in state.OF_ANY_AGENTS})
