"""One round of error analysis as five steps across the pages: progress, the next step, and a way out."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.failure_modes import view
from components.shared import first_steps, state
from components.shared.panels import panel
from untaken.analysis import kept_issues, kept_taxonomy
from untaken.views import RoundStep, round_steps

PAGE: Final = "pages/failure_modes.py"
DOES: Final = {
    "read": "Open the next run",
    "notes": "Open a run without a note",
    "modes": "Open a note without a mode",
    "pivot": "Show the matrix",
    "issue": "Add an issue",
}


@panel
def draw(*, home: bool = False) -> None:
    """The five steps where they are followed; on the Failure modes page also the offer to begin."""
    chosen = first_steps.guide()
    if chosen in ("on", "seen"):
        _steps()
    elif home and chosen is None:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="guide"):
            st.markdown(
                "**First time?** From notes to issues in five steps: read 10 runs, note what you see, group "
                "the notes, count, track.",
                width="stretch",
            )
            st.button("Start", key="guide_start", on_click=first_steps.keep_guide, args=("on",))
            _dismiss("Dismiss")
    elif home:
        st.button(
            "Show the five steps",
            key="guide_start",
            type="tertiary",
            on_click=first_steps.keep_guide,
            args=("on",),
        )


def _steps() -> None:
    store = state.workspace()
    steps = round_steps(
        state.listed().runs,
        view.analysis(),
        kept_taxonomy(store.path),
        issues=len(kept_issues(store.path).issues),
        pivot_seen=first_steps.guide() == "seen",
    )
    current = next((one for one in steps if not one.finished), None)
    with st.container(border=True, key="guide", gap="small"):
        for column, (number, one) in zip(st.columns(len(steps)), enumerate(steps, 1), strict=True):
            mark = "✓" if one.finished else "●" if one is current else "○"
            with column:
                st.markdown(f"{mark} **{number}. {one.title}**")
                st.caption(one.words)
        finished = sum(one.finished for one in steps)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(finished / len(steps), text=f"{finished} of {len(steps)} steps done")
            if current is None:
                st.caption("One round done. Fix, then watch whether the issue reopens.", width="content")
            else:
                _button(current)
            _dismiss("Close" if current is None else "Dismiss")


def _button(one: RoundStep) -> None:
    if one.view:
        if st.button(DOES[one.name], key="guide_next", type="primary"):
            if one.name == "pivot":
                first_steps.keep_guide("seen")  # shown once, the matrix is seen
            state.select(view=one.view)
            st.switch_page(PAGE, query_params={"view": one.view} | state.scope())
    elif not one.run:
        st.caption("Write a note on the Run page first.", width="content")
    elif st.button(DOES[one.name], key="guide_next", type="primary"):
        state.open_run(one.run)


def _dismiss(words: str) -> None:
    st.button(words, key="guide_dismiss", type="tertiary", on_click=first_steps.keep_guide, args=("off",))
