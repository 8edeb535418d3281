"""Is the plan itself right?"""

from __future__ import annotations

import streamlit as st

from components.audit import view
from components.shared import cards, listed_runs, state


def main() -> None:
    cards.headline("Audit", "Is the plan itself right?")
    corpus = state.corpus()
    if not corpus.runs:
        cards.nothing_here()
        return
    if not corpus.graphs.graphs:
        st.info("There is no plan to audit yet. Write one, or let successful runs suggest one.")
        st.page_link("pages/annotate.py", label="Draft a plan", query_params=state.scope())
        return
    listed_runs.switch()
    found = view.of_listed_plans(view.audit())
    if not found.nodes:
        st.info(
            "No run here has a plan. Compare the tasks that plans name with the task ids of runs: "
            "in Annotate, under *Tasks and tools*."
        )
        st.page_link("pages/annotate.py", label="Open the plans", query_params=state.scope())
        return
    view.numbers(found)
    view.to_look_at(found)
    view.edges(found)
    view.tasks(found)
    view.everything(found)


main()
