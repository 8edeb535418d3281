"""What goes wrong, how often, and does it harm?"""

from __future__ import annotations

import streamlit as st

from components.failure_modes import guide, issues, taxonomy_editor, view
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
    found = view.analysis()
    view.progress(found)
    guide.draw(home=True)
    asked = state.selected("view")
    shown = cards.picker(
        "View",
        VIEWS,
        asked if asked in VIEWS else "modes",
        lambda name: state.select(view=name, by=state.selected("by"), mode=state.selected("mode")),
        key="modes_view",
        draw=st.segmented_control,
        required=True,
        label_visibility="collapsed",
    )
    if shown == "issues":
        issues.draw(corpus)
    elif shown == "read":
        view.reading(corpus, found)
    elif shown == "time":
        view.over_time(found)
    elif shown == "taxonomy":
        taxonomy_editor.draw()
    elif shown == "modes":
        view.pivot(found)
    else:
        view.causes(state.derived(triage))
        view.unhandled()


main()
