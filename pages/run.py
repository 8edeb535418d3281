"""What happened in this run?"""

from __future__ import annotations

import streamlit as st

from components import (
    cards,
    compare_choice,
    note_panel,
    review_panel,
    review_writing,
    run_events,
    run_evidence,
    run_list,
    run_plan_changes,
    run_unnoticed,
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
    run_unnoticed.failures(report)
    run_plan_changes.headline(corpus, chosen)
    run_evidence.plan_and_evidence(report)
    note_panel.of_run(report)
    views = {
        "Events": run_events.timeline,
        "Decision points": run_events.decisions,
        "Plan changes": lambda _: run_plan_changes.changes(corpus, chosen),
        "Progress": run_events.progress,
        "Sub-goals": run_evidence.sub_goal_table,
        "Findings": run_events.findings,
        "Review": lambda shown: review_panel.of_run(shown.run),
    }
    asked = "Decision points" if state.selected("decision") else "Events"
    asked = "Plan changes" if state.selected("change") else asked
    for tab, show in zip(st.tabs(list(views), default=asked, key="run_tabs"), views.values(), strict=True):
        with tab:
            show(report)
    with st.expander("Run identity"):
        st.code(f"run id  {text.one_line(report.run.run_id, 500)}\ndigest  {chosen}", language=None)


main()
