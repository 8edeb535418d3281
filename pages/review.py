"""Which runs are still unexplained?"""

from __future__ import annotations

import streamlit as st

from components.failure_modes import guide
from components.review import agreement as review_agreement
from components.review import body, second_reading
from components.shared import cards, options, state

TABS = "review_tabs"
HIDDEN = "Hidden until you have saved your second reading: it counts what others wrote about this run."


def main() -> None:
    cards.headline("Queue", "Which runs are still unexplained?", low=True)
    if not state.corpus().runs:
        cards.nothing_here()
        return
    guide.draw()
    views = {"Queue": body.draw, "Disagreements": disagreements, "Agreement": agreement}
    options.tabs(TABS, views)


def disagreements() -> None:
    if not second_reading.hides():
        review_agreement.disagreements()
        return
    st.info(HIDDEN, icon=":material/visibility_off:")


def agreement() -> None:
    if second_reading.hides():
        st.info(HIDDEN, icon=":material/visibility_off:")
        return
    review_agreement.agreement()
    review_agreement.of_modes()


main()
