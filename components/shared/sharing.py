"""The report, as a button on the pages that people share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from components.shared import state, tables
from components.shared.panels import panel
from untaken.analysis import Corpus, Taxonomy, kept_taxonomy
from untaken.views import html_report


@panel
def share_report() -> None:
    """The report for people who do not code, in both lengths, of the runs compared; made when asked for."""
    made = (
        ("Report (HTML)", "report.html", short_report, "What matters, on a few pages."),
        ("Full report (HTML)", "report-full.html", full_report, "With every agent, sub-goal and finding."),
    )
    unread = len(state.unread())
    with st.popover("Share report", icon=":material/ios_share:"):
        st.caption("One file that opens offline in any browser. It has the scope of this page.")
        with_notes = st.checkbox(
            "With notes and failure modes",
            key="report-notes",
            help="What people wrote about runs, signed as they signed it.",
        )
        taxonomy = kept_taxonomy(state.workspace().path) if with_notes else None
        chosen = state.later(_chosen)  # now: a download is made outside of the session
        for label, file, make, words in made:
            report = (
                partial(_noted, chosen, make, unread, taxonomy) if taxonomy else state.later(make, unread)
            )
            tables.download(
                lambda report=report: report().encode(),  # type: ignore[misc]
                label=label,
                file=file,
                key=f"export-{file}",
            )
            st.caption(words)


def _chosen(corpus: Corpus) -> Corpus:
    return corpus


def _noted(
    corpus: Callable[[], Corpus], make: Callable[..., str], unread: int, notes: Taxonomy | None
) -> str:
    return make(corpus(), unread, notes)


def short_report(corpus: Corpus, unread: int, notes: Taxonomy | None = None) -> str:
    """The report on some runs, beside which so many have no readable start."""
    return html_report(corpus, unread=unread, notes=notes)


def full_report(corpus: Corpus, unread: int, notes: Taxonomy | None = None) -> str:
    """The same with every table."""
    return html_report(corpus, full=True, unread=unread, notes=notes)
