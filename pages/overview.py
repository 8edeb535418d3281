"""Where does the outcome mislead us, and what should we fix first?"""

from __future__ import annotations

import streamlit as st

from components import figures
from components.annotate import first_graph
from components.overview import view
from components.shared import cards, first_steps, sharing, starting, state, tables, text
from untaken.analysis import HEADLINE, corpus_doubts, triage
from untaken.numbers import counted
from untaken.views import corpus_usage, first_numbers, ranking_remarks, ranks_alone, read_next, review_order

seen = state.derived(first_numbers)  # kept with the workspace: the first numbers need no run to be read
cards.headline(
    "Overview",
    "Where does the outcome mislead us, and what should we fix first?",
    share=sharing.share_report if seen.runs else None,
)
if not seen.runs:
    cards.nothing_here()
    st.stop()

if not seen.agents:
    cards.all_broken()
    st.stop()

lost = seen.broken + len(state.unread())
counts = [
    counted(seen.runs, "run"),
    counted(seen.agents, "agent"),
    counted(seen.tasks, "task"),
    counted(seen.graphs, "plan graph"),
]
counts += [f"{counted(lost, 'broken ledger')}, excluded"] if lost else []
st.caption(f"{' · '.join(counts)}  \n{text.label(state.rules().in_words(), 200)}")
first_steps.offer_tour()
first_graph.offer()
view.numbers(seen)
cards.remarks(state.derived(ranking_remarks))
if not seen.graphs:
    view.usage(state.derived(corpus_usage))
starting.load_tables()
first_graph.doubts([one for one in state.derived(corpus_doubts) if one.severity != "note"])


def reading() -> None:
    """The runs to read next, and the way to the queue."""
    found = state.derived(read_next, lambda: state.derived(review_order))
    st.subheader("Read next", anchor=False)
    st.caption(
        "First runs whose outcome misleads, then one run for each way of failing."
        if found.count
        else "No run failed, and none succeeded without a critical sub-goal."
    )
    if not found.count:
        return
    with st.container(border=True, gap=None, key="read-next"):
        for item in found.items:
            state.run_link(cards.item_words(item), item.digest)
            st.caption(text.label(item.why, 240))
    st.page_link(
        "pages/review.py", label=f"{counted(found.count, 'run')} in the queue", query_params=state.scope()
    )


ranking = state.derived(ranks_alone)
# One ranking crosses no other: then there is no figure, and the runs to read go beside the list.
ranked = len(ranking.ranked_metrics(HEADLINE)) > 1
view.fix_first(state.derived(triage), below=None if ranked else reading)
if ranked:
    ranks, runs = st.columns([3, 2], gap="medium")
    with ranks, st.container(key="rank-flow"):
        tables.figure(
            lambda: figures.rank_flow(ranking, metrics=HEADLINE, dark=state.is_dark()),
            key="flow",
            name="Where ranks differ",
            of=(),
            about=f"Over the {counted(len(ranking.shared_tasks), 'task')} that every agent ran. Agents whose "
            "lines cross change places.",
        )
        st.page_link("pages/rankings.py", label="All rankings", query_params=state.scope())
    with runs:
        reading()
