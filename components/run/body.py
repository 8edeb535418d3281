"""The Run page from the picker of runs down, drawn again by itself after a click or a save in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from components.review import panel as review_panel
from components.review import second_reading, signing
from components.run import events, evidence, first_screen, plan_changes, run_list
from components.shared import after_saves, listed_runs, options, state, tables, text
from components.shared.panels import panel
from untaken.views import RunReport

KEY: Final = "run_tabs"
LINKED: Final = "run_tabs_linked"
"""What the address asked for when a tab was opened for it."""


@after_saves.alone
def draw() -> None:
    """Draw it."""
    corpus = state.corpus()
    chosen = run_list.choose_run(corpus)
    if chosen is not None:
        if not state.is_listed(chosen):
            listed_runs.not_compared(corpus.runs[chosen].agent)
        report = second_reading.report_on(chosen)
        first_screen.draw(report, review_panel.review_of(report.run))
        show_tabs(report)
        identity = f"run id  {text.one_line(report.run.run_id, 500)}\ndigest  {chosen}"
        tables.folded("Run identity", lambda: st.code(identity, language=None), key="identity")
    signing.ask()


@panel
def show_tabs(report: RunReport) -> None:
    """Draw the tabs; a link to a decision or to a plan change opens its own."""
    digest = report.run.digest
    views: dict[str, Callable[[], object]] = {
        "Reviews": lambda: review_panel.of_run(report.run),
        "Sub-goals": lambda: evidence.sub_goal_table(report),
        "Events": lambda: events.timeline(report),
        "Decision points": lambda: events.decisions(report),
        "Plan changes": lambda: plan_changes.changes(state.corpus(), digest),
        "Progress": lambda: events.progress(report),
        "Findings": lambda: _findings(report),
    }
    # Once for each link: from then on the reader chooses the tab.
    linked = (digest, state.selected("decision"), state.selected("change"))
    if st.session_state.get(LINKED) != linked:
        st.session_state[LINKED] = linked
        if linked[1] or linked[2]:
            st.session_state[KEY] = "Plan changes" if linked[2] else "Decision points"
    options.tabs(KEY, views)


def _findings(report: RunReport) -> None:
    events.unhandled_failures(report)
    events.findings(report)
