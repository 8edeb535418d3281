"""Is it good beyond success?"""

from __future__ import annotations

import streamlit as st

from components.criteria import agreement, editing, proposing, view
from components.shared import cards, options, state


def main() -> None:
    cards.headline("Criteria", "Is it good beyond success?")
    known = view.criteria()
    found = view.reviews()
    counts = view.unique_counts()
    cards.show_once(editing.DONE)
    proposing.show_message()
    if not found:
        (cards.all_broken if state.compared().runs else cards.nothing_here)()
        proposing.unique(counts)
        view.listing(known, empty=True)
        editing.write_new()
        editing.add_files(recorded=False)
        proposing.draw(state.runs())
        agreement.agreement()
        return
    review = view.source(found)
    view.summary(review)
    view.trusted(review, known)

    def own() -> None:
        view.one(review, known)
        editing.write_new()
        with st.expander(
            "Upload criteria or recorded replies", expanded=bool(st.session_state.get(editing.UPLOADED))
        ):
            editing.add_files(recorded="recorded" in found)
        proposing.draw(state.runs())

    more = {"This criterion": own} | view.evidence(review)
    more["All criteria"] = lambda: view.listing(known, empty=False)
    if counts:
        more["More seeds"] = lambda: proposing.unique(counts)
    if agreement.there():
        more["Judges and people"] = agreement.agreement
    options.tabs("criteria_tabs", more)


main()
