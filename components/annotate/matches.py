"""Which recorded calls the tool-call check of a sub-goal fits, before anything is saved."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import state, text
from untaken.annotating import CallMatches, matched_calls, runs_of, with_graph
from untaken.corpus import Corpus
from untaken.plans import PlanGraph, ToolCallSpec, graph_digest
from untaken.present.numbers import counted

LINKS: Final = 3


def matches(graph: PlanGraph, spec: ToolCallSpec) -> None:
    """One line with the counts, then links to calls that count and to calls that do not."""
    store = state.workspace()
    key = (str(store.path), state.content(store), graph_digest(graph), repr(spec))
    found = _matched(key, state.corpus(), graph, spec)
    if not found.calls:
        st.caption("No run with this graph calls this tool.")
        return
    sentences = [
        f"{found.counting:,} of {counted(found.calls, 'call')} of this tool match, in"
        f" "
        f"{counted(found.runs, 'run')}"
    ]
    if found.failed:
        sentences.append(f"{found.failed:,} more match, but their result does not")
    if found.unclear:
        sentences.append(f"{found.unclear:,} more match, but their result is not recorded")
    st.caption(". ".join(sentences) + ".")
    for label, examples in (("Match", found.examples), ("No match", found.misses)):
        for example in examples[:LINKS]:
            st.page_link(
                state.RUN_PAGE,
                label=f"{label}: event {example.seq} of {text.label(example.run_id, 40)}",
                query_params={"run": example.digest} | state.scope(),
            )


@st.cache_resource(ttl=3600, max_entries=16, show_spinner=False)
def _matched(key: object, _corpus: Corpus, _graph: PlanGraph, _spec: ToolCallSpec) -> CallMatches:  # noqa: ARG001 (cache key)
    there = with_graph(_corpus.graphs, _graph)
    return matched_calls(runs_of(_corpus.runs.values(), there, _graph.id), _spec)
