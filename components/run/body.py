"""The Run page from its plan graph down: what a selected sub-goal changes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Final

import streamlit as st

from components.review import panel as review_panel
from components.run import events, evidence, note_panel, plan_changes
from components.shared import options, reviewer, state
from components.shared.panels import panel
from components.transcript import view
from untaken.answers import RunReport
from untaken.corpus import Corpus


@panel
def draw(report: RunReport) -> None:
    """Draw it so that the selection of a sub-goal draws nothing above again, nor the tabs below.

    An open transcript goes to the sub-goal without the server (`canvas.js`).

    Buttons that are no callbacks, to sign in or to draft a plan graph, need the whole page.
    """
    evidence.was_picked()
    if report.graph is None or (reviewer.sign_in() and not reviewer.reviewer()):
        _changing(report)
    else:
        _alone(report.run.digest, state.content(state.workspace()))
    show_tabs(state.corpus(), report)


@st.fragment
def _alone(digest: str, seen: str) -> None:
    """In a fragment; whatever else is done in it draws the whole page again, as does a changed workspace."""
    again = not state.in_frame()
    with state.frame() if again else nullcontext():
        if again and not (evidence.was_picked() and seen == state.content(state.workspace())):
            st.rerun()
        _changing(state.report_on(digest))


def _changing(report: RunReport) -> None:
    drawing = evidence.drawing_of(report)
    with st.container(key="beside-run" if evidence.fits_beside(drawing) else "run"):
        evidence.plan_and_evidence(report, drawing)
        note_panel.of_run(report)


KEY: Final = "run_tabs"
LINKED: Final = "run_tabs_linked"
"""What the address asked for when a tab was opened for it."""


@panel
def show_tabs(corpus: Corpus, report: RunReport) -> None:
    """Draw the tabs; a link to a decision or to a plan change opens its own."""
    digest = report.run.digest
    views: dict[str, Callable[[RunReport], None]] = {
        "Transcript": lambda shown: transcript(corpus, shown),
        "Events": events.timeline,
        "Decision points": events.decisions,
        "Plan changes": lambda _: plan_changes.changes(corpus, digest),
        "Progress": events.progress,
        "Sub-goals": evidence.sub_goal_table,
        "Findings": events.findings,
        "Review": lambda shown: review_panel.of_run(shown.run),
    }
    linked = (digest, state.selected("decision"), state.selected("change"))
    if st.session_state.get(LINKED) != linked:
        st.session_state[LINKED] = linked
        if linked[1] or linked[2]:
            st.session_state[KEY] = "Plan changes" if linked[2] else "Decision points"
    options.open_tab(KEY, list(views))
    for tab, draw in zip(st.tabs(list(views), key=KEY, on_change="rerun"), views.values(), strict=True):
        if tab.open:
            with tab:
                draw(report)


def transcript(corpus: Corpus, report: RunReport) -> None:
    """The run as a conversation; a sub-goal in its margin is selected by a click."""
    digest = report.run.digest
    view.transcript(
        corpus,
        digest,
        key="transcript",
        on_goal=lambda goal: evidence.pick(digest, goal),
        on_whole=events.open_event,
    )
    events.opened_event(report)
