"""The runs that saw failures and never changed their plan, each with a link."""

from __future__ import annotations

import streamlit as st

from components.shared import cards, state
from components.shared.panels import panel
from untaken.numbers import counted
from untaken.views import review_order
from untaken.views.first_page import runs_with_unhandled_failures


@panel
def links() -> None:
    """Their number, and on a click the runs, largest effect first; nothing where there are none."""
    found = state.derived(runs_with_unhandled_failures, lambda: state.derived(review_order))
    if not found.count:
        return
    words = f"{counted(found.count, 'run')} had failures and never changed the plan"
    with st.expander(words, icon=":material/notification_important:", key="unnoticed-runs"):
        st.caption("Something was missing at the end, and no recorded plan was revised.")
        cards.run_links(found.items, empty="")
        if more := found.count - len(found.items):
            st.caption(f"{counted(more, 'run')} not shown. Runs (CSV) on the Data page has every diagnosis.")
