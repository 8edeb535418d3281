"""Which tasks a plan is for, what its tools do, which actions serve which sub-goal: declared by a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final

import pandas as pd
import streamlit as st

from components.annotate import session
from components.shared import state, tables, text
from components.shared.panels import panel
from untaken.analysis import Corpus, runs_of, with_graph
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import (
    GraphField,
    MappingSummary,
    PlanGraph,
    Proposed,
    Rule,
    Set,
    SetGraph,
    ToolProposal,
    Unmapped,
    escape_glob,
    graph_digest,
    made_rule,
    sub_goal_of,
    tool_proposals,
    unmapped,
)
from untaken.views import contested_table, rule_words, rules_table, unmapped_table

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


def called(graph: PlanGraph) -> tuple[str, ...]:
    """The tools that runs of this graph called, those of most runs first; no call is read for it."""
    return _called(_whose(graph), state.corpus(), graph)


def _proposals(graph: PlanGraph) -> tuple[ToolProposal, ...]:
    return _found(_whose(graph), state.corpus(), graph)


def _whose(graph: PlanGraph) -> object:
    store = state.workspace()
    # Of the graph, only which runs are its own matters.
    return str(store.path), state.content(store), graph.id, tuple(graph.tasks)


@st.cache_resource(ttl=3600, max_entries=16, show_spinner=False)
def _called(key: object, _corpus: Corpus, _graph: PlanGraph) -> tuple[str, ...]:  # noqa: ARG001 (cache key)
    found = Counter(tool for run in _runs(_corpus, _graph) for tool in run.tools)
    return tuple(sorted(found, key=lambda tool: (-found[tool], tool)))


@st.cache_resource(ttl=3600, max_entries=16, show_spinner=False)
def _found(key: object, _corpus: Corpus, _graph: PlanGraph) -> tuple[ToolProposal, ...]:  # noqa: ARG001 (cache key)
    return tool_proposals(_runs(_corpus, _graph))


def _runs(corpus: Corpus, graph: PlanGraph) -> list[Run]:
    return runs_of(corpus.runs.values(), with_graph(corpus.graphs, graph), graph.id)


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


OFFERED: Final = 12


@panel
def workbench(graph: PlanGraph) -> None:
    """What serves no sub-goal, with one click that makes a rule; and what rules contradict."""
    store = state.workspace()
    key = (str(store.path), state.content(store), graph_digest(graph))
    summary = _laid(key, state.corpus(), graph)
    if not summary.runs:
        st.info("No run in this workspace is scored with this graph.")
        return
    st.caption(
        f"{summary.mapped:,} of {counted(summary.actions, 'action')} of {counted(summary.runs, 'run')} "
        "are mapped to a sub-goal, by tag, rule, check, plan or judge."
    )
    st.markdown("**Actions without a sub-goal**")
    if not summary.unmapped:
        st.info("Every action is mapped to a sub-goal.")
    for number, one in enumerate(summary.unmapped[:OFFERED]):
        _offer(graph, one, number)
    if summary.unmapped:
        with st.expander("As a table"):
            tables.table(
                unmapped_table(summary), key="unmapped", name="Actions without a sub-goal", most=2_000
            )
    _contradictions(summary)


def _offer(graph: PlanGraph, one: Unmapped, number: int) -> None:
    """One shape of action: its place, and the rule that would map it."""
    mark = f"{number}_{graph_digest(graph)[:8]}"  # after an edit the list is another, and so are its fields
    ids = list(dict.fromkeys([*one.likely, *(node.id for node in graph.sub_goals)]))
    with st.container(border=True, gap="xsmall"):
        # A backtick would end the code.
        names, tool = ", ".join(one.arguments), text.one_line(one.tool, 80).replace("`", "'")
        st.markdown(f"`{tool}` ({text.label(names, 120)})" if names else f"`{tool}`")
        failed = f" ({one.failed_runs:,} failed)" if one.failed_runs else ""
        st.caption(
            f"{counted(one.actions, 'action')} in {counted(one.runs, 'run')}{failed}, "
            f"by {counted(one.agents, 'agent')}"
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            rule = st.selectbox(
                "Rule", range(len(one.rules)), key=f"rule_{mark}", width=340,
                format_func=lambda place: text.one_line(rule_words(one.rules[place]), 80),
            )  # fmt: skip
            goal = st.selectbox("serves", ids, key=f"goal_{mark}", width=260, format_func=text.name)
            st.button("Create rule", key=f"make_{mark}", on_click=_make, args=(goal, one.rules[rule]))
            example = one.examples[0]
            place = f"event {example.seq} of {text.label(example.run_id, 40)}"
            state.run_link(f"Example: {place}", example.digest)


def _make(goal: str, rule: Rule) -> None:
    here = session.current()
    if here is not None:
        node = sub_goal_of(here.graph, goal)
        session.edit(Set(sub_goal=goal, field="rules", value=made_rule(node, rule)))


def _contradictions(summary: MappingSummary) -> None:
    if summary.contested:
        st.markdown("**Actions that rules of several sub-goals match**")
        st.caption("The first sub-goal in graph order gets them. Narrow a rule or move a sub-goal.")
        tables.table(contested_table(summary), key="contested", name="Contested actions")
    idle = [use for use in summary.rules if use.idle]
    if summary.rules:
        st.markdown(f"**Rules with no effect: {len(idle):,} of {len(summary.rules):,}**")
        for use in idle[:20]:  # the table has all
            why = (
                f"matches {counted(use.claims, 'action')}, all taken first by rules of "
                f"{', '.join(text.label(name, 40) for name in use.taken_by)}"
                if use.claims
                else "matches no action"
            )
            rule = text.label(rule_words(use.rule), 160)
            st.caption(f"**{text.label(use.sub_goal, 60)}** · {rule} · {why}")
        with st.expander("All rules and what they match"):
            tables.table(rules_table(summary), key="rules-table", name="Rules in this graph", height=260)


@st.cache_resource(ttl=3600, max_entries=8, show_spinner="Mapping actions …")
def _laid(key: object, _corpus: Corpus, _graph: PlanGraph) -> MappingSummary:  # noqa: ARG001 (cache key)
    there = with_graph(_corpus.graphs, _graph)
    return unmapped(runs_of(_corpus.runs.values(), there, _graph.id), _graph)
