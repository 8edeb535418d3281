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
    # Before the widget is drawn: Streamlit refuses to set the value of one that is there.
    st.session_state["decisions_view"] = asked if asked in VIEWS else usual
    view = st.segmented_control(
        "Compare",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        required=True,
        key="decisions_view",
        on_change=lambda: state.select(run=state.selected("run"), view=st.session_state["decisions_view"]),
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
