"""The reviewer's loop: the queue on the left, the run on the right."""

from __future__ import annotations

import streamlit as st

from components.review import order, panel, queue, queue_filters, second_reading, signing
from components.run import first_screen
from components.shared import after_saves, listed_runs, state
from components.shared.panels import panel as part
from untaken.views import chosen_cases, fields_of, with_reviews


@after_saves.alone
def draw() -> None:
    """Draw it."""
    _queue_and_run()
    signing.ask()


@part
def _queue_and_run() -> None:
    reviews = state.workspace().reviews.every()
    cases = with_reviews(queue.cases(of_all=state.lists_all()), reviews)
    linked = queue.linked()
    if not cases and linked is None:
        words = f"No runs{listed_runs.of_whom()} to review. Nothing to explain."
        st.success(words, icon=":material/check_circle:")
        return
    left, right = st.columns([1, 2], gap="medium")
    with left, st.container(key="review-left", gap="small"):
        offered = fields_of(cases)
        filters = queue_filters.remember(offered)
        with st.container(horizontal=True, gap="small", key="queue-choice"):
            listed_runs.switch()
            fold = queue_filters.fold(filters)
        with fold:
            cases = order.ordered(cases)
            queue_filters.draw(offered, filters)
        shown = chosen_cases(cases, filters)
        queue.progress(shown, cases)
        # A linked run that is not in the queue is shown all the same.
        case = None if linked in {one.item.digest for one in cases} else linked
        found = queue.chosen(shown, cases) if case is None else None
        digest = found.item.digest if found else case
        if not shown:
            st.info("No run to review matches these filters.")
        if digest is not None:
            queue.keys(shown, cases, digest)
        queue.queue(shown, digest)
        with st.container(horizontal=True):
            queue.bulk(shown)
            queue.export(shown)
    if digest is not None:
        with right, st.container(key="review-case", gap="small"):
            _run(digest)


@part
def _run(digest: str) -> None:
    """The first screen of the run, and what else there is on its review."""
    report = second_reading.report_on(digest)
    if not state.is_listed(digest):
        listed_runs.not_compared(report.run.agent)
    first_screen.draw(report, panel.review_of(report.run))
    with st.expander("Assignee, tags and history", key="review-people", on_change="rerun") as people:
        if people.open:
            panel.of_run(report.run)
    state.run_link("Open the Run page for events, progress and findings", digest)
