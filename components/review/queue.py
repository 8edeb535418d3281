"""The queue of failing runs, and beside it the one that is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import streamlit as st

from components.plan.view import plan_view
from components.review import panel as review_panel
from components.review import writing
from components.run import note_panel, run_list
from components.shared import cards, listed_runs, reviewer, state, tables, text
from components.shared.panels import panel
from components.transcript import view
from untaken.answers import dump
from untaken.answers.reviewing import (
    Case,
    cases_table,
    corpus_reviewers,
    disagreement_queue,
    failing_cases,
    progress_of,
    review_document,
    with_reviews,
)
from untaken.corpus import Corpus
from untaken.errors import Unscored
from untaken.failure_modes import Place
from untaken.present.numbers import counted
from untaken.store.reviews import STATUSES, Review
from untaken.subgoals import RunScore

MOST_FIRST: Final = 3
MOST_ROWS: Final = 1_000
ROW_SEEN: Final = "review_row_seen"
FIRST_SEEN: Final = ("cause", "run", "status")
"""What a reviewer reads to choose a run, before anything else."""
WIDTHS: Final = {"here": 24, "cause": 240, "run": 236, "status": 90}
"""Pixels; all but the status fit beside a run on a screen 1,280 wide, the status at 1,440."""
MOST_HIGH: Final = 540
CAUSE_CHARS: Final = 84
"""Of a cause, or of a run's agent and task: they fill the three lines of a row."""
ROW: Final = 72
"""Pixels of a row: three lines. Streamlit wraps text in rows of more than 64."""
HIDDEN: Final = (
    "task_id",
    "agent",
    "kind",
    "why",
    "run_id",
    "digest",
    "revision",
    "model",
    "task_repeat",
    "diagnosis",
    "updated_at",
    "updated_by",
)


def cases(*, of_all: bool) -> tuple[Case, ...]:
    """The failing runs of the agents compared, or of all, as if nobody had reviewed them."""
    return state.derived(failing_cases, state.derived(corpus_reviewers, of_all=of_all), of_all=of_all)


def not_listed(reviews: Mapping[str, Review]) -> Case | None:
    """The case that a link names, where its agent is not among those whose runs are listed."""
    asked = state.selected("run")
    if asked is None or state.is_listed(asked):
        return None
    found = next((case for case in cases(of_all=True) if case.item.digest == asked), None)
    return with_reviews([found], reviews)[0] if found else None


@panel
def progress(shown: Sequence[Case], everything: Sequence[Case]) -> None:
    """How many of the failing runs shown are explained or fixed."""
    now, whole = progress_of(shown), progress_of(everything)
    part = "" if now.total == whole.total else f" · {whole.reviewed:,} of all {whole.total:,}"
    share = now.reviewed / now.total if now.total else 0.0
    counts = " · ".join(f"{review_panel.ICONS[one]} {now.statuses[one]:,} {one}" for one in STATUSES)
    words = f"**{now.reviewed:,} of {now.total:,} reviewed** (explained or fixed){part}"
    st.progress(share, text=f"{words} · {counts}")


@panel
def chosen(shown: Sequence[Case], everything: Sequence[Case]) -> Case | None:
    """The case of the run that is selected, else the first one shown.

    A case that a change of status took out of the filters stays until the next one is asked for.
    """
    by_digest = {case.item.digest: case for case in everything}
    asked = state.selected("run")
    if asked in by_digest:
        return by_digest[asked]
    if asked is not None and shown:
        st.caption("The linked run needs no review. This is the first run in the queue.")
    if not shown:
        return None
    state.select(run=shown[0].item.digest)
    return shown[0]


@panel
def keys(shown: Sequence[Case], everything: Sequence[Case], case: Case) -> None:
    """Buttons and keys to the previous and the next case shown."""
    here = [one.item.digest for one in shown]
    digest = case.item.digest
    if digest in here:
        place = f"**{here.index(digest) + 1:,} of {len(here):,}**"
    else:
        place = "outside the filters" if state.is_listed(digest) else "not listed"
    before, after = _around(shown, everything, digest)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
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


@panel
def queue(shown: Sequence[Case], case: Case | None) -> None:
    """The cases as a table; choosing a row looks at its run."""
    frame = cases_table(shown)
    frame["status"] = [f"{review_panel.ICONS[one.review.status]} {one.review.status}" for one in shown]
    frame["cause"] = [
        f"{cards.KIND_ICONS[one.item.kind]}\u00a0{text.short(one.item.cause.headline, CAUSE_CHARS)}"
        for one in shown
    ]
    frame["run"] = [
        text.short(f"{one.item.agent} on {one.item.task_id}", CAUSE_CHARS)
        + ("" if one.item.task_repeat is None else f" #{one.item.task_repeat}")
        for one in shown
    ]
    frame = frame[[*FIRST_SEEN, *(name for name in frame.columns if name not in FIRST_SEEN)]]
    here = [("▸" if case and one.item.digest == case.item.digest else "") for one in shown]
    frame.insert(0, "here", here)
    row = tables.table(
        frame,
        key="review-queue",
        name="Review queue",
        selectable=True,
        height=min(38 + ROW * max(len(shown), 1), MOST_HIGH),
        row_height=ROW,
        most=MOST_ROWS,
        columns={
            "here": st.column_config.TextColumn(
                "▸", width=WIDTHS["here"], help="The run shown beside the queue"
            ),
            "cause": st.column_config.TextColumn("cause", width=WIDTHS["cause"]),
            "run": st.column_config.TextColumn("run", width=WIDTHS["run"]),
            "status": st.column_config.TextColumn(width=WIDTHS["status"]),
            "completion": st.column_config.ProgressColumn(
                "completion", format="percent", min_value=0, max_value=1
            ),
            **dict.fromkeys(HIDDEN),
        },
    )
    if row is not None and st.session_state.get(ROW_SEEN) != row:
        st.session_state[ROW_SEEN] = row
        state.select(run=shown[row].item.digest)
        st.rerun()
    st.session_state[ROW_SEEN] = row


@panel
def export(shown: Sequence[Case]) -> None:
    """The queue as the command line prints it, with the same runs, filters, order and rules."""
    of_all = state.lists_all()
    found = state.derived(corpus_reviewers, of_all=of_all)
    disagreements = state.derived(disagreement_queue, found, of_all=of_all)
    findings = state.listed_findings()
    tables.download(
        lambda: dump(review_document(shown, found, disagreements, findings=findings)).encode(),
        label="Review (JSON)",
        file="review.json",
        mime="application/json",
        key="review-json",
    )


@panel
def bulk(shown: Sequence[Case]) -> None:
    """Set the status of every case shown, behind a second thought."""
    author = reviewer.author()
    with st.popover(f"Set all {len(shown):,} shown to …", disabled=author is None or not shown):
        status = st.selectbox("Status", STATUSES, key="bulk-status", format_func=str.capitalize)
        st.caption("Changes that others made since this page was loaded are kept and listed.")
        st.button(
            f"Set {counted(len(shown), 'run')}",
            key="bulk-set",
            type="primary",
            on_click=writing.save_review,
            args=(state.workspace(), [case.review for case in shown]),
            kwargs={"author": author or "", "status": status},
        )


@panel
def look(corpus: Corpus, case: Case, tags: Sequence[str]) -> None:
    """One case: what went wrong first, its plan graph, and its review status."""
    item, run = case.item, corpus.runs[case.item.digest]
    if not state.is_listed(run.digest):
        listed_runs.not_compared(run.agent)
    with st.container(border=True, key="review-case"):
        state.run_link(cards.item_words(item), item.digest)
        if reviewer.reviewer() is None:
            st.caption("To make changes, enter your name at the top of the page.")
        review_panel.status(case.review, keys=True)
        st.markdown(f"**{text.label(item.cause.headline, 200)}**")
        if item.cause.detail:
            st.text(text.one_line(item.cause.detail, 500))
        if len(case.first) > 1:
            more = f" and {len(case.first) - MOST_FIRST} more" if len(case.first) > MOST_FIRST else ""
            named = ", ".join(text.label(title, 60) for title in case.first[:MOST_FIRST])
            st.caption(f"Failed first: {named}{more}")
        if case.disagreements:
            st.caption(f"⚖ Reviewers disagree on {counted(case.disagreements, 'sub-goal')} of this run.")
        review_panel.people_and_tags(case.review, tags)
        _log(corpus, item.digest)
        goals = _goals(corpus, item.digest)
        here = [Place(sub_goal=goal) for goal in goals if goal == state.selected("sub_goal")]
        note_panel.notes_and_modes(run, here, goals=goals)
        review_panel.history(case.review)
        review_panel.link_to_this()


def _graph(corpus: Corpus, digest: str, open_goal: Callable[[str], None]) -> None:
    score = corpus.scores[digest]
    if isinstance(score, Unscored):
        st.caption(f"No plan graph: {text.label(score.reason, 200)}")
        return
    graph = next((one for one in corpus.graphs.graphs if one.id == score.graph_id), None)
    if graph is None or not graph.sub_goals:
        return
    scored = score if isinstance(score, RunScore) else None
    plan_view(graph, scored, key="review-plan", selected=state.selected("sub_goal"), on_select=open_goal)


def _log(corpus: Corpus, digest: str) -> None:
    """The plan graph and the transcript of the run; only the open tab is drawn."""

    def open_goal(sub_goal: str) -> None:
        state.select(run=digest, sub_goal=sub_goal)

    graph, log = st.tabs(["Plan graph", "Transcript"], key="review-log", on_change="rerun")
    if graph.open:
        with graph:
            _graph(corpus, digest, open_goal)
    if log.open:
        with log:
            view.transcript(corpus, digest, key="review-transcript", on_goal=open_goal)


def _goals(corpus: Corpus, digest: str) -> list[str]:
    """The sub-goals of the run's plan graph."""
    score = corpus.scores[digest]
    return [] if isinstance(score, Unscored) else [node.sub_goal for node in score.results]
