"""Marking a sub-goal of a run as met, not met or cannot tell, by the reviewer who sits here."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.review import writing
from components.run.unsaved import reason_field
from components.shared import drafts, reviewer, state
from untaken.answers import RunReport, decided_by_check
from untaken.ledger import Verdict
from untaken.subgoals import NodeScore
from untaken.subgoals.verdicts import not_withdrawn

WORDS: Final[tuple[tuple[str, bool | None, str, str], ...]] = (
    ("✓ Met", True, "Y", "met"),
    ("✗ Not met", False, "X", "not-met"),
    ("? Cannot tell", None, "U", "unsure"),
)
"""Of each mark: label, what is recorded, key, the widget's name. On Review, digits set a status."""
REASON_CHARS: Final = 2_000


def marking(report: RunReport, node: NodeScore) -> None:
    """The three buttons and a field for why; what the reviewer said before is marked."""
    if report.integrity.broken:
        st.caption("You cannot add a verdict: the ledger is broken.")
        return
    with st.container(key="marking", gap="xsmall"):
        st.markdown("**Your verdict**")
        if reviewer.ask_reviewer() is None:
            st.caption("Enter your name to sign the verdict.")
            return
        author = reviewer.author() or ""
        given = not_withdrawn(report.run.of(Verdict))
        passed_by = {v.by: v.passed for v in given if v.sub_goal == node.sub_goal}
        if decided_by_check(node):
            st.caption(
                "This sub-goal is decided by its check. Your verdict is recorded but does not "
                "change the score."
            )
        why = reason_field(report.run, node.sub_goal)
        drafts.text_input("Why", why, max_chars=REASON_CHARS, placeholder="what you saw (optional)")
        with st.container(horizontal=True, gap="xsmall"):
            for words, passed, key, name in WORDS:
                mine = author in passed_by and passed_by[author] is passed
                st.button(
                    words,
                    key=f"mark-{name}-{why.key}",
                    shortcut=key,
                    type="primary" if mine else "secondary",
                    on_click=writing.save_verdict,
                    args=(state.workspace(), report.run, node.sub_goal, passed),
                    kwargs={"why": why},
                )
            st.button(
                "Withdraw",
                icon=":material/undo:",
                key=f"withdraw-{why.key}",
                shortcut="W",
                type="tertiary",
                disabled=author not in passed_by,
                help="Withdraws your verdict. The history keeps it.",
                on_click=writing.withdraw_verdict,
                args=(state.workspace(), report.run, node.sub_goal),
                kwargs={"author": author},
            )
