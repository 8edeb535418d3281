"""What can be taken along: the JSON documents of the command line, and findings as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import pandas as pd
import streamlit as st

from components.shared import tables, text
from components.shared.panels import panel
from untaken.analysis import Corpus
from untaken.errors import Finding
from untaken.views import EXPORTED, csv_text, decisions_table, dump, entry, runs_table, sub_goals_table

FINDING_ROW: Final = 72
"""Pixels of a finding in a table: three lines. Streamlit wraps text in rows of more than 64."""
FINDING_WIDTHS: Final = {"code": 110, "severity": 66, "message": 420, "file": 116, "line": 46, "run": 116}
"""Pixels; `hint`, the next step, follows the message."""


@panel
def documents(corpus: Corpus, reading: Sequence[Finding], unread: Sequence[Finding]) -> None:
    """A row of downloads; each document is made only when it is asked for."""

    def document(verb: str) -> str:
        return dump(EXPORTED[verb](corpus, reading, unread))

    made: tuple[tuple[str, str, Callable[[], str]], ...] = (
        ("Scores (JSON)", "score.json", lambda: document("score")),
        ("Rankings (JSON)", "rank.json", lambda: document("rank")),
        ("Counterfactuals (JSON)", "counterfactual.json", lambda: document("counterfactual")),
        ("Runs (CSV)", "runs.csv", lambda: csv_text(runs_table(corpus))),
        ("Sub-goals (CSV)", "sub-goals.csv", lambda: csv_text(sub_goals_table(corpus))),
        ("Decisions (CSV)", "decisions.csv", lambda: csv_text(decisions_table(corpus))),
    )
    with st.container(horizontal=True):
        for label, file, make in made:
            tables.download(
                # Bound now: the loop goes on.
                lambda make=make: make().encode(),  # type: ignore[misc]
                label=label,
                file=file,
                key=f"export-{file}",
            )


@panel
def findings(found: Sequence[Finding], *, key: str, name: str) -> None:
    """Findings as a table, of which a screen shows three."""
    whole = findings_table(found)
    steps = [f"{text.sentence(one.message)}. {one.hint}".rstrip() for one in found]
    columns = {column: st.column_config.Column(width=width) for column, width in FINDING_WIDTHS.items()}
    tables.table(
        whole.assign(message=steps),
        key=key,
        name=name,
        height=38 + FINDING_ROW * min(len(found), 3),
        columns=columns | {"hint": None},
        row_height=FINDING_ROW,
        whole=lambda: whole,
    )


def findings_table(findings: Iterable[Finding]) -> pd.DataFrame:
    """One row per finding: severity, code, message, place, next step."""
    # Else floats, where one has none.
    return pd.DataFrame([entry(one) for one in findings]).astype({"line": "Int64"})
