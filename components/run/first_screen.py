"""What the first screen of a run answers: asked, expected, got, why; then its plan beside its transcript."""

from __future__ import annotations

import streamlit as st

from components.review import second_reading, writing
from components.run import brief, events, evidence, plan_side, verdicts, view, why
from components.shared import after_saves
from components.shared.panels import panel
from components.transcript.view import transcript
from untaken.views import RunReport
from untaken.workspace import Review


@panel
def draw(report: RunReport, review: Review) -> None:
    """Draw it; a part of the page of a run, and of the queue of runs to review."""
    writing.show_messages()
    view.integrity_banner(report)
    second_reading.notice(report.run.digest)
    with st.container(key="run-body", gap="small"):
        brief.draw(report)
        verdicts.warning(report)
        why.draw(report, review)
        with st.container(key="plan-and-transcript"):
            left, right = st.columns([2, 3], gap="small")
            with left, st.container(gap="xsmall", key="plan-side"):
                plan_side.beside_transcript(report)
            with right, st.container(gap="xsmall"):
                evidence.draw(report)
                _transcript(report)


@panel
def _transcript(report: RunReport) -> None:
    """The run as a conversation; a sub-goal in its margin is selected by a click."""
    reader = second_reading.reader_of(report.run)
    transcript(
        after_saves.corpus_with(report.run.digest, reader),
        report.run.digest,
        key="transcript",
        on_goal=evidence.pick,
        on_whole=events.open_event,
    )
    events.opened_event(report)
