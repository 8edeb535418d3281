"""Where does the outcome mislead us, and what should we fix first?"""

from __future__ import annotations

import streamlit as st

from components import figures
from components.annotate import first_graph, graph_doubts
from components.figures.agents import ranked_metrics
from components.overview import better_ways, fix_first, three_numbers, unhandled_failures
from components.shared import cards, first_steps, state, tables, text
from untaken.answers import contradictory, review_queue, sub_goal_failures
from untaken.answers.overview import graphs_by_misses, overview
from untaken.answers.review import table_of_items
from untaken.corpus import corpus_doubts
from untaken.errors import Unscored
from untaken.fix_first import triage_by_agent
from untaken.present.numbers import counted
from untaken.ranking import HEADLINE

MOST_RUNS = 200


corpus = state.compared()
cards.headline("Overview", "Where does the outcome mislead us, and what should we fix first?")
if not corpus.runs:
    cards.nothing_here()
    st.stop()

if "every" in st.session_state:  # a run was chosen: what is above the table is not drawn once more
    every = state.drawn(lambda: table_of_items(state.derived(review_queue)), "every run")
    if (row := tables.picked("every", len(every))) is not None:
        state.open_run(str(every["digest"].iloc[row]))

metric = "critical_completion"
seen = overview(corpus, metric=metric)
if isinstance(seen.lucky.rate, Unscored):
    metric = "completion"
    seen = overview(corpus, metric=metric)
lost = seen.broken + len(state.unread())
broken = f" · {counted(lost, 'broken ledger')}, excluded" if lost else ""
st.caption(
    f"{counted(seen.runs, 'run')} · {counted(seen.agents, 'agent')} · "
    f"{counted(seen.tasks, 'task')} · "
    f"{counted(seen.graphs, 'plan graph')}{broken}{cards.left_out()}  \n"
    f"{text.label(state.rules().in_words(), 200)}"
)
first_steps.tour()
first_graph.offer()
three_numbers.draw(seen)
graph_doubts.show(state.derived(corpus_doubts))
fix_first.draw(corpus, state.derived(triage_by_agent))
better_ways.draw(corpus)

if len(ranked_metrics(corpus.ranking, HEADLINE)) > 1:
    st.subheader("From outcome rank to sub-goal rank", anchor=False)
    shared = counted(len(corpus.ranking.shared_tasks), "task")
    st.caption(f"Over the {shared} that every agent ran. Agents whose lines cross change order.")
    tables.figure(
        lambda: figures.rank_flow(corpus.ranking, metrics=HEADLINE, dark=state.is_dark()),
        key="flow",
        name="Rank flow",
        of=(),
    )

found = contradictory(state.derived(review_queue))
if found:
    st.subheader("Runs that contradict themselves", anchor=False)
    many = counted(len(found), "run")
    st.caption(f"{many} whose outcome and sub-goals disagree; largest effect first.")
    cards.run_links(found[:3], empty="")
unhandled_failures.links()

failures = state.derived(sub_goal_failures)
graphs = state.derived(graphs_by_misses)
if graphs:
    st.subheader("Which sub-goals are missed", anchor=False)
    st.caption("Share of each agent's runs in which the sub-goal was completed. ★ critical.")
    graph = graphs[0]
    if len(graphs) > 1:
        graph = st.selectbox(
            "Plan graph, most missed first",
            graphs,
            format_func=lambda name: text.one_line(name, 80),
            key="overview_graph",
        )
    tables.figure(
        lambda: figures.sub_goal_bars(failures[failures["graph"] == graph], dark=state.is_dark()),
        key="missed",
        name="Sub-goals by agent",
        of=(graph,),
    )

st.subheader("All runs in review order", anchor=False)
every = state.drawn(lambda: table_of_items(state.derived(review_queue)), "every run")
tables.table(
    every,
    key="every",
    name="Runs in review order",
    selectable=True,
    height=320,
    most=MOST_RUNS,
    columns={
        "why": st.column_config.TextColumn(width=420),
        "completion": st.column_config.ProgressColumn(
            "completion", format="percent", min_value=0.0, max_value=1.0
        ),
        "digest": None,
        "weight": None,
    },
)
