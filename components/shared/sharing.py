"""What is handed over: the report, to people who do not code; a finding, to a coding agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from components.shared import state, tables, text
from components.shared.panels import panel
from untaken.analysis import Corpus, Taxonomy, kept_taxonomy
from untaken.views import PACKET_DOCUMENT, Packet, dump, html_report, packet_markdown


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


MOST: Final = 50


def packet(
    make: Callable[..., Packet], items: Sequence[Any], key: str, words: Callable[[Any], str] = str
) -> None:
    """A button that opens the packet of one of these items; it is made only then."""
    with st.popover(
        "Copy for a coding agent", icon=":material/content_copy:", key=f"packet-{key}", on_change="rerun"
    ) as opened:
        if not opened.open:
            return
        item = items[0]
        if len(items) > 1:
            places = range(min(MOST, len(items)))
            named = [text.one_line(words(one), 120) for one in items[:MOST]]
            item = items[st.selectbox("Of", places, format_func=named.__getitem__, key=f"packet-of-{key}")]
        made = make(state.corpus(), item)
        st.code(packet_markdown(made), language="markdown", height=360, wrap_lines=True)
        tables.download(
            lambda: dump(PACKET_DOCUMENT(made)).encode(),
            label="Packet (JSON)",
            file="packet.json",
            key=f"packet-json-{key}",
        )
