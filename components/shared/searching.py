"""Search over runs, tasks and sub-goals, from any page."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.run import run_list
from components.shared import state, text
from untaken.answers import review_queue
from untaken.corpus import Corpus

MOST: Final = 12


@st.dialog("Search", width="large")
def search() -> None:
    """Ask for words and list what holds all of them, each with the way there."""
    asked = st.text_input(
        "Runs, tasks and sub-goals", key="search_words", placeholder="agent, task, run id or title"
    )
    words = asked.casefold().split()
    if not words:
        st.caption("Type a few letters. All words must match.")
        return
    corpus = state.corpus()
    found = [*runs_with(corpus, words), *sub_goals_with(corpus, words)]
    if not found:
        st.info("Nothing found.")
    for page, label, asked_for in found:
        st.page_link(page, label=label, query_params=asked_for | state.scope())


def runs_with(corpus: Corpus, words: list[str]) -> list[tuple[str, str, dict[str, str]]]:
    """Runs whose agent, task or id hold all words: page, label and address of each."""
    lines = ((item.digest, run_list.run_words(item)) for item in review_queue(corpus))
    kept = [(digest, line) for digest, line in lines if all(word in line.casefold() for word in words)]
    return [
        (state.RUN_PAGE, f"Run · {text.label(line, 160)}", {"run": digest}) for digest, line in kept[:MOST]
    ]


def sub_goals_with(corpus: Corpus, words: list[str]) -> list[tuple[str, str, dict[str, str]]]:
    """Sub-goals whose title, id or graph hold all words."""
    nodes = ((graph, node) for graph in corpus.graphs.graphs for node in graph.sub_goals)
    kept = [
        (graph.id, node.id, f"{node.title or node.id} · {graph.title or graph.id}")
        for graph, node in nodes
        if all(word in f"{node.title} {node.id} {graph.title} {graph.id}".casefold() for word in words)
    ]
    return [
        ("pages/annotate.py", f"Sub-goal · {text.label(line, 160)}", {"graph": graph, "sub_goal": node})
        for graph, node, line in kept[:MOST]
    ]
