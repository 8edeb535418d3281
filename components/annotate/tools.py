"""Which tasks a plan is for, which tools change something, and which hand over: declared by a person."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

import pandas as pd
import streamlit as st

from components.annotate import session
from components.shared import state, tables, text
from components.shared.panels import panel
from untaken.analysis import Corpus, runs_of, with_graph
from untaken.plans import GraphField, PlanGraph, Proposed, SetGraph, ToolProposal, escape_glob, tool_proposals

LABELS: Final[dict[GraphField, str]] = {
    "mutates": "Tools that change something",
    "hand_over": "Tools that pass the task to a person",
}
TASKS: Final = 1_000
"""Offered of all that runs have; others may be typed."""
WORDS: Final[dict[Proposed, str]] = {"mutates": "changes something", "hand_over": "hands over", "": "–"}


@panel
def tools(graph: PlanGraph) -> None:
    """The fields, the proposals for tools as a table, and the button that takes them over."""
    found = _proposals(graph)
    ran = dict.fromkeys(run.task_id for run in state.corpus().runs.values())
    _field(graph, "tasks", "Tasks that this plan is for", islice(ran, TASKS))
    st.caption(
        "Plan changes are calls of these tools: without them the graph's runs have no plan decisions. "
        "Globs may be typed. Where no tool is named as handing over, usual names such as "
        "transfer\\_to\\_human\\* count."
    )
    for name, label in LABELS.items():
        _field(graph, name, label, (one.tool for one in found))
    if not found:
        st.info("No run of this graph called a tool: there is nothing to propose.")
        return
    st.button(
        "Declare what is proposed below",
        key="annotate_tools_take",
        on_click=_take,
        args=(graph, found),
        help="Adds the proposed tools to both fields. Check them first: a name can mislead.",
    )
    tables.table(
        pd.DataFrame(
            {
                "tool": [one.tool for one in found],
                "proposed": [WORDS[one.proposed] for one in found],
                "why": [one.reason for one in found],
                "calls": [one.calls for one in found],
                "runs": [one.runs for one in found],
            }
        ),
        key="annotate-tools",
        name="Tools of this graph",
    )


def called(graph: PlanGraph) -> list[str]:
    """The tools that runs of this graph called, most calls first."""
    return [one.tool for one in sorted(_proposals(graph), key=lambda one: -one.calls)]


def _proposals(graph: PlanGraph) -> tuple[ToolProposal, ...]:
    store = state.workspace()
    # Of the graph, only which runs are its own matters.
    key = (str(store.path), state.content(store), graph.id, tuple(graph.tasks))
    return _found(key, state.corpus(), graph)


@st.cache_resource(ttl=3600, max_entries=16, show_spinner=False)
def _found(key: object, _corpus: Corpus, _graph: PlanGraph) -> tuple[ToolProposal, ...]:  # noqa: ARG001 (cache key)
    there = with_graph(_corpus.graphs, _graph)
    return tool_proposals(runs_of(_corpus.runs.values(), there, _graph.id))


def _field(graph: PlanGraph, name: GraphField, label: str, offered: Iterable[str]) -> None:
    declared: list[str] = list(getattr(graph, name))
    key = f"annotate_{name}"
    st.session_state[key] = declared  # as an undo left it
    st.multiselect(
        label,
        list(dict.fromkeys([*declared, *map(escape_glob, offered)])),
        key=key,
        format_func=lambda glob: text.one_line(glob, 60),
        accept_new_options=True,
        on_change=lambda: session.edit(SetGraph(field=name, value=list(st.session_state[key]))),
        placeholder="none declared",
    )


def _take(graph: PlanGraph, found: tuple[ToolProposal, ...]) -> None:
    edits = []
    for name in LABELS:
        proposed = [escape_glob(one.tool) for one in found if one.proposed == name]  # names, not patterns
        wanted = list(dict.fromkeys([*getattr(graph, name), *proposed]))
        if wanted != list(getattr(graph, name)):
            edits.append(SetGraph(field=name, value=wanted))
    if edits:
        session.edit(edits)
