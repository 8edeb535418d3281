"""Marking a sub-goal of a run as met, not met or cannot tell, by the reviewer who sits here."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import drafts, review_writing, reviewer, state
from untaken.ledger import Verdict
from untaken.report import RunReport
from untaken.subgoals import NodeScore

WORDS: Final[tuple[tuple[str, bool | None, str, str], ...]] = (
    ("✓ Met", True, "1", "met"),
    ("✗ Not met", False, "2", "not-met"),
    ("? Cannot tell", None, "3", "unsure"),
)
"""On the button, what is recorded, the key, and the widget's name."""
REASON_CHARS: Final = 2_000


def marking(report: RunReport, node: NodeScore) -> None:
    """The three buttons and a field for why; what the reviewer said before is marked."""
    if report.integrity.broken:
        st.caption("No verdict can be added: the ledger is broken.")
        return
    with st.container(key="marking", gap="xsmall"):
        st.markdown("**Your verdict**")
        if reviewer.ask_reviewer() is None:
            st.caption("Say who you are, so that the verdict bears your name.")
            return
        author = reviewer.author() or ""
        said = {v.by: v.passed for v in report.run.of(Verdict) if v.sub_goal == node.sub_goal}
        why = drafts.Place(name="why", about=(report.run.digest, node.sub_goal))
        drafts.text_input("Why", why, max_chars=REASON_CHARS, placeholder="what you saw (optional)")
        with st.container(horizontal=True, gap="xsmall"):
            for words, passed, key, name in WORDS:
                mine = author in said and said[author] is passed
                st.button(
                    words,
                    key=f"mark-{name}-{why.key}",
                    shortcut=key,
                    type="primary" if mine else "secondary",
                    on_click=review_writing.save_verdict,
                    args=(state.workspace(), report.run, node.sub_goal, passed),
                    kwargs={"why": why},
                )
