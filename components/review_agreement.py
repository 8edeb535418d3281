"""Several reviewers: how far they agree, and the sub-goals of runs on which they part."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import cards, figures, state, tables, text
from untaken.errors import Unscored
from untaken.judging import Reviewers
from untaken.report.reviewing import (
    Parted,
    corpus_reviewers,
    disagreement_queue,
    parted_table,
    reliability_table,
)

SEEN: Final = "parted_row_seen"


def disagreements() -> None:
    """The queue of disagreements; choosing one opens its run at the sub-goal."""
    queue: tuple[Parted, ...] = state.derived(disagreement_queue, of_all=True)
    contradictions = sum(one.judged.contradicts for one in queue)
    if not queue:
        st.info("No two reviewers differ on any sub-goal. Verdicts are given on the Run page, per sub-goal.")
        return
    st.caption(
        f"{cards.counted(contradictions, 'sub-goal')} of runs where one reviewer says met and another not, "
        f"and {len(queue) - contradictions:,} where one could tell and another could not. Critical ones come "
        "first. A tie leaves a sub-goal unscored; otherwise the majority decides. Choose a row to open it."
    )
    row = tables.table(
        parted_table(queue),
        key="parted",
        name="Where reviewers part",
        selectable=True,
        height=min(38 + 35 * len(queue), 420),
        columns={"digest": None, "sub_goal": None},
    )
    if row is not None and st.session_state.get(SEEN) != row:
        st.session_state[SEEN] = row  # the table keeps its selection on the page it opens
        state.open_run(queue[row].judged.digest, sub_goal=queue[row].judged.sub_goal)
    st.session_state[SEEN] = row


def agreement() -> None:
    """Krippendorff's α over all and by sub-goal."""
    found: Reviewers = state.derived(corpus_reviewers, of_all=True)
    whole = found.overall
    if not whole.reviewers:
        st.info("No reviewer gave a verdict yet. Verdicts are given on the Run page, per sub-goal.")
        return
    st.caption(_in_words(found))
    if whole.items:
        tables.figure(
            figures.reliability_figure(found, dark=state.is_dark()),
            key="reliability",
            name="Agreement of reviewers",
        )
    tables.table(
        reliability_table(found),
        key="reliability-table",
        name="Agreement of reviewers by sub-goal",
        columns={"alpha_reason": None, "low_reason": None},
    )


def _in_words(found: Reviewers) -> str:
    whole = found.overall
    names = ", ".join(text.label(name.removeprefix("human:"), 40) for name in whole.reviewers[:6])
    more = f" and {len(whole.reviewers) - 6} more" if len(whole.reviewers) > 6 else ""
    if isinstance(whole.alpha, Unscored):
        alpha = f"Krippendorff's α is unscored: {whole.alpha.reason}"
    elif isinstance(whole.low, Unscored) or isinstance(whole.high, Unscored):
        alpha = f"Krippendorff's α {whole.alpha:.2f}"
    else:
        alpha = (
            f"Krippendorff's α {whole.alpha:.2f} (95 % {whole.low:.2f} to {whole.high:.2f}, runs drawn anew)"
        )
    return (
        f"{names}{more}: two or more could tell on {cards.counted(whole.items, 'sub-goal')} of "
        f"{cards.counted(whole.runs, 'run')}, and have one opinion on {whole.agreed:,}. {alpha}. "
        f"{whole.alone:,} have an opinion of one only; {cards.counted(whole.unsure, 'answer')} “cannot tell” "
        "count as missing."
    )
