"""What does past experience show?"""

from __future__ import annotations

import streamlit as st

from components.memory import view
from components.shared import cards, options, state
from untaken.counterfactual import N_MIN
from untaken.numbers import counted
from untaken.views import (
    applied_table,
    context_names,
    records_table,
    signal_review,
    signals_waiting,
    well_founded,
)


def main() -> None:
    corpus = state.compared()
    cards.headline("Memory", "What does past experience show?")
    if not corpus.runs:
        cards.nothing_here()
        return
    if not len(corpus.memory):
        st.info(
            "No history yet: it needs finished runs with a known outcome and a choice of skill. "
            "Agents record choices with `run.choose`: the skill taken, and what else was open."
        )
        return
    names = state.derived(context_names)
    review = state.derived(signal_review, state.derived(signals_waiting), names)
    snapshot = corpus.memory.snapshot(view.as_of(corpus.memory))
    records = records_table(snapshot, names)
    cards.number_cards(
        ("Observations", f"{snapshot.observations:,}", "one per decision point, plus applied weak signals"),
        ("Runs", f"{snapshot.runs:,}", "finished, unbroken, with a known success"),
        (
            "Records",
            f"{len(records):,}",
            f"a skill in a context; {well_founded(records):,} of them from {N_MIN} runs or more",
        ),
        (
            "Signals waiting",
            f"{len(review.effects):,}",
            f"{len(review.advised):,} advised: supported, and not against their direction",
        ),
    )
    cards.copies(corpus.memory)
    view.complete_link(records)
    context = view.choose_context(records, names)
    here = records[records["context_hash"] == context]
    view.skills(here, snapshot, context)
    applied = applied_table(corpus.memory, names)
    cards.show_once(view.DONE)
    more = {
        "Every record": lambda: view.every_record(records, snapshot),
        "Weak signals": lambda: view.signals(review),
    }
    if len(applied):
        more["Applied signals"] = lambda: view.applied(applied)
    options.tabs("memory_tabs", more)
    st.caption(
        f"Snapshot {snapshot.digest[:8]} of {counted(snapshot.runs, 'run')}: the same runs give the same "
        "digest."
    )


main()
