"""What happened in this run?"""

from __future__ import annotations

import streamlit as st

from components.compare import choice
from components.failure_modes import guide
from components.review import writing
from components.run import body, plan_changes, run_list, verdicts, view
from components.shared import cards, listed_runs, state, tables, text


def main() -> None:
    cards.headline("Run", "What happened in this run?")
    corpus = state.corpus()
    if not corpus.runs:
        cards.nothing_here()
        return
    listed_runs.switch()
    chosen = run_list.choose_run(corpus)
    if chosen is None:
        return
    if not state.is_listed(chosen):
        listed_runs.not_compared(corpus.runs[chosen].agent)
    writing.show_messages()
    guide.draw()
    report = state.report_on(chosen)
    view.integrity_banner(report)
    view.facts(report)
    choice.link(report.run)
    verdicts.warning(report)
    view.unhandled_failures(report)
    plan_changes.headline(corpus, chosen)
    body.draw(report)
    identity = f"run id  {text.one_line(report.run.run_id, 500)}\ndigest  {chosen}"
    tables.folded("Run identity", lambda: st.code(identity, language=None), key="identity")


main()
