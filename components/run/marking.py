"""Marking a sub-goal of a run as met, not met or cannot tell, by the reviewer who sits here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from components.review import signing, writing
from components.run.unsaved import reason_field
from components.shared import drafts, reviewer, roles, state
from untaken.ledger import Verdict
from untaken.scoring import NodeScore, not_withdrawn
from untaken.views import RunReport, decided_by_check

WORDS: Final[tuple[tuple[str, bool | None, str, str], ...]] = (
    ("✓ Met", True, "Y", "met"),
    ("✗ Not met", False, "X", "not-met"),
    ("? Cannot tell", None, "T", "unsure"),
)
"""Of each mark: label, what is recorded, key, the widget's name. On Review, digits set a status."""
REASON_CHARS: Final = 2_000


def marking(report: RunReport, node: NodeScore) -> None:
    """The three buttons and a field for why; what the reviewer said before is marked."""
    if report.integrity.broken:
        st.caption("You cannot add a verdict: the ledger is broken.")
        return
    if not roles.may("reviewer"):
        return
    with st.container(key="marking", gap="xsmall"):
        author, store = reviewer.author() or "", state.workspace()
        given = not_withdrawn(report.run.of(Verdict))
        # the last one of each counts
        passed_by = {v.by: v.passed for v in given if v.sub_goal == node.sub_goal}
        if decided_by_check(node):
            st.caption(
                "This sub-goal is decided by its check. Your verdict is recorded but does not "
                "change the score."
            )
        why = reason_field(report.run, node.sub_goal)

        def verdict(passed: bool | None) -> Callable[[str], None]:
            return lambda author: writing.save_verdict(
                store, report.run, node.sub_goal, passed, author=author, why=why
            )

        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            for words, passed, key, name in WORDS:
                # `None` is a verdict, too: cannot tell.
                mine = author in passed_by and passed_by[author] is passed
                st.button(
                    words,
                    key=f"mark-{name}-{why.key}",
                    shortcut=key,
                    type="primary" if mine else "secondary",
                    on_click=signing.save,
                    args=(verdict(passed),),
                )
            if author in passed_by:
                st.button(
                    "Withdraw",
                    icon=":material/undo:",
                    key=f"withdraw-{why.key}",
                    shortcut="W",
                    type="tertiary",
                    help="Withdraws your verdict. The history keeps it.",
                    on_click=writing.withdraw_verdict,
                    args=(store, report.run, node.sub_goal),
                    kwargs={"author": author},
                )
        drafts.text_input(
            "Why",
            why,
            max_chars=REASON_CHARS,
            placeholder="Why? What you saw (optional)",
            label_visibility="collapsed",
        )
        signing.signer("verdict")
