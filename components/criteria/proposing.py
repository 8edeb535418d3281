"""Asking a language model for criteria, on the Criteria page: what it may cost, how far it is, what came."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from components import figures
from components.shared import drafts, roles, state, tables, text
from components.shared.panels import panel
from untaken.errors import UntakenError
from untaken.judging import (
    SETTING,
    TASK_CHARS,
    ModelAccess,
    Proposal,
    ReplyStore,
    Spent,
    UniqueCount,
    change_criteria,
    editing,
    example_pair,
    keep_answers,
    known_texts_to_judges,
    not_proposed,
    propose,
)
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.views import unique_table

REPLIES: Final = "replies"
"""Folder of model replies in the workspace."""
MESSAGE: Final = "criteria_told"
STILL_LOOKING: Final = (
    "Still looking for possible prompt injections in the runs shown to the model; the Data page lists them."
)


@panel
def draw(runs: Sequence[Run]) -> None:
    """The panel; one sentence where no model is named."""
    name = os.environ.get(SETTING, "")
    if not name:
        st.caption(
            f"To propose criteria with a language model, set the environment variable `{SETTING}` (for "
            "example openai:gpt-4.1) and restart the app. Everything else here works without one."
        )
        return
    successful, failed = example_pair(runs)
    place = drafts.DraftField(name="propose_task")
    with st.container(border=True):
        st.markdown(f"**Ask {text.label(name, 80)} for criteria**")
        task = drafts.text_area("What is the agent for?", place, max_chars=TASK_CHARS, height=90)
        left, middle, right = st.columns([1, 1, 2], vertical_alignment="bottom")
        seeds = left.number_input(
            "Seeds", 1, 50, 5, key="propose_seeds", help="How often to ask with each prompt."
        )
        budget = middle.number_input("Most requests", 1, 1_000, 40, key="propose_budget")
        shown = right.checkbox(
            _pair_words(successful, failed),
            value=bool(successful or failed),
            disabled=not (successful or failed),
            key="propose_runs",
        )
        asked = st.button("Propose", key="propose")
    if asked:
        pair = (successful, failed) if shown else (None, None)
        _ask(name, task.strip(), pair, seeds=int(seeds), budget=int(budget))
        st.rerun()


def _pair_words(successful: Run | None, failed: Run | None) -> str:
    names = [text.one_line(run.run_id, 40) for run in (successful, failed) if run is not None]
    return f"Include {' and '.join(names)}" if names else "No run here to show"


def _ask(name: str, task: str, pair: tuple[Run | None, Run | None], *, seeds: int, budget: int) -> None:
    if not task:
        st.session_state[MESSAGE] = ("✗ Describe in one sentence what the agent is for.", ())
        return
    folder, bar = state.workspace().path, st.progress(0.0, text="Asking …")

    def progress(done: int, total: int, what: str) -> None:
        bar.progress(min(done / max(total, 1), 1.0), text=f"{done} of {total}: {text.label(what, 60)}")

    try:
        roles.need("owner")
        with ModelAccess(name, ReplyStore(folder / REPLIES), budget=budget) as model:
            found = propose(
                task,
                successful=pair[0],
                failed=pair[1],
                model=model,
                seeds=range(seeds),
                progress=progress,
                search=False,  # slow: the message says where the search is not done
            )
            spent = model.spent
        if not found.criteria.criteria:
            raise not_proposed(found)
        before = len(change_criteria(folder, lambda c: c).criteria)  # changes nothing: those that are there
        after = change_criteria(folder, partial(editing.add, others=found.criteria.criteria))
        keep_answers(folder, found.answers)
    except UntakenError as error:
        st.session_state[MESSAGE] = (f"✗ {error.message}. {error.hint}", ())
    else:
        message = _summary(found, len(after.criteria) - before, spent)
        unseen = any(run is not None and known_texts_to_judges(run) is None for run in pair)
        findings = [finding.message for finding in found.findings]
        st.session_state[MESSAGE] = (message, [*findings, *([STILL_LOOKING] if unseen else [])])


def _summary(found: Proposal, new: int, spent: Spent) -> str:
    count = len(found.criteria.criteria)
    asked = f"{counted(spent.requests, 'request')}, {spent.input_tokens:,} tokens in"
    noun = "criterion" if count == 1 else "criteria"
    message = [
        f"✓ {count} {noun} proposed, {new} new here; review them in the list.",
        f"{asked}, {spent.output_tokens:,} out; {spent.from_store} answers from the reply store.",
    ]
    if found.unanswered:
        message.append(f"{len(found.unanswered)} without an answer: {found.unanswered[0]}.")
    return " ".join(message)


@panel
def show_message() -> None:
    """The result of the last proposal of this session, shown once, with its findings."""
    message, findings = st.session_state.pop(MESSAGE, ("", ()))
    if message:
        (st.success if message.startswith("✓") else st.error)(text.label(message, 600))
    for finding in findings[:5]:
        st.warning(text.label(finding, 300))


@panel
def unique(counts: Sequence[UniqueCount]) -> None:
    """The number of different criteria by number of seeds, if something was proposed here."""
    if not counts:
        return
    tables.figure(
        figures.unique_criteria(counts, dark=state.is_dark()),
        key="unique",
        name="Does asking more often find new criteria?",
        about="Seeds are drawn without replacement. Bars show the middle 95% of draws. Criteria whose texts "
        f"are alike (cosine above τ) are merged: {min(count.tau for count in counts):g} is usual, 1 merges "
        "equal names only.",
    )
    with st.expander("As a table"):
        tables.table(unique_table(counts), key="unique-table", name="Different criteria by seeds", height=240)
