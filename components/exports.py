"""What can be taken along: the JSON documents of the command line, and findings as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd
import streamlit as st

from components import tables
from untaken.corpus import Corpus
from untaken.counterfactual import THRESHOLD, Weights
from untaken.errors import Finding
from untaken.report import (
    counterfactual_document,
    csv_text,
    decisions_table,
    dump,
    finding_entries,
    rank_document,
    runs_table,
    score_document,
    sub_goals_table,
)
from untaken.report.html import html_report


def documents(corpus: Corpus) -> None:
    """A row of downloads; each document is made only when it is asked for."""
    made: tuple[tuple[str, str, Callable[[], str]], ...] = (
        ("Scores (JSON)", "score.json", lambda: _score(corpus)),
        ("Rankings (JSON)", "rank.json", lambda: dump(rank_document(corpus.ranking))),
        ("Counterfactuals (JSON)", "counterfactual.json", lambda: _counterfactual(corpus)),
        ("Runs (CSV)", "runs.csv", lambda: csv_text(runs_table(corpus))),
        ("Sub-goals (CSV)", "sub-goals.csv", lambda: csv_text(sub_goals_table(corpus))),
        ("Decisions (CSV)", "decisions.csv", lambda: csv_text(decisions_table(corpus))),
    )
    with st.container(horizontal=True):
        for label, file, make in made:
            tables.download(
                lambda make=make: make().encode(),  # type: ignore[misc]
                label=label,
                file=file,
                mime="application/json" if file.endswith("json") else "text/csv",
                key=f"export-{file}",
            )


def reports(corpus: Corpus) -> None:
    """The report for people who do not code, in both lengths; made when it is asked for."""
    made = (("Report (HTML)", "report.html", False), ("Full report (HTML)", "report-full.html", True))
    with st.container(horizontal=True):
        for label, file, full in made:
            tables.download(
                lambda full=full: html_report(corpus, full=full).encode(),  # type: ignore[misc]
                label=label,
                file=file,
                mime="text/html",
                key=f"export-{file}",
            )


def findings_table(findings: Iterable[Finding]) -> pd.DataFrame:
    """One row per finding: severity, code, message, place, next step."""
    return pd.DataFrame(finding_entries(findings)).astype({"line": "Int64"})


def _score(corpus: Corpus) -> str:
    return dump(
        score_document(
            corpus.agents,
            corpus.scores,
            run_ids={digest: run.run_id for digest, run in corpus.runs.items()},
            missing=corpus.missing,
            verdicts=corpus.verdicts,
            runs=True,
        )
    )


def _counterfactual(corpus: Corpus) -> str:
    evaluations = list(corpus.evaluations.values())
    return dump(counterfactual_document(evaluations, weights=Weights(), threshold=THRESHOLD))
