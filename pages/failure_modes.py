"""What goes wrong, how often, and does it harm?"""

from __future__ import annotations

import streamlit as st

from components.failure_modes import causes, guide, issues, reading, taxonomy_editor
from components.failure_modes import view as failure_modes_view
from components.shared import cards, listed_runs, state
from untaken.analysis import triage

VIEWS = {
    "modes": "Modes",
    "causes": "Causes",
    "read": "What to read",
    "time": "Over time",
    "issues": "Issues",
    "taxonomy": "Taxonomy",
}


def main() -> None:
    cards.headline("Failure modes", "What goes wrong, how often, and does it harm?")
    corpus = state.listed()
    if not corpus.runs:
        cards.nothing_here()
        return
    listed_runs.switch()
    found = failure_modes_view.analysis()
    failure_modes_view.progress(found)
    guide.draw(home=True)
    asked = state.selected("view")
    # Before the widget is drawn, as Streamlit wants it; a view in the address comes first.
    st.session_state["modes_view"] = asked if asked in VIEWS else "modes"
    view = st.segmented_control(
        "View",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        required=True,
        key="modes_view",
        label_visibility="collapsed",
        on_change=lambda: state.select(
            view=st.session_state["modes_view"], by=state.selected("by"), mode=state.selected("mode")
        ),
    )
    if view == "issues":
        issues.draw(corpus)
    elif view == "read":
        reading.draw(corpus, found)
    elif view == "time":
        failure_modes_view.over_time(found)
    elif view == "taxonomy":
        taxonomy_editor.draw()
    elif view == "modes":
        failure_modes_view.pivot(found)
    else:
        causes.draw(state.derived(triage))
        causes.unhandled()


main()
