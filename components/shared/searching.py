"""Search over pages, runs, tasks, sub-goals and what was said in runs, from any page."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.run import run_list
from components.shared import navigation, state, text
from untaken.analysis import Corpus
from untaken.numbers import counted
from untaken.views import review_order, texts_with

MOST: Final = 12
MOST_TEXTS: Final = 8

Found = tuple[str, str, dict[str, str]]
"""Page, label and address of what was found."""


@st.dialog("Search", width="large")
def search() -> None:
    """Ask for words and list what holds all of them, each with the way there."""
    with state.frame(), st.container(key="search", gap="small"):  # a dialog is drawn again by itself
        # The script of the frame sends words while they are typed, and moves between links by arrow keys.
        asked = st.text_input(
            "Pages, runs, tasks, sub-goals and texts of runs",
            key="search_words",
            placeholder="page, agent, task, run id, title, or words of a message or tool call",
        )
        words = asked.casefold().split()
        found, whole = everything_with(state.listed(), words)
        for page, label, asked_for in found:
            st.page_link(page, label=label, query_params=asked_for | state.scope())
        if not found:
            st.info("Nothing found.")
        if left := 0 if state.lists_all() else state.runs_left_out():
            st.caption(
                f"Not searched: {counted(left, 'run')} of agents that are not compared. “All agents” on the "
                "Queue or Run page includes them."
            )
        more = "" if whole else " The search stopped early: add words to find more."
        st.caption(f"All words must match. ↓ and ↑ move, Enter opens.{more}")


def everything_with(corpus: Corpus, words: list[str]) -> tuple[list[Found], bool]:
    """Everything that contains these words, pages first, and whether all texts were searched."""
    if not words:
        return pages_with(words), True
    runs = runs_with(corpus, words)
    # The slowest: only where the names of runs leave room.
    texts, whole = texts_of_runs(corpus, words) if len(runs) < MOST else ([], True)
    return [*pages_with(words), *runs, *sub_goals_with(corpus, words), *texts], whole


def pages_with(words: list[str]) -> list[Found]:
    """Pages whose title or section hold all words."""
    return [
        (f"pages/{name}.py", f"Page · {title}", {})
        for section, pages in navigation.SECTIONS.items()
        for name, title in pages
        if all(word in f"{title} {section}".casefold() for word in words)
    ]


def runs_with(corpus: Corpus, words: list[str]) -> list[Found]:
    """Runs whose agent, task or id hold all words."""
    lines = ((item.digest, run_list.run_words(item)) for item in review_order(corpus))
    kept = [(digest, line) for digest, line in lines if all(word in line.casefold() for word in words)]
    return [
        (state.RUN_PAGE, f"Run · {text.label(line, 160)}", {"run": digest}) for digest, line in kept[:MOST]
    ]


def sub_goals_with(corpus: Corpus, words: list[str]) -> list[Found]:
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


def texts_of_runs(corpus: Corpus, words: list[str]) -> tuple[list[Found], bool]:
    """Runs in which one event says all words, and whether all were looked at."""
    hits, whole = texts_with(corpus.runs.values(), words, most=MOST_TEXTS)
    return [
        (
            state.RUN_PAGE,
            f"Text · {text.label(corpus.runs[hit.digest].run_id, 60)}, event {hit.seq}: "
            f"{text.label(hit.excerpt, 140)}",
            {"run": hit.digest},
        )
        for hit in hits
    ], whole
