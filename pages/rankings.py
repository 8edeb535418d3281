"""Do outcome and sub-goal rankings agree, and who is ahead?"""

from __future__ import annotations

import streamlit as st

from components.rankings import tabs
from components.shared import cards, sharing, state, tables, text
from untaken.numbers import counted

corpus = state.compared()
cards.headline(
    "Rankings", "Do outcome and sub-goal rankings agree?", share=sharing.share_report if corpus.runs else None
)
if not corpus.runs:
    cards.nothing_here()
    st.stop()
if all(run.integrity.broken for run in corpus.runs.values()):
    cards.all_broken()
    st.stop()
report = corpus.ranking
unmatched = (
    f" · {counted(len(report.unmatched_tasks), 'task')} that not every agent ran, left out"
    if report.unmatched_tasks
    else ""
)
everyone = " that every agent ran" if tabs.several_agents(report) else ""
st.caption(
    f"Over {counted(len(report.shared_tasks), 'task')}{everyone}{unmatched} · repeats "
    f"averaged per task first  \n{text.label(state.rules().in_words(), 200)}"
)
if report.unmatched_tasks:
    tables.folded(
        counted(len(report.unmatched_tasks), "unmatched task"),
        lambda: st.code("\n".join(map(text.one_line, report.unmatched_tasks)), language=None),
        key="unmatched",
    )

tabs.flow(report)
tabs.draw(corpus)
