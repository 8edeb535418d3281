"""The queue of failing runs, and beside it the one that is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.review import panel as review_panel
from components.review import second_reading, signing, writing
from components.run import run_list
from components.shared import cards, roles, state, tables, text
from components.shared.panels import panel
from untaken.numbers import counted
from untaken.views import (
    Case,
    cases_listed,
    cases_table,
    corpus_reviewers,
    disagreement_queue,
    dump,
    failing_cases,
    fix_first_reasons,
    progress_of,
    review_document,
    review_order,
)
from untaken.workspace import STATUSES

MOST_ROWS: Final = 1_000
ROW_SEEN: Final = "review_row_seen"
TABLE: Final = "review-queue"
FIRST_SEEN: Final = ("case", "status")
"""What a reviewer reads to choose a run, before anything else. The longest comes first: a table that draws
narrow signs before it takes the first long text for one line.
"""
WIDTHS: Final = {"here": 22, "status": 30, "case": 226}
"""Pixels: they fit in the third of a screen 1,280 wide."""
MOST_HIGH: Final = 900
ROW_CHARS: Final = 96
"""Of a cause with a run's agent and task: they fill the four lines of a row."""
NAME_CHARS: Final = 56
ROW: Final = 88
"""Pixels of a row: four lines. Streamlit wraps text in rows of more than 64."""
HIDDEN: Final = (
    "task_id",
    "agent",
    "kind",
    "run_id",
    "digest",
    "revision",
    "model",
    "task_repeat",
    "diagnosis",
    "updated_at",
    "updated_by",
    "first",
)


def cases(*, of_all: bool) -> tuple[Case, ...]:
    """The failing runs of the agents compared, or of all, as if nobody had reviewed them."""
    reviewers, order = (state.derived(made, of_all=of_all) for made in (corpus_reviewers, review_order))
    return state.derived(failing_cases, reviewers, order, of_all=of_all)


@panel
def progress(shown: Sequence[Case], everything: Sequence[Case]) -> None:
    """How many of the failing runs shown are explained or fixed."""
    now, whole = progress_of(shown), progress_of(everything)
    part = "" if now.total == whole.total else f" · {whole.reviewed:,} of all {whole.total:,}"
    share = now.reviewed / now.total if now.total else 0.0
    counts = " · ".join(f"{review_panel.ICONS[one]} {now.statuses[one]:,} {one}" for one in STATUSES)
    words = f"**{now.reviewed:,} of {now.total:,} reviewed** (explained or fixed){part}"
    st.progress(share, text=f"{words} · {counts}")


def chosen(shown: Sequence[Case], everything: Sequence[Case]) -> Case | None:
    """The case of the run that is selected, else the first one shown."""
    row = tables.picked(TABLE, len(shown))
    # A choice counts once: the table keeps its selection.
    if row is not None and st.session_state.get(ROW_SEEN) != (row, len(shown)):
        state.select(run=shown[row].item.digest)
    st.session_state[ROW_SEEN] = (row, len(shown))
    # Of all: a case that a new status took out of the filters stays until the next one is asked for.
    by_digest = {case.item.digest: case for case in everything}
    asked = state.selected("run")
    if asked in by_digest:
        return by_digest[asked]
    if not shown:
        return None
    state.select(run=shown[0].item.digest)
    return shown[0]


def linked() -> str | None:
    """The run of the workspace that a link names although it needs no review, or was drawn at random."""
    asked = state.selected("run")
    return asked if asked in state.corpus().runs else None


@panel
def keys(shown: Sequence[Case], everything: Sequence[Case], digest: str) -> None:
    """Buttons and keys to the previous and the next case shown."""
    here = [one.item.digest for one in shown]
    if digest in here:
        place = f"**{here.index(digest) + 1:,} of {len(here):,}**"
    elif not state.is_listed(digest):
        place = "not listed"
    else:
        waits = any(one.item.digest == digest for one in everything)
        place = "outside the filters" if waits else "needs no review"
    before, after = _around(shown, everything, digest)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="queue-keys"):
        st.markdown(place, width="stretch")
        run_list.step("Previous", ":material/chevron_left:", "K", before)
        run_list.step("Next", ":material/chevron_right:", "J", after)


def _around(shown: Sequence[Case], everything: Sequence[Case], digest: str) -> tuple[str | None, str | None]:
    """The cases shown before and after one, which need not be among them."""
    order = [one.item.digest for one in everything]
    at = order.index(digest) if digest in order else -1
    kept = {one.item.digest for one in shown}
    before = next((one for one in reversed(order[: max(at, 0)]) if one in kept), None)
    return before, next((one for one in order[at + 1 :] if one in kept), None)


def _row(case: Case, *, blind: bool) -> str:
    """The cause and the run."""
    item = case.item
    repeat = "" if item.task_repeat is None else f" #{item.task_repeat}"
    run = text.short(f"{item.agent} on {item.task_id}", NAME_CHARS) + repeat
    if blind:
        return run
    cause = text.one_line(case.cause.headline, ROW_CHARS - len(run))  # ends earlier: the run is whole
    return f"{cards.KIND_ICONS[item.kind]}\u00a0{cause} · {run}"


@panel
def queue(shown: Sequence[Case], digest: str | None) -> None:
    """The cases as a table; choosing a row looks at its run."""
    listed = shown[:MOST_ROWS]
    if len(listed) < len(shown):
        st.caption(f"The first {MOST_ROWS:,} of {len(shown):,} runs; download the table to see all.")
    frame = cases_listed(listed)
    frame["status"] = [review_panel.ICONS[one.review.status] for one in listed]
    blind = second_reading.hides()  # causes count the verdicts of others
    frame["case"] = [_row(one, blind=blind) for one in listed]
    frame = frame[[*FIRST_SEEN, *(name for name in frame.columns if name not in FIRST_SEEN)]]
    if blind:
        frame = frame[list(FIRST_SEEN)]
    frame.insert(len(FIRST_SEEN), "here", [("▸" if one.item.digest == digest else "") for one in listed])
    tables.table(
        frame,
        key=TABLE,
        name="Review queue",
        selectable=True,
        height=min(38 + ROW * max(len(shown), 1), MOST_HIGH),
        row_height=ROW,
        whole=None if blind else lambda: cases_table(shown),
        columns={
            "here": st.column_config.TextColumn("▸", width=WIDTHS["here"], help="The run beside the queue"),
            "status": st.column_config.TextColumn(
                "○", width=WIDTHS["status"], help="○ new, ◐ in review, ● explained, ✔ fixed"
            ),
            "case": st.column_config.TextColumn("run", width=WIDTHS["case"]),
            "completion": st.column_config.ProgressColumn(
                "completion", format="percent", min_value=0, max_value=1
            ),
            **dict.fromkeys(HIDDEN),
        },
    )


@panel
def export(shown: Sequence[Case]) -> None:
    """The queue as the command line prints it, with the same runs, filters, order and rules."""
    of_all = state.lists_all()
    found = state.derived(corpus_reviewers, of_all=of_all)
    disagreements = state.derived(disagreement_queue, found, of_all=of_all)
    findings = state.listed_findings()
    reasons = state.later(fix_first_reasons, of_all=of_all)  # takes long: for who takes the document

    def document() -> bytes:
        whole = review_document(shown, found, disagreements, reasons=reasons(), findings=findings)
        return dump(whole).encode()

    tables.download(
        document,
        label="Review (JSON)",
        file="review.json",
        key="review-json",
    )


@panel
def bulk(shown: Sequence[Case]) -> None:
    """Set the status of every case shown, behind a second thought."""
    if not roles.may("reviewer"):
        return
    store = state.workspace()
    with st.popover(f"Set all {len(shown):,} shown to …", disabled=not shown):
        status = st.selectbox("Status", STATUSES, key="bulk-status", format_func=str.capitalize)
        st.caption("Changes that others made since this page was loaded are kept and listed.")
        reviews = [case.review for case in shown]
        st.button(
            f"Set {counted(len(shown), 'run')}",
            key="bulk-set",
            type="primary",
            on_click=signing.save,
            args=(lambda author: writing.save_review(store, reviews, author=author, status=status),),
        )
        signing.signer("bulk")
