"""Failure modes: the matrix with the runs behind a cell, contrast with successes, course over time."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import figures
from components.figures.failure_modes import MOST_GROUPS
from components.review import panel as review_panel
from components.shared import cards, sharing, state, tables, text
from components.shared.panels import panel
from untaken.analysis import BY, By, Corpus, Triage, kept_taxonomy
from untaken.errors import Unscored
from untaken.numbers import counted, percent
from untaken.scoring import brief_cause
from untaken.views import (
    ModeAnalysis,
    analyse_modes,
    cause_packet,
    causes_table,
    dump,
    failing_shapes,
    mode_contrast_table,
    mode_pivot_table,
    mode_runs_table,
    mode_trend_table,
    modes_document,
    reading_order_table,
    review_order,
    reviewed_runs,
    runs_to_read,
    runs_with_unhandled_failures,
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
            cards.picker(
                "Group by", {by: BY_WORDS[by] for by in BY}, grouped_by(),
                lambda by: state.select(view="modes", by=by), key="modes_by", draw=st.segmented_control,
                required=True,
            )  # fmt: skip
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


CAUSE_COLUMNS: Final = ("cause", "sub_goal", "runs", "elsewhere_k", "elsewhere_n", "p")


@panel
def causes(found: Triage) -> None:
    """The causes of all runs compared; or that there is none."""
    if not found.causes:
        st.info("No cause is common to 3 failed runs of 2 tasks.")
        return
    st.subheader("Why they fail there", anchor=False)
    st.caption(
        f"{counted(len(found.causes), 'cause')}, each in at least 3 failed runs of 2 tasks. Elsewhere: runs "
        "that passed the same sub-goal and called the same tool. p is exact, adjusted for the values tried."
    )
    table = causes_table(found)
    row = tables.table(
        table[list(CAUSE_COLUMNS)],
        key="causes",
        name="Causes of failed runs",
        selectable=True,
        whole=lambda: table,
        columns={
            "cause": st.column_config.TextColumn(width=420),
            "sub_goal": st.column_config.TextColumn(width=170),
        },
    )
    sharing.packet(cause_packet, found.causes, "causes", brief_cause)
    if row is not None:
        state.open_run(found.causes[row].runs[0])


@panel
def unhandled() -> None:
    """How many runs saw failures and never changed their plan, and on a click which; nothing for none."""
    found = state.derived(runs_with_unhandled_failures, lambda: state.derived(review_order))
    if not found.count:
        return
    words = f"{counted(found.count, 'run')} had failures and never changed the plan"
    with st.expander(words, icon=":material/notification_important:", key="unnoticed-runs"):
        st.caption("Something was missing at the end, and no recorded plan was revised.")
        cards.run_links(found.items, empty="")
        if more := found.count - len(found.items):
            st.caption(f"{counted(more, 'run')} not shown. Runs (CSV) on the Data page has every diagnosis.")


MOST_TO_READ: Final = 200


@panel
def reading(corpus: Corpus, found: ModeAnalysis) -> None:
    """The estimate, the random draw, and the unread failing runs in the order of what they teach."""
    left, right = st.columns([5, 4], gap="medium")
    with left:
        _unseen(found)
    with right:
        _random_draw(found)
    st.subheader("Read next", anchor=False)
    st.caption(
        "Unread runs: first one for each way of failing, the most frequent way at the top, then "
        "runs where a judge and people disagree. Select a row to open the run."
    )
    if not found.order:
        st.success("Every failing run has been read.", icon=":material/check_circle:")
    else:
        frame = reading_order_table(found, corpus)
        tables.runs_table(
            frame,
            key="reading-order",
            name="Runs to read",
            most=MOST_TO_READ,
            height=tables.height_of(len(frame)),
        )
    review_panel.link_to_this()


def _unseen(found: ModeAnalysis) -> None:
    seen = found.saturation.unseen
    # Of one task's modes all are new: 100% says nothing without an interval.
    known = not isinstance(seen.share, Unscored) and not isinstance(seen.low, Unscored)
    value = percent(seen.share) if known else "not known yet"
    cards.number_card("Failures of a mode not seen yet", value, found.saturation.words)
    drawn = figures.saturation_curve(found.saturation, dark=state.is_dark())
    tables.figure(drawn, key="saturation", name="Modes seen, by number of runs read")


def _random_draw(found: ModeAnalysis) -> None:
    drawn = found.draw
    with st.container(border=True, height="stretch"):
        st.markdown("**Random draw**")
        st.caption(
            "Rates and the estimate of unseen modes are unbiased for a random sample of all runs. "
            "To report such numbers, read the runs in this order."
        )
        st.caption(f"{counted(len(drawn.read), 'run')} of the draw read · {drawn.outside:,} read outside it")
        if drawn.outside > len(drawn.read):
            st.warning(
                "Most runs read were chosen, not drawn: rates may be biased.", icon=":material/warning:"
            )
        if drawn.following is None:
            st.success("Every run has been read.")
        elif st.button("Open the next random run", key="random-run", icon=":material/casino:"):
            state.open_run(drawn.following)
