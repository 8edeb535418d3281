"""What failed runs have in common where they fail first, as a small table."""

from __future__ import annotations

import streamlit as st

from components.shared import cards, packets, state, tables
from components.shared.panels import panel
from untaken.analysis import Triage
from untaken.numbers import counted
from untaken.scoring import brief_cause
from untaken.views import cause_packet, causes_table, review_order, runs_with_unhandled_failures

SHOWN = ("cause", "sub_goal", "runs", "elsewhere_k", "elsewhere_n", "p")


@panel
def draw(found: Triage) -> None:
    """The causes of all runs compared; or that there is none."""
    if not found.causes:
        st.info("No cause is common to 3 failed runs of 2 tasks.")
        return
    st.subheader("Why they fail there", anchor=False)
    st.caption(
        f"{counted(len(found.causes), 'cause')}, each in at least 3 failed runs of 2 tasks. Elsewhere: runs "
        "that passed the same sub-goal and called the same tool. p is exact, adjusted for the values tried."
    )
    table = causes_table(found)
    row = tables.table(
        table[list(SHOWN)],
        key="causes",
        name="Causes of failed runs",
        selectable=True,
        whole=lambda: table,
        columns={
            "cause": st.column_config.TextColumn(width=420),
            "sub_goal": st.column_config.TextColumn(width=170),
        },
    )
    packets.control(cause_packet, found.causes, "causes", brief_cause)
    if row is not None:
        state.open_run(found.causes[row].runs[0])


@panel
def unhandled() -> None:
    """How many runs saw failures and never changed their plan, and on a click which; nothing for none."""
    found = state.derived(runs_with_unhandled_failures, lambda: state.derived(review_order))
    if not found.count:
        return
    words = f"{counted(found.count, 'run')} had failures and never changed the plan"
    with st.expander(words, icon=":material/notification_important:", key="unnoticed-runs"):
        st.caption("Something was missing at the end, and no recorded plan was revised.")
        cards.run_links(found.items, empty="")
        if more := found.count - len(found.items):
            st.caption(f"{counted(more, 'run')} not shown. Runs (CSV) on the Data page has every diagnosis.")
