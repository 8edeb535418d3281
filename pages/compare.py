"""Where do these runs diverge?"""

from __future__ import annotations

import streamlit as st

from components.compare import choice, view
from components.shared import cards, listed_runs, listeners, options, state, tables
from untaken.analysis import AlignedRow, Corpus, SideBySide
from untaken.views import divergences_table, matrix_table, outcome_splits_table


def main() -> None:
    cards.headline("Compare", "Where do these runs diverge?")
    corpus = state.corpus()
    if not corpus.runs:
        cards.nothing_here()
        return
    listed_runs.switch()
    choice.remember()
    with st.container(key="compare-choice"):
        left, right = st.columns(2)
        with left:
            task = choice.choose_task(corpus)
        if task is None:
            st.info(
                "No task has two runs, so there is nothing to compare. Run a task again, or with another "
                "agent, and add both runs on the Data page."
            )
            st.page_link("pages/data.py", label="Go to Data", icon=":material/upload_file:")
            return
        found = choice.choose_runs(corpus, task, beside=right)
    if found is None:
        return
    view.alignment(found)
    view.first_divergence(found)
    row = view.choose_row(found)
    view.matrix(found, row)
    views = {
        "Differences": lambda: _differences(found),
        "Linked to success": lambda: _outcomes(found),
        "Transcripts": lambda: view.transcripts(corpus, found),
        "Table": lambda: tables.table(matrix_table(found), key="cells", name="Matrix of runs", height=320),
    }
    if row is not None:
        # First, since a click in the matrix leads there.
        views = {view.STEPS: lambda: _steps(found, row, corpus)} | views
    options.tabs(view.TABS, views)


def _steps(found: SideBySide, row: AlignedRow, corpus: Corpus) -> None:
    with st.container(key="compare-steps"):
        view.pick_row(found, row)
        view.steps(found, row, corpus.runs)
    listeners.into_view("compare-steps", row.key)


def _differences(found: SideBySide) -> None:
    view.divergences(found)
    tables.folded(
        "All levels as a table",
        lambda: tables.table(divergences_table(found), key="divergences", name="Divergences", height=320),
        key="divergences",
    )


def _outcomes(found: SideBySide) -> None:
    view.outcomes(found)
    hidden = {"sub_goal": None, "p_reason": None}
    tables.table(outcome_splits_table(found), key="outcomes", name="Linked to success", columns=hidden)


main()
