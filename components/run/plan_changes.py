"""The plan changes of one run: a line of states, what is supported of other ways, and who went them."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import figures
from components.compare import choice
from components.shared import cards, state, tables, text
from components.shared.panels import panel
from untaken.analysis import Corpus, blame_words
from untaken.counterfactual import EvaluatedDecision, EvaluatedPath, PlanAlternative
from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.views import (
    alternative_words,
    corpus_root_causes,
    did_words,
    doing_words,
    plan_changes_table,
    plan_silence,
)

LINKS: Final = 5


@panel
def headline(corpus: Corpus, digest: str) -> None:
    """The one sentence on a failed run that took a worse way than others; nothing where none is supported."""
    run = corpus.plans.runs.get(digest)
    found = run.better_way if run else None
    if found is None:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            ":material/alt_route: **Other runs of this task took an option that succeeded more often.**"
        )
        st.text(text.one_line(alternative_words(found[0].decision, found[1]), 700))
        st.caption(
            f"At event {found[0].decision.seq}. An association: it says how such runs ended. "
            "See the tab Plan changes."
        )


@panel
def changes(corpus: Corpus, digest: str) -> None:
    """The figure, its table, and the siblings of one change; or why there is nothing."""
    run = corpus.plans.runs.get(digest)
    if run is None:
        why = corpus.plans.silent.get(digest, Unscored("the run is not evaluated"))
        st.info(text.label(f"No plan changes: {why.reason}.", 300))
        # The one reason that the reader can do something about here.
        if "mutates" in why.reason:
            st.page_link("pages/annotate.py", label="Declare the tools that change something (Annotate)")
        return
    silence = plan_silence(run)
    if silence:
        st.info(text.label(silence, 500))
    st.caption(
        "Each change that the run made to its plan, and how likely success was after it, from runs of other "
        "tasks. The decisive step of a failed run is the largest fall. "
        + text.label(blame_words(state.derived(corpus_root_causes, of_all=state.lists_all())), 900)
    )
    tables.figure(
        figures.plan_changes_figure(run, dark=state.is_dark()),
        key="plan-changes",
        name="Plan changes of this run",
    )
    tables.table(
        plan_changes_table(run),
        key="plan-changes-table",
        name="Plan changes",
        columns={
            "state": st.column_config.TextColumn(width=190),
            "did": st.column_config.TextColumn(width=260),
        },
    )
    _siblings(corpus, run)


def _siblings(corpus: Corpus, run: EvaluatedPath) -> None:
    """Who went the other way from one of the changes, with outcomes."""
    offered = {str(d.decision.seq): d for d in run.decisions if d.alternatives}
    st.subheader("Runs that took another option here", anchor=False)
    if not offered:
        st.caption("No other run of this task took another option in the same state.")
        return
    asked = state.selected("change") or str(run.decisive_seq)
    seq = asked if asked in offered else next(iter(offered))
    words = {at: f"event {at}: {did_words(one.decision.option)}" for at, one in offered.items()}
    cards.picker(
        "At the plan change",
        {at: text.one_line(line, 90) for at, line in words.items()},
        seq,
        lambda at: state.select(run=run.path.digest, change=at),
        key="plan_change",
    )
    for alternative in offered[seq].alternatives:
        _alternative(corpus, run, offered[seq], alternative)


def _alternative(
    corpus: Corpus, run: EvaluatedPath, decision: EvaluatedDecision, alternative: PlanAlternative
) -> None:
    succeeded, known = alternative.siblings_succeeded
    with st.container(border=True, gap="xsmall"):
        went = counted(len(alternative.siblings), "run")
        st.text(
            text.one_line(f"{doing_words(alternative.option)}: {went}, {succeeded} of {known} succeeded", 200)
        )
        st.caption(text.label(alternative_words(decision.decision, alternative), 700))
        there = [corpus.runs[digest] for digest in alternative.siblings if digest in corpus.runs]
        # Successes first: they show where the other option led.
        there.sort(key=lambda other: other.success is not True)
        for other in there[:LINKS]:
            _sibling(run, other)
        if len(there) > LINKS:
            st.caption(f"and {len(there) - LINKS:,} more")


def _sibling(run: EvaluatedPath, other: Run) -> None:
    repeat = text.repeat(other.started.task_repeat)
    with st.container(horizontal=True, gap="medium"):
        state.run_link(f"{text.outcome(other.success)} {text.label(other.agent, 40)}{repeat}", other.digest)
        st.page_link(
            choice.PAGE,
            label="side by side",
            query_params={
                "task": other.task_id,
                "runs": f"{run.path.digest},{other.digest}",
                "reference": other.digest,
            }
            | state.scope(),
        )
