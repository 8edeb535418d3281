"""How many failure modes are still unseen, and which run to read next."""

from __future__ import annotations

import streamlit as st

from components import figures
from components.review import panel as review_panel
from components.shared import cards, state, tables
from components.shared.panels import panel
from untaken.analysis import Corpus
from untaken.errors import Unscored
from untaken.numbers import counted, percent
from untaken.views import ModeAnalysis, reading_order_table

MOST: int = 200


@panel
def draw(corpus: Corpus, found: ModeAnalysis) -> None:
    """The estimate, the random draw, and the unread failing runs in the order of what they teach."""
    left, right = st.columns([5, 4], gap="medium")
    with left:
        _unseen(found)
    with right:
        _draw(found)
    st.subheader("Read next", anchor=False)
    st.caption(
        "Unread runs: first one for each way of failing, the most frequent way at the top, then "
        "runs where a judge and people disagree. Select a row to open the run."
    )
    if not found.order:
        st.success("Every failing run has been read.", icon=":material/check_circle:")
    else:
        frame = reading_order_table(found, corpus)
        tables.runs_table(
            frame, key="reading-order", name="Runs to read", most=MOST, height=tables.height_of(len(frame))
        )
    review_panel.link_to_this()


def _unseen(found: ModeAnalysis) -> None:
    seen = found.saturation.unseen
    value = "not known" if isinstance(seen.share, Unscored) else percent(seen.share)
    cards.number_card("Failures of a mode not seen yet", value, found.saturation.words)
    drawn = figures.saturation_curve(found.saturation, dark=state.is_dark())
    tables.figure(drawn, key="saturation", name="Modes seen, by number of runs read")


def _draw(found: ModeAnalysis) -> None:
    drawn = found.draw
    with st.container(border=True, height="stretch"):
        st.markdown("**Random draw**")
        st.caption(
            "Rates and the estimate of unseen modes are unbiased for a random sample of all runs. "
            "To report such numbers, read the runs in this order."
        )
        st.caption(f"{counted(len(drawn.read), 'run')} of the draw read · {drawn.outside:,} read outside it")
        if drawn.outside > len(drawn.read):
            st.warning(
                "Most runs read were chosen, not drawn: rates may be biased.", icon=":material/warning:"
            )
        if drawn.following is None:
            st.success("Every run has been read.")
        elif st.button("Open the next random run", key="random-run", icon=":material/casino:"):
            state.open_run(drawn.following)
