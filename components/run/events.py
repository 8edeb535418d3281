"""What happened in one run: events, decision points, progress, findings."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

import pandas as pd
import streamlit as st

from components import figures
from components.shared import exports, state, tables, text
from components.shared.palette import DELTA_WORDS
from components.shared.panels import panel
from untaken.counterfactual import THRESHOLD
from untaken.ledger import as_mapping
from untaken.numbers import counted
from untaken.scoring import RunScore
from untaken.views import RunReport, TimelineRow, UnhandledFailure, run_decisions_table

MOST_EVENTS: Final = 20_000
MOST_CHARS: Final = 20_000


def event_table(rows: Collection[TimelineRow]) -> pd.DataFrame:
    """One row per event."""
    marks = {True: "✓", False: "✗", None: ""}
    return pd.DataFrame(
        {
            "event": [row.seq for row in rows],
            "type": [row.type for row in rows],
            "what": [row.title for row in rows],
            "text": [row.text + (" …" if row.cut else "") for row in rows],
            "ok": [("✗ transient" if row.transient else marks[row.ok]) for row in rows],
            "sub-goal": [row.sub_goal or "" for row in rows],
            "cited by": [", ".join(f"event {seq}" for seq in row.cited_by) for row in rows],
            "time": [row.ts.strftime("%H:%M:%S") for row in rows],
        }
    )


@panel
def timeline(report: RunReport) -> None:
    """Every event in order; choosing one shows all that was recorded of it."""
    if len(report.timeline) > MOST_EVENTS:
        st.caption(f"The first {MOST_EVENTS:,} of {len(report.timeline):,} events.")
    rows = report.timeline[:MOST_EVENTS]
    tables.figure(
        figures.timeline_figure(
            report.run,
            report.score if isinstance(report.score, RunScore) else None,
            dark=state.is_dark(),
            most=MOST_EVENTS,
        ),
        key="timeline-figure",
        name="Timeline of this run",
    )
    at = tables.table(
        event_table(rows), key="timeline", name="Events of this run", selectable=True, height=420
    )
    if at is None:
        st.caption("Choose a row to see the full event.")
        return
    whole_event(report, rows[at].seq)


def whole_event(report: RunReport, seq: int) -> None:
    """All that was recorded of one event."""
    event = next((event for event in report.run.events if event.seq == seq), None)
    if event is None:
        st.caption(f"This run has no event {seq}.")
        return
    whole = json.dumps(as_mapping(event), ensure_ascii=False, indent=2, default=str)
    st.code(whole[:MOST_CHARS], language="json", wrap_lines=True, height=320)
    if len(whole) > MOST_CHARS:
        st.caption(f"The first {MOST_CHARS:,} of {len(whole):,} characters.")


def selected_events(report: RunReport) -> list[int]:
    """`seq` of the events that are open in the views of the run; of another run's no more than the number."""
    row = tables.picked("timeline", len(report.timeline))
    listed = [] if row is None else [report.timeline[row].seq]
    opened = st.session_state.get("whole_event")
    known = opened is not None and any(event.seq == opened for event in report.run.events)
    return list(dict.fromkeys([*listed, *([opened] if known and opened is not None else [])]))


def open_event(seq: int | None) -> None:
    """Have one event shown in full below the transcript."""
    st.session_state["whole_event"] = seq


def opened_event(report: RunReport) -> None:
    """The event that the transcript was asked to show in full, with a button that closes it."""
    seq = st.session_state.get("whole_event")
    if seq is None or not 0 <= seq < len(report.run.events):  # asked for in another run
        return
    st.button(
        f"Close event {seq}", key="close-whole-event", type="tertiary", on_click=open_event, args=(None,)
    )
    whole_event(report, seq)


def event_link(report: RunReport, seq: int, *, key: str) -> None:
    """A button that opens one event in place, and closes it again."""
    opened = st.session_state.get("opened_event") == key
    st.button(
        f"{'▾' if opened else '▸'} event {seq}",
        key=f"event-{key}",
        type="tertiary",
        on_click=_open,
        args=(None if opened else key,),
    )
    if opened:
        whole_event(report, seq)


def _open(key: str | None) -> None:
    st.session_state["opened_event"] = key


@panel
def decisions(report: RunReport) -> None:
    """The alternatives of a choice, and their history."""
    evaluation = report.evaluation
    if evaluation.status != "evaluated":
        st.info(f"Counterfactual evaluation {evaluation.status}: {text.label(evaluation.reason, 300)}")
        return
    st.caption(
        "History of each alternative in the same context, scored with the same formula as this run. Within ±"
        f"{THRESHOLD:g} the two count as equivalent. An alternative without history is unknown. "
        "Associations in past runs, not causes."
    )
    tables.figure(
        figures.delta_figure(evaluation, dark=state.is_dark()),
        key="deltas",
        name="Deltas of this run's decision points",
    )
    shown = evaluation.decisions
    asked = state.selected("decision")
    # An address may name any event, also one of another run.
    if asked is not None and asked in {str(decision.decision_point) for decision in shown}:
        shown = tuple(decision for decision in shown if str(decision.decision_point) == asked)
        st.button(f"Show all decision points (now only event {int(asked)})", on_click=_all_decisions)
    frame = run_decisions_table(report.run, shown)
    tables.table(
        frame.assign(verdict=frame["verdict"].map(DELTA_WORDS)),
        key="decisions",
        name="Alternatives of this run",
        columns={"context": st.column_config.TextColumn(width="large")},
    )


def _all_decisions() -> None:
    state.select(run=state.selected("run"), sub_goal=state.selected("sub_goal"))


@panel
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


@panel
def findings(report: RunReport) -> None:
    """What was noticed about this run."""
    if not report.searched:
        st.caption(
            "Still looking for possible prompt injections in this run. They appear here by themselves."
        )
    if report.findings:
        exports.findings(report.findings, key="findings", name="Findings of this run")
    else:
        st.caption("No findings.")


MOST_FAILURES: Final = 5
NEXT_WORDS: Final = {
    "tried again": "then the same call again",
    "tried otherwise": "then the same tool with other arguments",
    "went on": "then went on with another tool",
    "spoke": "then only sent messages",
    "ended": "then the run ended",
}


@panel
def unhandled_failures(report: RunReport) -> None:
    """The failures behind the diagnosis, each with a link to its event."""
    found = report.unhandled
    if not found:
        return
    with st.expander(f"Failures without a new plan ({len(found)})", key="unnoticed"):
        for failure in found[:MOST_FAILURES]:
            _failure(report, failure)
        if len(found) > MOST_FAILURES:
            st.caption(
                f"and {counted(len(found) - MOST_FAILURES, 'more failure')}, marked ✗ in the events below"
            )


def _failure(report: RunReport, failure: UnhandledFailure) -> None:
    what = "transient failure" if failure.transient else "failure"
    tool = f" of {text.one_line(failure.tool, 40)}" if failure.tool else ""
    following = f" ({text.one_line(failure.next_tool, 40)})" if failure.next == "went on" else ""
    st.text(f"✗ {what}{tool}: {text.one_line(failure.text, 120)} – {NEXT_WORDS[failure.next]}{following}")
    event_link(report, failure.seq, key=f"failed-{failure.seq}")
