"""Do outcome and sub-goal rankings agree, and who is really better?"""

from __future__ import annotations

import streamlit as st

from components import figures
from components.rankings import pair_view, tabs
from components.rankings.words import metric_words
from components.shared import cards, state, tables, text
from untaken.answers import pairs_table

PERCENT = st.column_config.NumberColumn(format="percent")
THREE_PLACES = st.column_config.NumberColumn(format="%.3f")

corpus = state.compared()
cards.headline("Rankings", "Do outcome and sub-goal rankings agree?")
if not corpus.runs:
    cards.nothing_here()
    st.stop()
report, dark = corpus.ranking, state.is_dark()
unmatched = (
    f" · {cards.counted(len(report.unmatched_tasks), 'task')} that not every agent ran, left out"
    if report.unmatched_tasks
    else ""
)
st.caption(
    f"Over {cards.counted(len(report.shared_tasks), 'task')} that every agent ran{unmatched} · repeats "
    "averaged per task first"
    "  \n"
    f"{text.label(state.rules().in_words(), 200)}"
)
if report.unmatched_tasks:
    with st.expander(cards.counted(len(report.unmatched_tasks), "unmatched task")):
        st.code("\n".join(text.one_line(task) for task in report.unmatched_tasks), language=None)

st.subheader("Rank flow", anchor=False)
unranked = [metric_words(name) for name, found in report.metrics.items() if not any(s.rank for s in found)]
if unranked:
    st.caption(f"Not shown (no evidence): {', '.join(unranked)}.")
tables.figure(lambda: figures.rank_flow(report, dark=dark), key="flow", name="Rank flow by metric")
st.caption("Vertical lines: 95 % interval of the rank. Orange: two agents change order.")

st.subheader("Who is really better?", anchor=False)
metric = pair_view.metric(report)
compared = report.comparisons[metric]
every, picked = st.container(), st.container()
with picked:
    chosen = pair_view.pair(compared)
    if chosen:
        pair_view.detail(chosen, report, corpus.runs)
with every:
    pair_view.matrix(compared, chosen)
with st.expander("Every pair under every metric, as a table"):
    columns = dict.fromkeys(("difference", "low", "high", "p_above", "mde"), PERCENT)
    columns |= dict.fromkeys(("p", "p_holm"), THREE_PLACES)
    tables.table(state.derived(pairs_table), key="every", name="Pairs of agents", columns=columns, height=320)
tabs.draw(corpus, metric)
