"""Where does the outcome mislead us, and what should we fix first?"""

from __future__ import annotations

import streamlit as st

from components import figures
from components.annotate import first_graph, graph_doubts
from components.figures.agents import ranked_metrics
from components.overview import (
    causes,
    choices,
    fix_first,
    missed_sub_goals,
    three_numbers,
    unhandled_failures,
)
from components.shared import cards, first_steps, starting, state, tables, text, usage_table
from untaken.answers import OrderedRun, review_order, review_table, sub_goal_failures
from untaken.answers.first_page import (
    contradictory_runs,
    first_numbers,
    first_to_review,
    ranking_remarks,
    ranks_alone,
)
from untaken.answers.overview import graphs_by_misses
from untaken.answers.review import table_of_items
from untaken.answers.usage import corpus_usage
from untaken.corpus import corpus_doubts
from untaken.fix_first import triage_by_agent
from untaken.present.numbers import counted
from untaken.ranking import HEADLINE


def order() -> tuple[OrderedRun, ...]:
    """Every run in the order of review, where an answer is worked out of it."""
    return state.derived(review_order)


seen = state.derived(first_numbers)
cards.headline("Overview", "Where does the outcome mislead us, and what should we fix first?")
if not seen.runs:
    cards.nothing_here()
    st.stop()

if "every" in st.session_state:  # a run was chosen: what is above the table is not drawn once more
    every = state.derived(first_to_review, order).items
    if (row := tables.picked("every", len(every))) is not None:
        state.open_run(every[row].digest)

lost = seen.broken + len(state.unread())
broken = f" · {counted(lost, 'broken ledger')}, excluded" if lost else ""
st.caption(
    f"{counted(seen.runs, 'run')} · {counted(seen.agents, 'agent')} · "
    f"{counted(seen.tasks, 'task')} · "
    f"{counted(seen.graphs, 'plan graph')}{broken}  \n"
    f"{text.label(state.rules().in_words(), 200)}"
)
first_steps.offer_tour()
first_graph.offer()
three_numbers.draw(seen)
cards.remarks(state.derived(ranking_remarks))
if not seen.graphs:
    usage_table.draw(state.derived(corpus_usage))
starting.load_tables()
graph_doubts.show(state.derived(corpus_doubts))
found_first = state.derived(triage_by_agent)
fix_first.draw(found_first)
causes.draw(found_first[None])
choices.draw()

ranking = state.derived(ranks_alone)
if len(ranked_metrics(ranking, HEADLINE)) > 1:
    st.subheader("From outcome rank to sub-goal rank", anchor=False)
    shared = counted(len(ranking.shared_tasks), "task")
    st.caption(f"Over the {shared} that every agent ran. Agents whose lines cross change order.")
    tables.figure(
        lambda: figures.rank_flow(ranking, metrics=HEADLINE, dark=state.is_dark()),
        key="flow",
        name="Rank flow",
        of=(),
    )

found = state.derived(contradictory_runs, order)
if found.count:
    st.subheader("Runs that contradict themselves", anchor=False)
    many = counted(found.count, "run")
    st.caption(f"{many} whose outcome and sub-goals disagree; largest effect first.")
    cards.run_links(found.items, empty="")
unhandled_failures.links()

missed_sub_goals.draw(state.derived(sub_goal_failures), state.derived(graphs_by_misses))

st.subheader("All runs in review order", anchor=False)
first = state.derived(first_to_review, order)
if len(first.items) < first.count:
    st.caption(f"The first {len(first.items):,} of {first.count:,} runs; download the table to see all.")
tables.table(
    table_of_items(first.items),
    key="every",
    name="Runs in review order",
    selectable=True,
    height=320,
    whole=state.later(review_table),
    columns={
        "why": st.column_config.TextColumn(width=420),
        "completion": st.column_config.ProgressColumn(
            "completion", format="percent", min_value=0.0, max_value=1.0
        ),
        "digest": None,
        "weight": None,
    },
)
