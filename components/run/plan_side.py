"""The plan graph of one run: a click on a sub-goal shows its evidence and moves the transcript."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components import figures
from components.annotate import first_graph
from components.plan.view import plan_view
from components.run.evidence import node_words, pick
from components.shared import cards, state, tables, text
from components.shared.panels import panel
from untaken.ledger import Verdict
from untaken.numbers import counted
from untaken.scoring import RunScore
from untaken.views import READABLE, RunReport, draw, larger

COLUMN: Final = (400, 520)
"""Room for the graph beside the transcript on a screen 1,440 wide, in pixels."""
LEGIBLE: Final = 0.62
"""Labels of a smaller drawing cannot be read: finished branches are folded then."""
EXPANDED: Final = "expanded"


@panel
def beside_transcript(report: RunReport) -> None:
    """The coloured graph, with a list of its sub-goals; or a way to one."""
    if report.graph is None:
        first_graph.offer_for(report.run)
        _verdicts(report)
        return
    if not report.graph.sub_goals:
        st.info("The plan graph for this run's task has no sub-goals.")
        return
    goals = {goal.id: goal for goal in report.graph.sub_goals}
    nodes = {node.sub_goal: node for node in report.nodes}
    asked = state.selected("sub_goal")
    chosen = asked if asked in goals else None
    _graph(report, chosen)
    cards.picker(
        "Sub-goal",
        {name: node_words(goal, nodes.get(name)) for name, goal in goals.items()},
        chosen,
        pick,
        key="sub_goal_picker",
        placeholder="Choose a sub-goal",
        filter_mode="contains",
        label_visibility="collapsed",
    )


def _graph(report: RunReport, chosen: str | None) -> None:
    graph, score = report.graph, report.score if isinstance(report.score, RunScore) else None
    if graph is None:
        return
    whole = draw(graph, score, readable=READABLE)
    # Whether labels of the whole graph can be read decides whether folding is offered.
    legible = larger(whole.layouts, *COLUMN).scale(*COLUMN) >= LEGIBLE
    folded = draw(graph, score, readable=0)
    around, folds = None, False
    # The selected one is never folded.
    expanded = {*st.session_state.get(EXPANDED, ()), *([chosen] if chosen else [])}
    if not legible:
        with st.container(horizontal=True, gap="small", key="plan-folding"):
            if len(folded.boxes) < len(graph.sub_goals):
                folds = st.toggle(
                    "Fold finished branches", value=True, key="fold", help="Click a folded branch to open it."
                )
            near = st.toggle("Only around the selected", key="around", disabled=chosen is None)
            around = chosen if near else None
    readable = 0 if folds else len(graph.sub_goals)
    drawing = draw(graph, score, expanded=expanded, around=around, readable=readable)
    plan_view(
        graph, drawing, key="plan", selected=chosen, on_select=pick, on_expand=_expand, tallest=COLUMN[1]
    )
    if drawing.hidden:
        st.caption(f"{counted(drawing.hidden, 'other sub-goal', 'are')} hidden.")
    missing = f" {score.unscored} of the sub-goals are unscored." if score and score.unscored else ""
    st.caption(f"{text.label(state.rules().in_words(), 300)}.{missing}")
    tables.download(
        lambda: figures.plan_html(graph, score).encode(),
        label="Plan graph (HTML)",
        file="plan-graph.html",
        key="plan-html",
    )


def _expand(sub_goal: str) -> None:
    st.session_state[EXPANDED] = {*st.session_state.get(EXPANDED, ()), sub_goal}


def _verdicts(report: RunReport) -> None:
    """Verdicts of people, tests and judges on a run without a plan, with their evidence."""
    given = report.run.of(Verdict)
    if not given:
        return
    marks = {True: "✓ met", False: "✗ not met", None: "? could not tell"}
    rows = [(verdict, one) for verdict in given for one in verdict.evidence or [None]]
    frame = pd.DataFrame(
        {
            "verdict on": [verdict.sub_goal for verdict, _ in rows],
            "verdict": ["↩ withdrawn" if v.withdrawn else marks[v.passed] for v, _ in rows],
            "by": [verdict.by for verdict, _ in rows],
            "from": ["imported" if report.run.imported(v) else "this workspace" for v, _ in rows],
            "seen in event": pd.array([one.seq if one else None for _, one in rows], dtype="Int64"),
            "why": [verdict.reason or "" for verdict, _ in rows],
            "quoted": [one.quote if one else "" for _, one in rows],
        }
    )
    height = tables.height_of(len(rows), most=320)
    tables.table(frame, key="run-verdicts", name="Verdicts on this run", height=height)
