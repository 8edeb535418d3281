"""The head of the page of one run. Words from the ledger are shown as text, code and tables only."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.run.events import event_link
from components.shared import text
from components.shared.panels import panel
from untaken.numbers import counted
from untaken.views import RunReport, UnhandledFailure

TITLE_CHARS: Final = 70


def named(report: RunReport, words: str) -> str:
    """A sentence about sub-goals with their titles in place of their ids. Untrusted, like the titles."""
    titles = {node.sub_goal: text.one_line(node.title or node.sub_goal, TITLE_CHARS) for node in report.nodes}
    # Ids are in quotes. In one pass: a title that is the id of another sub-goal stays as it is.
    return "'".join(titles.get(part, part) for part in words.split("'"))


@panel
def integrity_banner(report: RunReport) -> None:
    """Say loudly when the record cannot be trusted, quietly when it is not anchored."""
    verdict = report.integrity
    if verdict.broken:
        place = f" (line {verdict.line})" if verdict.line else ""
        st.error(
            f"**This ledger is {verdict.verdict}{place}.** Do not draw conclusions from it. Counterfactual "
            "evaluation is aborted (DTL-STRAT-006).",
            icon=":material/link_off:",
        )
        st.text(text.one_line(verdict.reason, 400))
    elif verdict.verdict != "INTACT":
        st.caption(f":material/link: {verdict.verdict}: {text.label(verdict.reason, 300)}")


MOST: Final = 5
NEXT_WORDS: Final = {
    "tried again": "then the same call again",
    "tried otherwise": "then the same tool with other arguments",
    "went on": "then went on with another tool",
    "spoke": "then only sent messages",
    "ended": "then the run ended",
}


@panel
def unhandled_failures(report: RunReport) -> None:
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
