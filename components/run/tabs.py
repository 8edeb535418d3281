"""The tabs of the Run page; only the open one is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from components.review import panel as review_panel
from components.run import events, evidence, plan_changes
from components.shared import options, state
from components.shared.panels import panel
from components.transcript import view
from untaken.answers import RunReport
from untaken.corpus import Corpus

KEY: Final = "run_tabs"
LINKED: Final = "run_tabs_linked"
"""What the address asked for when a tab was opened for it."""


@panel
def show(corpus: Corpus, report: RunReport) -> None:
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
