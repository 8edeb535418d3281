"""What is known of the selected sub-goal of a run: expected against actual, verdicts, its events."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

import msgspec
import pandas as pd
import streamlit as st

from components.run.events import MOST_EVENTS, event_table
from components.run.verdicts import marking, verdicts_on
from components.shared import state, tables, text
from components.shared.panels import panel
from untaken.numbers import counted
from untaken.plans import SubGoal
from untaken.scoring import NodeScore, RunScore, in_words
from untaken.views import STAR, STATUS, RunReport, shown_status, unlike_successes, values_to_know

MOST_CHARS: Final = 20_000
MOST_APART: Final = 6
VALUE_CHARS: Final = 600
"""Characters of a value beside the one that was expected."""
MOST_LINKS: Final = 3
TITLE_CHARS: Final = 70
KNOWN_MARKS: Final = {"shown": "✓", "never_shown": "✗", "may_be_computed": "?"}


@panel
def draw(report: RunReport) -> None:
    """What is known of the selected sub-goal; nothing while none is selected."""
    goals = {goal.id: goal for goal in report.graph.sub_goals} if report.graph else {}
    chosen = state.selected("sub_goal")
    if chosen not in goals:
        return
    node, goal = {node.sub_goal: node for node in report.nodes}.get(chosen), goals[chosen]
    with st.container(border=True, key="evidence", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(f"**{text.label(goal.title or goal.id, 1_000)}**", width="stretch")
            st.button(
                "Close", key="close-evidence", shortcut="Escape", type="tertiary", on_click=pick, args=(None,)
            )
        if node is None:
            st.text("This run was not scored, so this sub-goal has no status.")
        else:
            _result(node, report)
            _expected(node)
            _unlike(node, report)
            _known(node, report)
            marking(report, node)
            verdicts_on(report, node)
        # Open where the check could not be made: then it is the first thing to look at.
        with st.expander("How it is checked", expanded=node is None or node.completed is None):
            if goal.description:
                st.text(text.one_line(goal.description, 600))
            with st.container(key="check-words"):
                st.text(check_words(goal))
        if node is not None:
            with st.expander("Events of this sub-goal"):
                _evidence_events(report, node)


def pick(sub_goal: str | None) -> None:
    """Select a sub-goal of the run on this page, or none; a run that is read blind stays so."""
    state.select(run=state.selected("run"), sub_goal=sub_goal, blind=state.selected("blind"))


def node_words(goal: SubGoal, node: NodeScore | None) -> str:
    """A sub-goal on one line: icon, star, title."""
    style = STATUS[shown_status(node) if node else "unscored"]
    star = f"{STAR} " if goal.critical else ""
    return f"{style.icon} {star}{text.one_line(goal.title or goal.id, TITLE_CHARS)}"


def named(report: RunReport, words: str) -> str:
    """A sentence about sub-goals with their titles in place of their ids. Untrusted, like the titles."""
    titles = {node.sub_goal: text.one_line(node.title or node.sub_goal, TITLE_CHARS) for node in report.nodes}
    # Ids are in quotes. In one pass: a title that is the id of another sub-goal stays as it is.
    return "'".join(titles.get(part, part) for part in words.split("'"))


DECIDED_BY: Final = {
    "expr": "its expression",
    "tool_call": "the calls made",
    "outcome": "the outcome",
    "any_of": "its options",
}


def _decided_by(name: str) -> str | None:
    """In words; ``None`` where nothing decides."""
    kind, _, by = name.partition(":")
    return f"the verdict of {text.label(by, 40)}" if by else DECIDED_BY.get(kind)


def _result(node: NodeScore, report: RunReport) -> None:
    style = STATUS[shown_status(node)]
    colour = {"completed": "blue", "attempted": "orange"}.get(node.status, "gray")
    with st.container(horizontal=True, gap="xsmall"):
        st.badge(f"{style.icon} {style.word}", color=colour)  # type: ignore[arg-type]
        if node.critical:
            st.badge(f"{STAR} critical", color="gray")
        if what := _decided_by(node.decided_by):
            st.badge(f"decided by {what}", color="gray")
    st.text(text.sentence(text.one_line(named(report, node.reason), 600)))
    score = report.score
    for violation in score.violations if isinstance(score, RunScore) else ():
        if node.sub_goal in (violation.sub_goal, violation.dependency):
            st.text(f"⚠ {text.one_line(named(report, violation.message), 300)}")


def _expected(node: NodeScore) -> None:
    """What its check expects beside what the run holds, field by field."""
    if not node.differences:
        return
    place = "" if node.nearest is None else f", nearest call: event {node.nearest}"
    st.markdown(f"**Expected against actual**{place}")
    apart = [one for one in node.differences if not one.met]
    for one in apart[:MOST_APART]:
        with st.container(gap=None):
            st.markdown(f"≠ **{text.label(one.field, 80)}**")
            expected, actual = (text.one_line(words, VALUE_CHARS) for words in (one.expected, one.actual))
            st.text(f"expected: {expected}\nactual: {actual}")
    if len(apart) > MOST_APART:
        st.caption(f"and {len(apart) - MOST_APART} more fields in the download")
    if met := [one.field for one in node.differences if one.met]:
        same = "field is" if len(met) == 1 else "fields are"
        st.caption(f"✓ {len(met)} {same} as expected: {text.label(', '.join(met), 300)}")
    frame = pd.DataFrame(
        {
            "": ["✓" if one.met else "≠" for one in node.differences],
            "field": [one.field for one in node.differences],
            "expected": [one.expected for one in node.differences],
            "actual": [one.actual for one in node.differences],
        }
    )
    tables.download(
        lambda: tables.csv(frame),
        label="Expected against actual (CSV)",
        file="expected-against-actual.csv",
        key="expected",
    )


def _unlike(node: NodeScore, report: RunReport) -> None:
    """Arguments of its failed call that no successful call of other runs has."""
    found = unlike_successes(state.corpus(), report, node)
    if found is None:
        return
    given = ", ".join(f"{name} {value}" for name, value in found.arguments[:MOST_APART])
    words = f"No successful call of {found.tool} in other runs ({counted(found.calls, 'call')}) had {given}"
    st.text(text.one_line(words, VALUE_CHARS))


def _known(node: NodeScore, report: RunReport) -> None:
    """Was it there to know: each expected value that was not used, and where the agent was shown it."""
    found = values_to_know(state.corpus(), report, node)
    if not found:
        return
    st.markdown("**Was it there to know?**")
    for one in found[:MOST_APART]:
        mark = KNOWN_MARKS[one.knowledge]
        st.text(text.one_line(f"{mark} {in_words(one)}.", VALUE_CHARS))
    if len(found) > MOST_APART:
        st.caption(f"and {counted(len(found) - MOST_APART, 'more value')}")
    # A run may know several of them.
    elsewhere = {one.elsewhere.digest: one.elsewhere.run_id for one in found if one.elsewhere is not None}
    for digest, run_id in list(elsewhere.items())[:MOST_LINKS]:
        state.run_link(f"Open run {text.label(run_id, 60)}", digest)


def check_words(goal: SubGoal) -> str:
    """The check and the mapping rules of a sub-goal, as in the graph."""
    known = msgspec.to_builtins(goal)
    shown = ("check", "times", "when", "when_at", "evidence", "rules", "any_of", "deps")
    parts = {name: known[name] for name in shown if known.get(name)}
    parts |= {} if goal.needs_action else {"needs_action": False}
    if "check" not in parts and not goal.any_of:
        parts = {"check": "none: only a recorded verdict can decide it", **parts}
    return "\n".join(
        f"{name}: {json.dumps(value, ensure_ascii=False, default=str)}" for name, value in parts.items()
    )[:MOST_CHARS]


def _evidence_events(report: RunReport, node: NodeScore) -> None:
    wanted = {*node.events, *node.evidence}
    places = [place for place, event in enumerate(report.run.events) if event.seq in wanted]
    # The timeline has a row for each event, in the same order.
    rows = [report.timeline[place] for place in places[:MOST_EVENTS]]
    if len(rows) < len(places):
        st.caption(f"The first {MOST_EVENTS:,} of {len(places):,} events.")
    if not rows:
        st.caption("No event of this run is mapped to it.")
        return
    frame = event_table(rows)
    mapped = report.score.mapped if isinstance(report.score, RunScore) else ()
    judged = {seq for seq, goal, authority in mapped if authority == "judge" and goal == node.sub_goal}
    frame.insert(1, "role", [_role(row.seq, node, judged) for row in rows])
    tables.table(
        frame.drop(columns=["type", "sub-goal", "time"]),
        key="evidence",
        name="Events of this sub-goal",
        height=tables.height_of(len(rows), most=320),
    )


def _role(seq: int, node: NodeScore, judged: Collection[int]) -> str:
    """What an event is to a sub-goal; that only a judge mapped it is said."""
    role = "evidence" if seq in node.evidence else "action"
    return f"{role}, mapped by a judge" if seq in judged else role


@panel
def sub_goal_table(report: RunReport) -> None:
    """The graph's twin for those who cannot see it, and for copying."""
    if not report.nodes:
        st.caption("No sub-goal was scored.")
        return
    frame = pd.DataFrame(
        {
            "sub-goal": [node.title or node.sub_goal for node in report.nodes],
            "status": ["{0.icon} {0.word}".format(STATUS[shown_status(n)]) for n in report.nodes],
            "critical": [STAR if node.critical else "" for node in report.nodes],
            "decided by": [node.decided_by for node in report.nodes],
            "why": [node.reason for node in report.nodes],
            "actions": [len(node.events) for node in report.nodes],
            # With gaps, plain integers would become floats.
            "completed at": pd.array([node.completed_at for node in report.nodes], dtype="Int64"),
        }
    )
    row = tables.table(frame, key="nodes", name="Sub-goals of this run", selectable=True)
    # The table keeps its selection, so that the same row is no new choice.
    if row is not None and st.session_state.get("nodes_seen") != row:
        st.session_state["nodes_seen"] = row
        pick(report.nodes[row].sub_goal)
        st.rerun()
    st.session_state["nodes_seen"] = row
