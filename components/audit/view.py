"""The plan audit on its page: sub-goals to look at, edges, tasks, and the edit that runs suggest."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.annotate import session
from components.shared import cards, sharing, state, tables, text
from components.shared.panels import panel
from untaken.analysis import NodeAudit, PlanAudit
from untaken.numbers import counted, decimal
from untaken.plans import Edit, apply
from untaken.scoring import RunScore
from untaken.views import (
    STAR,
    audit_corpus,
    audit_document,
    audit_packet,
    audited_edges_table,
    audited_nodes_table,
    audited_tasks_table,
    dump,
)

ANNOTATE: Final = "pages/annotate.py"
MOST_CARDS: Final = 12
ROW: Final = 72
"""Pixels of a sub-goal in the table, where some reason takes more than the `LINE` characters of a line."""
LINE: Final = 80
WIDTHS: Final = {
    "graph": None,
    "sub_goal": None,
    "proposed": None,
    "title": st.column_config.TextColumn("sub-goal", width=180),
    "verdict": st.column_config.TextColumn(width=90),
    "why": st.column_config.TextColumn(width=500),
    "completed": None,
    "successes": None,
    "low": None,
    "high": None,
    "hollow": None,
    "hollow_detected": None,
    "changed": None,
    "changed_detected": None,
}


def audit() -> PlanAudit:
    """The audit of all plans by all runs: agents that share no task still speak of their own plans."""
    with st.spinner("Auditing the plans …"):
        return state.derived(audit_corpus, of_all=True)


def of_listed_plans(found: PlanAudit) -> PlanAudit:
    """The part about plans that runs of the agents listed have; every run of a plan counts."""
    scores = state.listed().scores.values()
    listed = {score.graph_id for score in scores if isinstance(score, RunScore)}
    return found.of_plans(listed)


@panel
def numbers(found: PlanAudit) -> None:
    """How many sub-goals have which verdict."""
    count, edges = found.verdicts, len(found.doubtful_edges)
    cards.number_cards(
        (
            "To fix",
            f"{found.alarms + edges}",
            f"{count['doubtful']} doubtful, {count['blind']} blind, {counted(edges, 'edge')}",
        ),
        ("To decide", f"{count['contested']}", "contested: needed, or were runs lucky?"),
        ("Sound", f"{count['sound']} of {len(found.nodes)}", "sub-goals"),
    )
    st.caption(
        "Runs of all agents count; copies of a run count once. All plans: "
        f"{counted(found.runs, 'run')}, {found.successes:,} successful."
    )


@panel
def to_look_at(found: PlanAudit) -> None:
    """A card for each sub-goal that is doubtful, blind or contested, with what to do."""
    nodes = found.to_look_at
    untested = found.verdicts["untested"]
    # Of plans that were not tested, nothing is known to be right.
    if not nodes and untested < len(found.nodes):
        st.success("No tested sub-goal is doubtful, blind or contested.", icon=":material/check:")
    if untested:
        st.info(
            f"{untested:,} of {counted(len(found.nodes), 'sub-goal')} could not be tested. "
            "The table below says what is missing.",
            icon=":material/info:",
        )
    plans = len({one.graph for one in found.nodes})
    columns = st.columns(2)
    for at, one in enumerate(nodes[:MOST_CARDS]):
        with columns[at % 2].container(border=True):  # left and right in turn: the gravest are on top
            _card(one, at, of_plan=plans > 1)
    if len(nodes) > MOST_CARDS:
        st.caption(f"{len(nodes) - MOST_CARDS:,} more are in the table below.")


def _card(one: NodeAudit, at: int, *, of_plan: bool) -> None:
    star = f" {STAR}" if one.critical else ""
    plan = f" · {text.label(one.graph, 60)}" if of_plan else ""
    st.markdown(f"**{text.label(one.title or one.sub_goal)}**{star} · {one.verdict}{plan}")
    st.write(_sentence(one.why))
    if one.proposed_words:
        st.markdown(f"Proposed: {text.label(one.proposed_words, 300)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        if one.proposed is not None:
            _accept(one.graph, one.proposed, f"node-{at}")
        st.page_link(
            ANNOTATE,
            label="Open in Annotate",
            icon=":material/edit:",
            query_params={"graph": one.graph, "sub_goal": one.sub_goal} | state.scope(),
        )
        sharing.packet(audit_packet, [one], f"node-{at}")


def _sentence(words: str) -> str:
    ended = words if words.endswith("?") else f"{words}."
    return text.label(text.sentence(ended), 400)


def _accept(graph: str, edit: Edit, key: str) -> None:
    if st.button(
        "Draft this edit",
        key=f"audit-{key}",
        help="Opens Annotate with the edit as a draft: see there how many runs change before you save.",
    ):
        _draft(graph, edit)
        st.switch_page(ANNOTATE, query_params={"graph": graph} | state.scope())


def _draft(graph: str, edit: Edit) -> None:
    """The edit as an undoable step on the open graph; nothing is scored by it before somebody saves."""
    here = session.open_graph(graph)
    if here is not None:
        session.take(apply(here.graph, edit), "proposed by the audit")


@panel
def edges(found: PlanAudit) -> None:
    """Edges that successes go against."""
    doubtful = found.doubtful_edges
    if not found.edges:
        return
    st.subheader("Order", anchor=False)
    if not doubtful:
        sound = sum(one.verdict == "sound" for one in found.edges)
        st.caption(f"No edge is doubtful; {sound} of {len(found.edges)} are confirmed by successful runs.")
    titles = {(one.graph, one.sub_goal): one.title or one.sub_goal for one in found.nodes}
    for at, one in enumerate(doubtful[:MOST_CARDS]):
        with st.container(border=True):
            needs, first = (text.label(titles[one.graph, name]) for name in (one.sub_goal, one.dependency))
            st.markdown(f"**{needs}** needs **{first}** · doubtful")
            st.write(_sentence(one.why))
            with st.container(horizontal=True, vertical_alignment="center"):
                if one.proposed is not None:
                    _accept(one.graph, one.proposed, f"edge-{at}")
                sharing.packet(audit_packet, [one], f"edge-{at}")


@panel
def tasks(found: PlanAudit) -> None:
    """Tasks whose agents agree with each other and not with the plan."""
    if not found.tasks:
        return
    st.subheader("Tasks whose plan may be wrong", anchor=False)
    st.caption(
        "Where success is the plan's own end state, a wrong plan has no success. Doubt = 1 − pass rate + "
        "share of runs that make the same other writes; 0 to 2."
    )
    tables.table(
        audited_tasks_table(found),
        key="audit-tasks",
        name="Tasks whose plan may be wrong",
        most=40,
        columns={
            "graph": None,
            "task_id": st.column_config.TextColumn("task", width=240),
            "proposed": st.column_config.TextColumn(width=420),
        },
    )
    sharing.packet(
        audit_packet, found.tasks, "audit-task", lambda one: f"{one.task_id}: {decimal(one.doubt)}"
    )


@panel
def everything(found: PlanAudit) -> None:
    """All verdicts of these plans as a table, and the document about every plan."""
    st.subheader("All sub-goals", anchor=False)
    graphs = len({one.graph for one in found.nodes})
    # Of one plan alone its name is no news.
    columns = {name: how for name, how in WIDTHS.items() if name != "graph" or graphs < 2}
    whole = audited_nodes_table(found)
    wraps = bool((whole["why"].str.len() > LINE).any())
    tables.table(
        whole.assign(title=whole["title"].fillna(whole["sub_goal"])),
        key="audit-nodes",
        name="Audit of sub-goals",
        whole=lambda: whole,
        columns=columns,
        height=min(38 + ROW * len(whole), 470) if wraps else "auto",
        row_height=ROW if wraps else None,
    )
    tables.folded_table(
        "All edges", lambda: audited_edges_table(found), key="audit-edges", name="Audit of edges"
    )
    runs, findings, whole = state.corpus().runs, state.findings(), state.later(audit_corpus, of_all=True)
    tables.download(
        lambda: dump(audit_document(whole(), runs, findings=findings)).encode(),
        label="Audit (JSON)",
        file="graph-audit.json",
        key="audit-json",
    )
