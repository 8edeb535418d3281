"""Which choices cost us, over all runs?"""

from __future__ import annotations

import streamlit as st

from components.decisions import histories, plan_statements, to_change
from components.shared import cards, state
from untaken.views import choice_review, decision_kinds

LAST = "decisions_last_view"
"""The view that somebody who comes back from a run sees again."""
VIEWS = {"plan": "Plan changes in the same task", "skills": "Histories of skills", "change": "What to change"}


def main() -> None:
    cards.headline("Decisions", "Which choices cost us, over all runs?")
    kinds = state.derived(decision_kinds)
    if not kinds:
        cards.nothing_here()
        return
    asked = state.selected("view") or ("skills" if state.selected("choice") else None)
    usual = st.session_state.get(LAST) or kinds[0]
    view = cards.picker(
        "Compare",
        VIEWS,
        asked if asked in VIEWS else usual,
        lambda name: state.select(run=state.selected("run"), view=name),
        key="decisions_view",
        draw=st.segmented_control,
        required=True,
        help="Plan changes: what runs of one task did in the same state of the plan. Histories: what the "
        "policy memory knows of each skill. What to change: the few choices that succeeded more often.",
    )
    st.session_state[LAST] = view
    if view == "plan":
        plan_statements.draw(state.compared())
    elif view == "change":
        to_change.draw()
    else:
        histories.draw(state.derived(choice_review))


main()
