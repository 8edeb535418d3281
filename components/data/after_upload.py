"""What is in the workspace once files were added, in plain counts, and where to go from there."""

from __future__ import annotations

import streamlit as st

from components.shared import state, text
from components.shared.panels import panel
from untaken.numbers import counted
from untaken.views.contents import contents

GROUPS: int = 4


@panel
def draw() -> None:
    """The counts, the sets of agents that can be compared, and the ways on."""
    found = state.derived(contents, of_all=True)
    if not found.runs:
        return
    with st.container(border=True, key="after-upload"):
        st.markdown(
            f"**{counted(found.runs, 'run')} of {counted(found.agents, 'agent')} in "
            f"{counted(found.tasks, 'task')} {'is' if found.runs == 1 else 'are'} here.**"
        )
        bare = found.runs - found.with_plan
        plans = [f"{found.with_plan:,} with a plan"] + ([f"{bare:,} without one"] if bare else [])
        st.caption(" · ".join([*plans, f"{found.with_outcome:,} with an outcome"]))
        groups = state.groups()
        if len(groups) > 1:
            named = "; ".join(text.label(state.group_words(group), 120) for group in groups[:GROUPS])
            more = f"; {len(groups) - GROUPS:,} more sets" if len(groups) > GROUPS else ""
            st.caption(f"Can be compared: {named}{more}. Agents of different sets share no task.")
        with st.container(horizontal=True, vertical_alignment="center"):
            if found.failing and st.button("Open the first failing run", type="primary", key="first-failing"):
                state.open_run(found.failing)
            st.page_link("pages/overview.py", label="Overview", query_params=state.scope())
            if found.with_plan < found.runs:
                st.page_link("pages/annotate.py", label="Draft a plan", query_params=state.scope())
