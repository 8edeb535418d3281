"""Several reviewers: how far they agree, and the sub-goals of runs on which they part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components import figures
from components.shared import state, tables, text
from components.shared.panels import panel
from untaken.analysis import DECISIVE_RECORD, RootCauseAgreement, ceiling_words, kept_taxonomy, mode_agreement
from untaken.errors import Unscored, first_few
from untaken.judging import ReviewerPair, Reviewers
from untaken.numbers import counted, decimal, interval
from untaken.views import (
    ReviewerDisagreement,
    corpus_reviewer_pairs,
    corpus_reviewers,
    corpus_root_causes,
    disagreement_queue,
    dump,
    imported_in_words,
    mode_agreement_table,
    modes_agree_document,
    reliability_table,
    reviewer_disagreements_table,
    reviewer_pairs_table,
    root_cause_table,
)

SEEN: Final = "disagreement_row_seen"
PAIR_HIDDEN: Final = ("clusters", "cluster", "low_reason", "kappa_reason", "kappa_low_reason")


@panel
def disagreements() -> None:
    """The queue of disagreements; choosing one opens its run at the sub-goal."""
    reviewers = state.derived(corpus_reviewers, of_all=state.lists_all())
    queue: tuple[ReviewerDisagreement, ...] = state.derived(
        disagreement_queue, reviewers, of_all=state.lists_all()
    )
    contradictions = sum(one.judged.contradicts for one in queue)
    if not queue:
        st.info("No two reviewers disagree on any sub-goal. Give verdicts on the Run page, per sub-goal.")
        return
    st.caption(
        f"{counted(contradictions, 'sub-goal')} where one reviewer says met and another not met, and"
        f" {len(queue) - contradictions:,} where one gave an answer and another chose “cannot tell”. "
        "Critical ones come first. The majority decides; a tie leaves a sub-goal unscored. Choose a row to "
        "open it."
    )
    row = tables.table(
        reviewer_disagreements_table(queue),
        key="disagreements",
        name="Where reviewers disagree",
        selectable=True,
        height=tables.height_of(len(queue)),
        columns={"digest": None, "sub_goal": None},
    )
    if row is not None and st.session_state.get(SEEN) != row:
        st.session_state[SEEN] = row  # the table keeps its selection on the page it opens
        state.open_run(queue[row].judged.digest, sub_goal=queue[row].judged.sub_goal)
    st.session_state[SEEN] = row


@panel
def agreement() -> None:
    """Krippendorff's α over all and by sub-goal; share and Cohen's κ of every two reviewers."""
    found: Reviewers = state.derived(corpus_reviewers, of_all=state.lists_all())
    whole = found.overall
    if not whole.reviewers:
        st.info("No verdicts by reviewers yet. Give verdicts on the Run page, per sub-goal.")
        return
    st.caption(_in_words(found))
    st.caption(imported_in_words(state.listed()))
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
    if len(whole.reviewers) > 1:
        two_by_two(state.derived(corpus_reviewer_pairs, of_all=state.lists_all()), len(whole.reviewers))


def two_by_two(pairs: Sequence[ReviewerPair], reviewers: int) -> None:
    """Share of one opinion and κ of every two reviewers, drawn and as a table."""
    if not any(pair.n for pair in pairs):
        st.caption(_pairs_in_words(pairs, reviewers))
    else:
        tables.figure(
            figures.reviewer_pairs_figure(pairs, dark=state.is_dark()),
            key="reviewer-pairs",
            name="Agreement by pair of reviewers",
            about=_pairs_in_words(pairs, reviewers),
        )
    missing = any(isinstance(value, Unscored) for pair in pairs for value in (pair.kappa, pair.kappa_low))
    why = (
        {"kappa_low_reason": st.column_config.TextColumn("why κ or its interval is missing")}
        if missing
        else {}
    )
    tables.table(
        reviewer_pairs_table(pairs),
        key="reviewer-pairs-table",
        name="Agreement by pair of reviewers",
        columns={**dict.fromkeys(PAIR_HIDDEN), **why},
    )


def _in_words(found: Reviewers) -> str:
    whole = found.overall
    names = first_few([text.label(name.removeprefix("human:"), 40) for name in whole.reviewers], 6)
    if isinstance(whole.alpha, Unscored):
        alpha = f"Krippendorff's α is unscored: {whole.alpha.reason}"
    elif isinstance(whole.low, Unscored) or isinstance(whole.high, Unscored):
        why = text.label(
            next(end.reason for end in (whole.low, whole.high) if isinstance(end, Unscored)), 160
        )
        alpha = f"Krippendorff's α {decimal(whole.alpha)}, without an interval: {why}"
    else:
        alpha = (
            f"Krippendorff's α {decimal(whole.alpha)} (95% {interval(whole.low, whole.high)}, jackknife "
            f"over {whole.cluster}s)"
        )
    return (
        f"{names}: two or more answered on {counted(whole.items, 'sub-goal')} of "
        f"{counted(whole.runs, 'run')} and agree on {whole.agreed:,}. {alpha}. {whole.alone:,} have one "
        f"answer only; {counted(whole.unsure, 'answer')} “cannot tell” count as missing."
    )


def _pairs_in_words(pairs: Sequence[ReviewerPair], reviewers: int) -> str:
    common = [pair for pair in pairs if pair.n]
    clear = sum(pair.beyond_chance for pair in common)
    bare = sum(isinstance(pair.kappa, Unscored) for pair in common)
    unsure = sum(isinstance(pair.kappa_low, Unscored) for pair in common) - bare  # no κ, no interval
    words = [
        f"{counted(len(pairs), 'pair')} of reviewers, {len(common):,} of them with sub-goals that "
        f"both answered; {clear:,} agree clearly beyond chance: the whole interval of Cohen's κ is above 0."
    ]
    if bare:
        words.append(f"κ of {bare:,} is unscored and shown as text.")
    if unsure:
        words.append(f"κ of {unsure:,} has no interval and an open mark: do not rely on it.")
    left = reviewers - len({name for pair in pairs for name in (pair.a, pair.b)})
    if pairs and left > 0:
        words.append(f"Left out: {counted(left, 'reviewer')} with few or no answers.")
    return " ".join(words)


def _root_causes(causes: Sequence[RootCauseAgreement]) -> None:
    """How far people name the same root cause, and automatic blame with each of them."""
    st.caption(
        "Root cause: where a person says that a run went wrong first. Automatic blame is the decisive step; "
        f"it cannot be shown to do better than two people agree. {text.label(ceiling_words(causes), 300)}. "
        f"{DECISIVE_RECORD}."
    )
    tables.table(
        root_cause_table(causes),
        key="root-causes",
        name="Agreement on root causes",
        columns={"same_low_reason": None, "kappa_reason": None},
    )


@panel
def of_modes() -> None:
    """How far every two people see the same failure modes, and at the same step."""
    taxonomy = kept_taxonomy(state.workspace().path)
    found = mode_agreement(state.listed().runs.values(), taxonomy)
    causes = state.derived(corpus_root_causes, of_all=state.lists_all())
    findings = state.listed_findings()
    st.subheader("Failure modes")
    if causes:
        _root_causes(causes)
    tables.download(
        lambda: dump(modes_agree_document(found, causes, taxonomy, findings=findings)).encode(),
        label="Agreement on modes and root causes (JSON)",
        file="modes-agree.json",
        key="modes-agree-json",
    )
    if not found:
        st.info("No two people have read the same run yet. Write a note or assign a mode on the Run page.")
        return
    st.caption(
        "Over the runs that both read: a note or a word on a mode. Without a mode: all of them together. "
        "No automatic assignment can be expected to agree better than people do."
    )
    tables.table(
        mode_agreement_table(found, taxonomy),
        key="mode-agreement",
        name="Agreement on failure modes",
        columns={
            "mode": st.column_config.TextColumn("failure mode"),
            "kappa_reason": None,
            "kappa_low_reason": st.column_config.TextColumn("why κ has no interval"),
        },
    )
