"""Choices to change: what succeeded more often, and what is only cheaper."""

from __future__ import annotations

import streamlit as st

from components.shared import state, text
from components.shared.panels import panel
from untaken.counterfactual import context_words
from untaken.numbers import counted, interval, signed
from untaken.views import AdvisedChoice, CheaperOption, ShownChoice, choices_to_change


@panel
def draw() -> None:
    """The first few choices, with the runs behind each."""
    found = state.derived(choices_to_change)
    st.subheader("Choices that succeeded more often", anchor=False)
    if found.silent:
        st.caption(f"{text.label(found.silent[:1].upper() + found.silent[1:], 200)}.")
    else:
        st.caption(
            "By success alone, inside one task and agent: an association. ✓ marks what may be followed."
        )
    for one in found.choices:
        _choice(one)
    if found.cheaper:
        st.markdown("**Cheaper at the same success**")
        for option in found.cheaper:
            st.caption(_cheaper(option))
    if found.skipping:
        many = counted(found.skipping, "cheaper or shorter choice")
        st.caption(f"{many} not listed: a critical sub-goal is completed less often there.")
    if left := found.count - len(found.choices):
        st.caption(f"{left:,} more under the other two views.")


def _choice(shown: ShownChoice) -> None:
    one = shown.choice
    with st.container(border=True, gap="xsmall"):
        if one.reason:
            st.markdown(f"**Not recommended: {text.label(one.cautions or one.reason, 300)}**")
        mark = "✓ " if one.recommended else ""
        st.text(f"{mark}{text.one_line(f'{one.selected} → {one.alternative} · {_where(one)}', 300)}")
        st.caption(
            f"{text.label(one.words, 600)}. Gain in success {signed(one.gain, 3)} "
            f"({interval(one.gain_low, one.gain_high, digits=3)}): taken in {one.often.count:,} of "
            f"{counted(one.often.n, 'run')}."
        )
        at = "decision" if one.kind == "skill" else "change"
        with st.container(horizontal=True, gap="medium"):
            for run in shown.runs:
                repeat = "" if run.task_repeat is None else f" · repeat {run.task_repeat}"
                st.page_link(
                    state.RUN_PAGE,
                    label=f"{text.label(run.agent, 30)} on {text.label(run.task_id, 40)}{repeat}",
                    query_params={"run": run.digest, at: str(run.seq)} | state.scope(),
                )
            if one.kind == "skill":
                st.page_link(
                    "pages/decisions.py",
                    label="Open in Decisions",
                    query_params={"choice": one.digest} | state.scope(),
                )


def _where(one: AdvisedChoice | CheaperOption) -> str:
    return context_words(one.context, one.context_hash or "")


def _cheaper(one: CheaperOption) -> str:
    named = (
        f"{text.label(one.selected, 60)} → {text.label(one.alternative, 60)} · {text.label(_where(one), 80)}"
    )
    return f"{named}: {text.label(one.words, 300)} ({counted(len(one.runs), 'run')})"
