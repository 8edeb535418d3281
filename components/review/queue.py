"""The queue of failing runs, and beside it the one that is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
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
LIST: Final = "review-queue"
CAUSE_CHARS: Final = 160
NAME_CHARS: Final = 56
HERE: Final = Path(__file__).parent

_list = st.components.v2.component(
    "untaken_queue",
    html='<ol aria-label="Runs to review"></ol>',
    css=(HERE / "queue.css").read_text("utf-8"),
    js=(HERE / "queue.js").read_text("utf-8"),
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


def _row(case: Case, *, blind: bool) -> dict[str, str]:
    """A case as the list shows it: its status, the cause, the run, who reviews it."""
    item, review = case.item, case.review
    repeat = "" if item.task_repeat is None else f" #{item.task_repeat}"
    run = text.short(f"{item.agent} on {item.task_id}", NAME_CHARS) + repeat
    row = {"digest": item.digest, "icon": review_panel.ICONS[review.status], "status": review.status}
    if blind:  # causes count the verdicts of others
        return row | {"what": "", "run": run}
    cause = f"{cards.KIND_ICONS[item.kind]} {text.one_line(case.cause.headline, CAUSE_CHARS)}"
    assignee = f" · {text.one_line(review.assignee, 40)}" if review.assignee else ""
    return row | {"what": cause, "run": run + assignee}


@panel
def queue(shown: Sequence[Case], digest: str | None) -> None:
    """The cases as a list; choosing one looks at its run."""
    listed = shown[:MOST_ROWS]
    if len(listed) < len(shown):
        st.caption(f"The first {MOST_ROWS:,} of {len(shown):,} runs; download the table to see all.")
    blind = second_reading.hides()
    rows = [_row(one, blind=blind) for one in listed]

    def pick() -> None:
        asked = getattr(st.session_state.get(LIST), "picked", None)
        if any(row["digest"] == asked for row in rows):  # whatever a browser sends
            state.select(run=asked)

    _list(key=LIST, data={"rows": rows, "here": digest}, on_picked_change=pick)
    if not blind:
        name = "Review queue"
        tables.download(
            lambda: tables.csv(cases_table(shown)),
            label=f"{name} (CSV)",
            file=f"{text.file_name(name)}.csv",
            key=LIST,
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

    tables.download(document, label="Review (JSON)", file="review.json", key="review-json")


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
