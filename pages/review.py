"""Which runs are still unexplained?"""

from __future__ import annotations

import streamlit as st

from components.failure_modes import guide
from components.review import agreement as review_agreement
from components.review import order, panel, queue_filters, writing
from components.review import queue as review_queue_view
from components.shared import cards, listed_runs, reviewer, state
from untaken.answers.reviewing import chosen_cases, fields_of, with_reviews


def main() -> None:
    cards.headline("Queue", "Which runs are still unexplained?")
    if not state.corpus().runs:
        cards.nothing_here()
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="review-who"):
        with st.container(width=320):
            reviewer.ask_reviewer()
        listed_runs.switch()
    writing.show_messages()
    guide.draw()
    views = {
        "Queue": queue,
        "Disagreements": review_agreement.disagreements,
        "Agreement": agreement,
    }
    for tab, show in zip(st.tabs(list(views), key="review_tabs"), views.values(), strict=True):
        with tab:
            show()


def agreement() -> None:
    review_agreement.agreement()
    review_agreement.of_modes()


def queue() -> None:
    reviews = state.workspace().reviews.every()
    cases = with_reviews(review_queue_view.cases(of_all=state.lists_all()), reviews)
    other = review_queue_view.not_listed(reviews)
    if not cases and other is None:
        words = f"No runs{listed_runs.of_whom()} to review. Nothing to explain."
        st.success(words, icon=":material/check_circle:")
        return
    cases = order.ordered(cases)
    offered = fields_of(cases)
    filters = queue_filters.remember(offered)
    queue_filters.draw(offered, filters)
    shown = chosen_cases(cases, filters)
    review_queue_view.progress(shown, cases)
    case = other or review_queue_view.chosen(shown, cases)
    if not shown:
        st.info("No run to review matches these filters.")
    left, right = st.columns([7, 5], gap="medium")
    with left:
        if case is not None:
            review_queue_view.keys(shown, cases, case)
        st.caption("Keys: J next, K previous; 1 new, 2 in review, 3 explained, 4 fixed.")
        review_queue_view.queue(shown, case)
        with st.container(horizontal=True):
            review_queue_view.bulk(shown)
            review_queue_view.export(shown)
    with right:
        if case is not None:
            review_queue_view.look(state.corpus(), case, panel.known_tags(reviews.values()))


main()
