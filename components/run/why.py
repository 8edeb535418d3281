"""Why the run went as it did: cause, remedy and note on one card."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.compare import choice
from components.review import panel as review_panel
from components.run import note_panel, plan_changes
from components.run.evidence import pick
from components.run.view import named
from components.shared import roles, state, text
from components.shared.panels import panel
from untaken.analysis import triage
from untaken.errors import Unscored
from untaken.numbers import counted
from untaken.views import PLAN, RunReport, decision_kinds
from untaken.workspace import Review

DIAGNOSIS_WORDS: Final = {
    "clean": "Nothing went wrong",
    "inside": "Attempted but not completed: look at tool calls and reasoning",
    "skipping": "Never attempted: look at planning",
    "violation": "A critical step was skipped",
    "not_detecting_errors": "Failures occurred and nothing changed",
    "unscored": "No diagnosis",
}


@panel
def draw(report: RunReport, review: Review) -> None:
    """Draw the card; on its left what happened, on its right what the reviewer writes about it."""
    with st.container(border=True, key="why"):
        left, right = st.columns([11, 9], gap="medium")
        with left, st.container(gap="xxsmall", key="cause"):
            _cause(report)
            _others(report)
            if PLAN in state.derived(decision_kinds, of_all=True):
                plan_changes.headline(state.corpus(), report.run.digest)
        with right:
            note_panel.of_run(report)
        with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="next-steps"):
            if roles.may("reviewer"):
                review_panel.status(review)
            _evidence_button(report.cause.sub_goal)
            choice.link(report.run)


def _cause(report: RunReport) -> None:
    score = report.score
    if report.integrity.broken:
        st.markdown("**The ledger is broken: nothing is concluded from this run.**")
        return
    if isinstance(score, Unscored):
        st.markdown("**This run has no sub-goal score.**")
        st.text(text.one_line(score.reason, 400))
        return
    fine = score.diagnosis == "clean"
    lucky = report.contradiction is not None and report.contradiction.kind == "lucky"
    mark = "check_circle" if fine else "casino" if lucky else "troubleshoot"
    about = report.cause.sub_goal
    st.markdown(f":material/{mark}: **{text.label(report.cause.headline, 200)}**")
    if report.cause.detail:
        st.text(text.sentence(text.one_line(named(report, report.cause.detail), 500)))
    reason = text.sentence(text.label(named(report, score.diagnosis_reason), 400))
    other = bool(about) and f"'{about}'" not in score.diagnosis_advice
    alone = fine or other or score.diagnosis_advice  # the advice says what to look at
    # Where one sub-goal alone is undone, its count says no more than the headline.
    repeats = alone and score.diagnosis in ("inside", "skipping") and score.required - score.completed == 1
    if score.diagnosis_reason != report.cause.detail and not repeats:
        st.caption(reason if alone else f"{DIAGNOSIS_WORDS[score.diagnosis]}: {reason}")
    if score.diagnosis_advice and not other:  # it is for the failure that the headline names
        st.text(text.one_line(named(report, score.diagnosis_advice), 600))


def _others(report: RunReport) -> None:
    """How many runs fail first where this one does: whether it is worth more than this run."""
    found = state.derived(triage, of_all=state.lists_all()).failing_like(report.run.digest)
    if found is not None and found[1]:
        goal, others = found
        place = "here" if goal == report.cause.sub_goal else f"at {named(report, repr(goal))}"
        st.caption(text.label(f"{counted(others, 'other run')} fail{'s' * (others == 1)} {place} first", 120))


def _evidence_button(about: str) -> None:
    if about and about != state.selected("sub_goal"):
        st.button(
            "Show evidence", key="show-cause", type="tertiary", shortcut="E", on_click=pick, args=(about,)
        )
