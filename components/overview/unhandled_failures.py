"""The runs that saw failures and never changed their plan, each with a link."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import cards, state
from components.shared.panels import panel
from untaken.answers import review_queue, runs_not_detecting_errors
from untaken.present.numbers import counted

MOST: Final = 6


@panel
def links() -> None:
    """Their number, and on a click the runs, largest effect first; nothing where there are none."""
    digests = set(state.derived(runs_not_detecting_errors))
    if not digests:
        return
    words = f"{counted(len(digests), 'run')} had failures and never changed the plan"
    with st.expander(words, icon=":material/notification_important:", key="unnoticed-runs"):
        st.caption("Something was missing at the end, and no recorded plan was revised.")
        found = [item for item in state.derived(review_queue) if item.digest in digests]
        cards.run_links(found[:MOST], empty="")
        if len(found) > MOST:
            st.caption(f"and {len(found) - MOST} more: Runs (CSV) on the Data page has each run's diagnosis")
