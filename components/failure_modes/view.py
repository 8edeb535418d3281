"""Failure modes: the matrix with the runs behind a cell, contrast with successes, course over time."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import figures
from components.figures.failure_modes import MOST_GROUPS
from components.review import panel as review_panel
from components.shared import cards, state, tables, text
from components.shared.panels import panel
from untaken.analysis import BY, By, kept_taxonomy
from untaken.numbers import counted
from untaken.views import (
    ModeAnalysis,
    analyse_modes,
    dump,
    failing_shapes,
    mode_contrast_table,
    mode_pivot_table,
    mode_runs_table,
    mode_trend_table,
    modes_document,
    reviewed_runs,
    runs_to_read,
)

BY_WORDS: Final[dict[By, str]] = {
    "agent": "Agent",
    "task": "Task",
    "sub_goal": "Sub-goal",
    "version": "Version",
    "model": "Model",
}
ALL_READ: Final = "modes_all_read"
COMPARED: Final = "Compared with successful runs"
HIDDEN: Final = {"mode_id": None, "rate_reason": None}


def analysis() -> ModeAnalysis:
    """What the runs listed say that were read, grouped as the address asks."""
    store, of_all = state.workspace(), state.lists_all()
    known = state.derived(runs_to_read, of_all=of_all)
    shapes = state.later(failing_shapes, state.later(runs_to_read, of_all=of_all), of_all=of_all)
    every = bool(st.session_state.get(state.ALL_READ))
    reviewed = frozenset(known.unbroken) if every else reviewed_runs(store.reviews.every())
    taxonomy = kept_taxonomy(store.path)
    return analyse_modes(state.listed(), known, taxonomy, by=grouped_by(), reviewed=reviewed, shapes=shapes)


def _all_read() -> None:
    state.forget_scope()
    st.session_state[state.ALL_READ] = st.session_state[ALL_READ]


def grouped_by() -> By:
    """What the address groups by; by agent where it asks for nothing known."""
    return next((by for by in BY if by == state.selected("by")), "agent")


@panel
def progress(found: ModeAnalysis) -> None:
    """What was read, and the rule of every rate."""
    kinds = len(found.names)
    st.caption(
        f"{len(found.read):,} of {counted(found.runs, 'run')} read · {found.failed:,} of them failed · "
        f"{counted(kinds, 'failure mode')} seen  \nRates are over failed runs that were read: with a "
        "note, a mode, or a review that is explained or fixed."
    )


def nothing_read() -> None:
    """What to do before there is anything to count."""
    st.info(
        "No run has been read yet. Open a failing run, write what you see and assign a failure mode. "
        "“What to read” lists the runs to read first.",
        icon=":material/menu_book:",
    )
    st.page_link("pages/review.py", label="Open the queue", query_params=state.scope())


@panel
def pivot(found: ModeAnalysis) -> None:
    """The matrix, the runs behind a cell, and the contrast."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if found.read:
            st.session_state["modes_by"] = grouped_by()
            st.segmented_control(
                "Group by",
                list(BY),
                format_func=BY_WORDS.__getitem__,
                required=True,
                key="modes_by",
                on_change=lambda: state.select(view="modes", by=st.session_state["modes_by"]),
            )
        st.session_state[ALL_READ] = bool(st.session_state.get(state.ALL_READ))
        st.toggle(
            "Every run was read",
            key=ALL_READ,
            on_change=_all_read,
            help="Turn on where labels are complete: a run without a mode then counts as free of all modes.",
        )
    if not found.read:
        nothing_read()
        return
    groups, by = found.pivot.groups, found.pivot.by
    marked = (state.selected("mode") or "", state.selected("group") or "")
    drawn = figures.mode_matrix(found.pivot, found.names, marked=marked, dark=state.is_dark())

    def pick(carried: str) -> None:
        # The figure carries the place of a group: its name may hold spaces.
        mode, _, place = carried.partition(" ")
        state.select(view="modes", by=by, mode=mode, group=groups[int(place)])

    st.caption("Failed runs with the mode / failed runs read. Select a cell to list its runs.")
    # Another grouping is another figure: what is selected in it is not in this one.
    tables.figure(drawn, key=f"modes-{by}", name=f"Failure modes by {BY_WORDS[by].lower()}", on_pick=pick)
    hidden = len(groups) - MOST_GROUPS
    if hidden > 0:
        st.caption(f"{hidden:,} more groups are in the table below.")
    _runs_behind(found)
    contrast(found)
    tables.folded_table(
        "Rates and intervals",
        lambda: mode_pivot_table(found),
        key="mode-rates",
        name="Failure mode rates",
        columns=HIDDEN,
    )
    # Asked for here: a download is made outside of the session.
    run_ids = {digest: run.run_id for digest, run in state.listed().runs.items()}
    findings = state.listed_findings()
    tables.download(
        lambda: dump(modes_document(found, run_ids, findings=findings)).encode(),
        label="Failure modes (JSON)",
        file="modes.json",
        key="modes-json",
    )
    review_panel.link_to_this()


def _runs_behind(found: ModeAnalysis) -> None:
    mode, group = state.selected("mode"), state.selected("group")
    cell = next((c for c in found.pivot.cells if (c.mode, c.group) == (mode, group)), None)
    if cell is None:
        return
    st.subheader("Runs", anchor=False)
    st.caption(
        f"{text.label(found.names[cell.mode])} · {text.label(cell.group)}. Select a row to open the run."
    )
    if not cell.runs:
        st.info("No run that was read shows this mode here.")
        return
    tables.runs_table(mode_runs_table(found, cell.runs), key="mode-runs", name="Runs with the mode")


def contrast(found: ModeAnalysis) -> None:
    """Whether successful runs of the same tasks show each mode just as often."""
    if not any(one.tasks for one in found.contrasts):
        st.subheader(COMPARED, anchor=False)
        st.info(
            "Nothing to compare yet: no task has both a failed and a successful run that were read. Read "
            "a few successful runs of the same tasks and write a note, even if there is nothing to see."
        )
        return
    drawn = figures.mode_contrasts(found.contrasts, found.names, dark=state.is_dark())
    tables.figure(
        drawn,
        key="mode-contrasts",
        name=COMPARED,
        about="Share of failed runs with the mode minus that of successful runs of the same tasks, with 95% "
        "interval. Near 0, the mode may harm nothing. An association, not a cause.",
    )
    tables.folded_table(
        "Counts and p-values",
        lambda: mode_contrast_table(found),
        key="mode-contrast-table",
        name="Contrast with successes",
        columns={"mode_id": None, "difference_reason": None},
    )


@panel
def over_time(found: ModeAnalysis) -> None:
    """The rate of one mode by period."""
    if not found.pivot.modes:
        nothing_read()
        return
    modes = {mode: text.one_line(found.names[mode], 80) for mode in found.pivot.modes}
    asked = state.selected("mode")
    shown = asked if asked in modes else next(iter(modes))
    mode = cards.picker(
        "Failure mode", modes, shown, lambda one: state.select(view="time", mode=one), key="modes_course"
    )
    drawn = figures.mode_over_time(found.trend, mode, dark=state.is_dark())
    tables.figure(drawn, key="mode-course", name="Failure mode over time")
    if found.trend.undated:
        left = counted(found.trend.undated, "failed run")
        st.caption(f"{left} left out: no timestamps.")
    tables.folded_table(
        "Every mode and period",
        lambda: mode_trend_table(found),
        key="mode-trend",
        name="Failure modes over time",
        columns=HIDDEN,
    )
    review_panel.link_to_this()
