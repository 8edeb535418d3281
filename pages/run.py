"""What happened in this run?"""

from __future__ import annotations

import streamlit as st

from components import (
    cards,
    compare_choice,
    note_panel,
    review_writing,
    run_evidence,
    run_list,
    run_plan_changes,
    run_tabs,
    run_unhandled_failures,
    run_verdicts,
    run_view,
    state,
    text,
)
from untaken.report import run_report


def main() -> None:
    cards.headline("Run", "What happened in this run?")
    corpus = state.corpus()
    if not corpus.runs:
        cards.nothing_here()
        return
    chosen = run_list.choose_run(corpus)
    if chosen is None:
        return
    review_writing.say()
    report = run_report(corpus, chosen)
    run_view.integrity_banner(report)
    run_view.facts(report)
    compare_choice.link(report.run)
    run_verdicts.warning(report)
    run_unhandled_failures.failures(report)
    run_plan_changes.headline(corpus, chosen)
    run_evidence.plan_and_evidence(report)
    note_panel.of_run(report)
    run_tabs.show(corpus, report)
    with st.expander("Run identity"):
        st.code(f"run id  {text.one_line(report.run.run_id, 500)}\ndigest  {chosen}", language=None)


main()
