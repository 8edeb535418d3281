"""The parts of the page of one run. Words from the ledger are shown as text, code and tables only."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

import msgspec
import pandas as pd
import streamlit as st

from components import figures, state, tables, text
from components.palette import DELTA_WORDS, STAR, STATUS
from components.plan_drawing import READABLE
from components.plan_view import plan_view
from untaken.errors import Finding, Score, Unscored, number
from untaken.ledger import as_mapping
from untaken.plans import PlanGraph, SubGoal
from untaken.report import RunReport, TimelineRow
from untaken.subgoals import NodeScore, RunScore

MOST_EVENTS: Final = 20_000
MOST_CHARS: Final = 20_000
DIAGNOSIS_WORDS: Final = {
    "clean": "Nothing went wrong",
    "inside": "Attempted but not completed: look at tool calls and reasoning",
    "skipping": "Never attempted: look at planning",
    "violation": "A critical step was passed over",
    "not_detecting_errors": "Failures were seen and nothing was changed",
    "unscored": "No diagnosis",
}


def integrity_banner(report: RunReport) -> None:
    """Say loudly when the record cannot be trusted, quietly when it is not anchored."""
    verdict = report.integrity
    if verdict.broken:
        place = f" (line {verdict.line})" if verdict.line else ""
        st.error(
            f"**This ledger is {verdict.verdict}{place}.** Nothing may be concluded from it: "
            "counterfactual evaluation is aborted (DTL-STRAT-006).",
            icon=":material/link_off:",
        )
        st.text(text.one_line(verdict.reason, 400))
    elif verdict.verdict == "UNANCHORED":
        st.caption(f":material/link: UNANCHORED: {text.label(verdict.reason, 300)}")
    else:
        st.caption(f":material/link: INTACT: {text.label(verdict.reason, 300)}")


def facts(report: RunReport) -> None:
    """Who, what, how it ended, and how much of the plan was met, with the rule in force."""
    run, score, end = report.run, report.score, report.run.finished
    repeat = run.started.task_repeat
    shown = [
        ("Agent", text.one_line(run.agent, 60)),
        ("Task", text.one_line(run.task_id, 60) + ("" if repeat is None else f" (repeat {repeat})")),
        ("Outcome", _outcome(run.success)),
    ]
    if isinstance(score, RunScore):
        shown += [
            ("Completed", _share(score.completed, score.required, score.completion)),
            (f"{STAR} Critical", _share(score.critical_completed, score.critical, score.critical_completion)),
            ("Replans", str(score.replans)),
        ]
    if end is not None:
        cost = "not recorded" if end.cost is None else f"{end.cost:,.4g} {text.one_line(end.cost_unit, 12)}"
        shown += [("Steps", f"{end.steps:,}"), ("Cost", cost)]
    with st.container(horizontal=True, gap="medium"):
        for name, value in shown:
            with st.container(width="content", gap=None):
                st.caption(name)
                st.text(value)
    _diagnosis(report)


def _outcome(success: bool | Unscored) -> str:
    if isinstance(success, Unscored):
        return "? not recorded"
    return "✓ success" if success else "✗ failure"


def _share(count: int, total: int, rate: Score) -> str:
    value = number(rate)
    return "unscored" if value is None else f"{count} of {total} ({value:.0%})"


def _diagnosis(report: RunReport) -> None:
    score = report.score
    if isinstance(score, Unscored):
        st.warning("This run has no sub-goal score.", icon=":material/help:")
        st.text(text.one_line(score.reason, 400))
        return
    fine = score.diagnosis == "clean"
    with st.container(border=True, gap="xsmall"):
        lucky = report.contradiction is not None and report.contradiction.kind == "lucky"
        mark = "check_circle" if fine else "casino" if lucky else "troubleshoot"
        luck = " The outcome bit says success." if lucky else ""
        st.markdown(f":material/{mark}: **{DIAGNOSIS_WORDS[score.diagnosis]}.**{luck}")
        st.text(text.one_line(score.diagnosis_reason, 400))
        missing = f" {score.unscored} of the sub-goals are unscored." if score.unscored else ""
        st.caption(f"{text.label(state.rules().in_words(), 300)}.{missing}")


def plan_and_evidence(report: RunReport) -> None:
    """The coloured graph, and beside it what is known of the selected sub-goal."""
    if report.graph is None:
        st.info(
            "No plan graph matches this run's task, so there is nothing to draw. Add one on the Data page."
        )
        return
    goals = {goal.id: goal for goal in report.graph.sub_goals}
    asked = state.selected("sub_goal")
    chosen = asked if asked in goals else None
    left, right = st.columns([8, 5], gap="medium")
    with left:
        around, expanded = _large_graph_controls(report.graph, chosen)
        score = report.score if isinstance(report.score, RunScore) else None
        plan_view(
            report.graph,
            score,
            key="plan",
            selected=chosen,
            on_select=_pick,
            expanded=expanded,
            on_expand=_expand,
            around=around,
        )
        tables.download(
            lambda: figures.plan_html(report.graph, score).encode(),  # type: ignore[arg-type]
            label="Plan graph (HTML)",
            file="plan-graph.html",
            mime="text/html",
            key="plan-html",
        )
    with right:
        _evidence(report, goals, chosen)


def _pick(sub_goal: str) -> None:
    state.select(run=state.selected("run"), sub_goal=sub_goal)


def _expand(sub_goal: str) -> None:
    st.session_state["expanded"] = {*st.session_state.get("expanded", ()), sub_goal}


def _large_graph_controls(graph: PlanGraph, chosen: str | None) -> tuple[str | None, Collection[str]]:
    expanded = {*st.session_state.get("expanded", ()), *([chosen] if chosen else [])}
    if len(graph.sub_goals) <= READABLE:
        return None, ()
    around = st.toggle(
        "Only what the selected sub-goal needs and what needs it",
        key="around",
        disabled=chosen is None,
        help="A large graph: finished and unreached branches are collapsed; click one to open it.",
    )
    return (chosen if around else None), expanded


def _evidence(report: RunReport, goals: dict[str, SubGoal], chosen: str | None) -> None:
    nodes = {node.sub_goal: node for node in report.nodes}
    st.session_state["sub_goal_picker"] = chosen
    st.selectbox(
        "Sub-goal",
        options=list(goals),
        format_func=lambda goal: node_words(goals[goal], nodes.get(goal)),
        key="sub_goal_picker",
        placeholder="Choose one, or click it in the graph",
        on_change=lambda: _pick(st.session_state["sub_goal_picker"]),
        filter_mode="contains",
    )
    if chosen is None:
        _unfinished(report)
        return
    node, goal = nodes.get(chosen), goals[chosen]
    if node is None:
        st.text("This run was not scored, so nothing is known of this sub-goal.")
    else:
        _result(node, report)
    with st.expander("How one can tell", expanded=node is None or node.completed is None):
        if goal.description:
            st.text(text.one_line(goal.description, 600))
        st.code(check_words(goal), language=None, wrap_lines=True)
    if node is not None:
        _evidence_events(report, node)


def node_words(goal: SubGoal, node: NodeScore | None) -> str:
    """A sub-goal on one line: icon, star, title."""
    style = STATUS[node.status if node else "unscored"]
    star = f"{STAR} " if goal.critical else ""
    return f"{style.icon} {star}{text.one_line(goal.title or goal.id, 70)}"


def _result(node: NodeScore, report: RunReport) -> None:
    style = STATUS[node.status]
    colour = {"completed": "blue", "attempted": "orange"}.get(node.status, "gray")
    with st.container(horizontal=True, gap="xsmall"):
        st.badge(f"{style.icon} {style.word}", color=colour)  # type: ignore[arg-type]
        if node.critical:
            st.badge(f"{STAR} critical", color="gray")
        st.badge(f"decided by {text.label(node.decided_by, 40)}", color="gray")
    st.text(text.one_line(node.reason, 600))
    score = report.score
    for violation in score.violations if isinstance(score, RunScore) else ():
        if node.sub_goal in (violation.sub_goal, violation.dependency):
            st.text(f"⚠ {text.one_line(violation.message, 300)}")


def _unfinished(report: RunReport) -> None:
    missed = [n for n in report.nodes if n.status in ("attempted", "skipped", "unscored")]
    if not missed:
        st.caption("Select a sub-goal to see its evidence.")
        return
    st.caption("Not completed; select one to see why:")
    for node in missed[:12]:
        star = f"{STAR} " if node.critical else ""
        with st.container(gap=None):
            st.button(
                f"{STATUS[node.status].icon} {star}{text.label(node.title or node.sub_goal, 70)}",
                key=f"missed-{node.sub_goal}",
                type="tertiary",
                on_click=_pick,
                args=(node.sub_goal,),
            )
            st.caption(text.label(node.reason, 160))
    if len(missed) > 12:
        st.caption(f"and {len(missed) - 12} more in the table below")


def check_words(goal: SubGoal) -> str:
    """The check and the mapping rules of a sub-goal, as they stand in the graph."""
    known = msgspec.to_builtins(goal)
    parts = {name: known[name] for name in ("check", "rules", "any_of", "deps") if known.get(name)}
    if "check" not in parts and not goal.any_of:
        parts = {"check": "none: a recorded verdict or nothing can tell", **parts}
    return "\n".join(f"{name}: {_json(value)}" for name, value in parts.items())[:MOST_CHARS]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=None, default=str)


def _evidence_events(report: RunReport, node: NodeScore) -> None:
    rows = [row for row in report.timeline if row.seq in node.events or row.seq in node.evidence]
    if not rows:
        st.caption("No event of this run maps to it.")
        return
    frame = _event_table(rows)
    frame.insert(1, "role", ["evidence" if row.seq in node.evidence else "action" for row in rows])
    tables.table(
        frame.drop(columns=["sub-goal"]),
        key="evidence",
        name="Events of this sub-goal",
        height=min(38 + 35 * len(rows), 320),
    )


def sub_goal_table(report: RunReport) -> None:
    """The graph's twin for those who cannot see it, and for copying."""
    if not report.nodes:
        st.caption("No sub-goal was scored.")
        return
    frame = pd.DataFrame(
        {
            "sub-goal": [node.title or node.sub_goal for node in report.nodes],
            "status": [f"{STATUS[n.status].icon} {STATUS[n.status].word}" for n in report.nodes],
            "critical": [STAR if node.critical else "" for node in report.nodes],
            "decided by": [node.decided_by for node in report.nodes],
            "why": [node.reason for node in report.nodes],
            "actions": [len(node.events) for node in report.nodes],
            "completed at": pd.array([node.completed_at for node in report.nodes], dtype="Int64"),
        }
    )
    row = tables.table(frame, key="nodes", name="Sub-goals of this run", selectable=True)
    if row is not None and st.session_state.get("nodes_seen") != row:
        st.session_state["nodes_seen"] = row
        _pick(report.nodes[row].sub_goal)
        st.rerun()
    st.session_state["nodes_seen"] = row


def _event_table(rows: Collection[TimelineRow]) -> pd.DataFrame:
    marks = {True: "✓", False: "✗", None: ""}
    return pd.DataFrame(
        {
            "event": [row.seq for row in rows],
            "type": [row.type for row in rows],
            "what": [row.title for row in rows],
            "text": [row.text + (" …" if row.cut else "") for row in rows],
            "ok": [("✗ transient" if row.transient else marks[row.ok]) for row in rows],
            "sub-goal": [row.sub_goal or "" for row in rows],
            "time": [row.ts.strftime("%H:%M:%S") for row in rows],
        }
    )


def timeline(report: RunReport) -> None:
    """Every event in order; choosing one shows all that was recorded of it."""
    tables.figure(
        figures.timeline_figure(
            report.run, report.score if isinstance(report.score, RunScore) else None, dark=state.is_dark()
        ),
        key="timeline-figure",
        name="Timeline of this run",
    )
    rows = report.timeline[:MOST_EVENTS]
    if len(rows) < len(report.timeline):
        st.caption(f"The first {MOST_EVENTS:,} of {len(report.timeline):,} events.")
    at = tables.table(
        _event_table(rows), key="timeline", name="Events of this run", selectable=True, height=420
    )
    if at is None:
        st.caption("Choose a row to see the whole event.")
        return
    event = next(event for event in report.run.events if event.seq == rows[at].seq)
    whole = json.dumps(as_mapping(event), ensure_ascii=False, indent=2, default=str)
    st.code(whole[:MOST_CHARS], language="json", wrap_lines=True, height=320)
    if len(whole) > MOST_CHARS:
        st.caption(f"The first {MOST_CHARS:,} of {len(whole):,} characters.")


def decisions(report: RunReport) -> None:
    """What else could have been chosen, and what history says of it."""
    evaluation = report.evaluation
    if evaluation.status != "evaluated":
        st.info(f"Counterfactual evaluation {evaluation.status}: {text.label(evaluation.reason, 300)}")
        return
    st.caption(
        "Each alternative's history in the same context, scored by the same formula as this run. Inside ±0.1 "
        "nothing is claimed; an alternative without history is unknown. These are associations in past runs."
    )
    tables.figure(
        figures.delta_figure(evaluation, dark=state.is_dark()),
        key="deltas",
        name="Deltas of this run's decision points",
    )
    pairs = [(decision, branch) for decision in evaluation.decisions for branch in decision.branches]
    asked = state.selected("decision")
    if asked is not None and asked in {str(d.decision_point) for d, _ in pairs}:
        pairs = [(d, b) for d, b in pairs if str(d.decision_point) == asked]
        st.button(f"Show all decision points (now only event {int(asked)})", on_click=_all_decisions)
    frame = pd.DataFrame(
        {
            "event": [d.decision_point for d, _ in pairs],
            "selected": [d.selected for d, _ in pairs],
            "alternative": [b.alternative for _, b in pairs],
            "verdict": [DELTA_WORDS[b.verdict] for _, b in pairs],
            "delta": pd.array([number(b.delta) for _, b in pairs], dtype="Float64"),
            "n": [b.n for _, b in pairs],
            "success rate": pd.array([number(b.success_rate) for _, b in pairs], dtype="Float64"),
            "mean cost": pd.array([number(b.avg_cost) for _, b in pairs], dtype="Float64"),
            "mean steps": pd.array([number(b.avg_steps) for _, b in pairs], dtype="Float64"),
            "support": [b.support_reason for _, b in pairs],
        }
    )
    tables.table(
        frame,
        key="decisions",
        name="Alternatives of this run",
        columns={
            "delta": st.column_config.NumberColumn(format="%+.3f"),
            "success rate": st.column_config.NumberColumn(format="percent"),
            "mean cost": st.column_config.NumberColumn(format="%.4f"),
            "mean steps": st.column_config.NumberColumn(format="%.1f"),
        },
    )


def _all_decisions() -> None:
    state.select(run=state.selected("run"), sub_goal=state.selected("sub_goal"))


def progress(report: RunReport) -> None:
    """How many sub-goals were completed after each step."""
    if not isinstance(report.score, RunScore):
        st.caption("This run was not scored.")
        return
    tables.figure(
        figures.progress_curve(report.score, dark=state.is_dark()),
        key="progress",
        name="Progress of this run",
    )


def findings(noticed: Collection[Finding]) -> None:
    """What was noticed about this run."""
    if not noticed:
        st.caption("Nothing was noticed.")
        return
    frame = pd.DataFrame(
        {
            "severity": [f.severity for f in noticed],
            "code": [f.code for f in noticed],
            "message": [f.message for f in noticed],
            "where": [str(f.where) for f in noticed],
            "next step": [f.hint for f in noticed],
        }
    )
    tables.table(frame, key="findings", name="Findings of this run")
