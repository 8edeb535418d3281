"""The Run page from its plan graph down: what a selected sub-goal changes."""

from __future__ import annotations

from contextlib import nullcontext

import streamlit as st

from components.run import evidence, note_panel, tabs
from components.shared import reviewer, state
from components.shared.panels import panel
from untaken.answers import RunReport


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
    tabs.show(state.corpus(), report)


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
