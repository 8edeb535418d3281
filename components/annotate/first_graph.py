"""A first plan graph for runs that have none: offered on Overview and Run, drafted on Annotate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.shared import state
from components.shared.panels import panel
from untaken.answers.first_page import count_without_graph
from untaken.corpus import runs_without_graph
from untaken.ledger import Run
from untaken.present.numbers import counted

ASKED: Final = "first_graph_asked"
ANNOTATE: Final = "pages/annotate.py"


@panel
def offer() -> None:
    """Shows on Overview how many compared runs have no plan graph, and offers a draft of one."""
    runs = state.derived(count_without_graph)
    if not runs:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        have = "has" if runs == 1 else "have"
        st.markdown(
            f"**{counted(runs, 'run')} {have} no plan graph.** "
            "Only the outcome is known: no sub-goal, no place where it went wrong."
        )
        _draft()


@panel
def offer_for(run: Run) -> None:
    """Offers ways to a plan graph on the page of a run without one."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            "**No plan graph matches this run's task.** Draft one from runs that succeeded, or add one on "
            "the Data page."
        )
        if any(one.digest == run.digest for one in chosen_runs()):
            _draft()


def _draft() -> None:
    if st.button("Draft a plan graph", key="first_graph", type="primary"):
        st.session_state[ASKED] = True
        st.switch_page(ANNOTATE)


def asked() -> bool:
    """Whether a draft for runs without a graph was asked for, and neither taken nor left."""
    return bool(st.session_state.get(ASKED)) and bool(state.derived(runs_without_graph, of_all=True))


def chosen_runs() -> Sequence[Run]:
    """The runs that such a draft is for."""
    return state.derived(runs_without_graph, of_all=True)


def done() -> None:
    """The draft was taken or left."""
    st.session_state.pop(ASKED, None)
