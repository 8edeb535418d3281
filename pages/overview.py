"""Where does the outcome metric mislead us, and what should we fix first?"""

from __future__ import annotations

import streamlit as st

from components import cards, figures, state, tables, text, three_numbers
from untaken.errors import Unscored
from untaken.report import (
    contradictory,
    failed_in_turn,
    overview,
    review_queue,
    review_table,
    sub_goal_failures,
)

METRICS = ("success_rate", "completion", "critical_completion")


corpus = state.compared()
cards.headline("Overview", "Where does the outcome metric mislead us, and what should we fix first?")
if not corpus.runs:
    cards.nothing_here()
    st.stop()

metric = "critical_completion"
seen = overview(corpus, metric=metric)
if isinstance(seen.lucky.rate, Unscored):
    metric = "completion"
    seen = overview(corpus, metric=metric)
broken = f" · {seen.broken} broken ledgers, in no rate" if seen.broken else ""
st.caption(
    f"{seen.runs:,} runs · {seen.agents} agents · {seen.tasks} tasks · "
    f"{cards.counted(seen.graphs, 'plan graph')}{broken}  \n"
    f"{text.label(state.rules().in_words(), 200)}"
)
three_numbers.draw(seen)

queue = state.derived(review_queue)
flow, beside = st.columns([3, 2], gap="large")
with flow:
    st.subheader("From outcome rank to sub-goal rank", anchor=False)
    st.caption(
        f"Over the {len(corpus.ranking.shared_tasks)} tasks that every agent ran. "
        "Agents whose lines cross change places."
    )
    drawn = figures.rank_flow(corpus.ranking, metrics=METRICS, dark=state.is_dark())
    tables.figure(drawn, key="flow", name="Rank flow")
with beside:
    st.subheader("Runs that contradict themselves", anchor=False)
    found = contradictory(queue)
    st.caption(f"{len(found)} runs whose outcome and sub-goals disagree; the weightiest first.")
    cards.run_links(found[:3], empty="No outcome contradicts its sub-goals here.")

st.subheader("Failing runs worth a look", anchor=False)
worst = failed_in_turn(queue)
st.caption(f"{len(worst)} failed runs; of each agent those with most critical sub-goals undone first.")
cards.run_links(worst[:6], empty="No run failed.", columns=3)

st.subheader("Which sub-goals are missed", anchor=False)
st.caption("Share of each agent's runs in which the sub-goal was completed. ★ critical.")
failures = state.derived(sub_goal_failures)
graphs = sorted(failures["graph"].unique())
graph = graphs[0] if graphs else None
if len(graphs) > 1:
    graph = st.selectbox(
        "Plan graph", graphs, format_func=lambda name: text.one_line(name, 80), key="overview_graph"
    )
drawn = figures.sub_goal_bars(failures[failures["graph"] == graph], dark=state.is_dark())
tables.figure(drawn, key="missed", name="Sub-goals by agent")

st.subheader("Every run, in the order of review", anchor=False)
every = state.derived(review_table)
row = tables.table(
    every,
    key="every",
    name="Runs in the order of review",
    selectable=True,
    height=320,
    columns={
        "completion": st.column_config.ProgressColumn(
            "completion", format="percent", min_value=0.0, max_value=1.0
        ),
        "digest": None,
        "weight": None,
    },
)
if row is not None:
    state.open_run(str(every["digest"].iloc[row]))
