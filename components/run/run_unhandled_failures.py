"""Failures that a run saw without ever changing its plan, and what it did next."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.run.events import event_link
from components.shared import text
from components.shared.panels import panel
from untaken.answers import RunReport, UnhandledFailure
from untaken.present.numbers import counted

MOST: Final = 5
NEXT_WORDS: Final = {
    "tried again": "then the same call again",
    "tried otherwise": "then the same tool with other arguments",
    "went on": "then went on with another tool",
    "spoke": "then only sent messages",
    "ended": "then the run ended",
}


@panel
def failures(report: RunReport) -> None:
    """The failures behind the diagnosis, each with a link to its event."""
    found = report.unhandled
    if not found:
        return
    with st.expander(f"Failures without a new plan ({len(found)})", key="unnoticed"):
        for failure in found[:MOST]:
            _failure(report, failure)
        if len(found) > MOST:
            st.caption(f"and {counted(len(found) - MOST, 'more failure')}, marked ✗ in the events below")


def _failure(report: RunReport, failure: UnhandledFailure) -> None:
    what = "transient failure" if failure.transient else "failure"
    tool = f" of {text.one_line(failure.tool, 40)}" if failure.tool else ""
    following = f" ({text.one_line(failure.next_tool, 40)})" if failure.next == "went on" else ""
    st.text(f"✗ {what}{tool}: {text.one_line(failure.text, 120)} – {NEXT_WORDS[failure.next]}{following}")
    event_link(report, failure.seq, key=f"failed-{failure.seq}")
