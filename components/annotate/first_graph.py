"""A first plan graph for runs that have none, offered on Overview and Run; where runs contradict theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.shared import state, text
from components.shared.panels import panel
from untaken.analysis import runs_without_graph
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import PlanGraph, SubGoal, escape_glob, teaches
from untaken.scoring import GraphDoubt
from untaken.views import without_graph
from untaken.visible import free_id

ASKED: Final = "first_graph_asked"
ID_CHARS: Final = 80
ANNOTATE: Final = "pages/annotate.py"


@panel
def offer() -> None:
    """Shows on Overview how many compared runs have no plan graph, and offers a draft, if one can be made."""
    found = state.derived(without_graph)
    if not found.runs:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        have = "has" if found.runs == 1 else "have"
        why = "" if found.draft else " A draft is learned from runs that succeeded, and none of these did."
        unused = (
            f" {counted(found.unused, 'plan graph', 'name')} no task of these runs: compare its tasks with "
            "theirs."
            if found.unused
            else ""
        )
        st.markdown(
            f"**{counted(found.runs, 'run')} {have} no plan graph.** "
            f"Only the outcome is known: no sub-goal, no place where it went wrong.{why}{unused}",
            width="stretch",
        )
        _open_annotate("Draft a plan graph" if found.draft else "Write a plan graph")


@panel
def offer_for(run: Run) -> None:
    """Offers ways to a plan graph on the page of a run without one."""
    mine = any(one.digest == run.digest for one in chosen_runs())
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            "**No plan graph matches this run's task.** Write one, or add one on the Data page.",
            width="stretch",
        )
        if mine and st.button("Write a plan for this task", key="write_plan"):
            write(run.task_id)
            st.switch_page(ANNOTATE)
        if mine and any(map(teaches, chosen_runs())):
            _open_annotate("Draft a plan graph")


def write(task: str) -> None:
    """Open a new plan graph of this task alone (a task id of a ledger, untrusted), with one sub-goal."""
    from components.annotate import session  # noqa: PLC0415 (slow, and only for who edits)

    graph = PlanGraph(
        id=free_id(task, session.graph_ids(), most=ID_CHARS),
        tasks=[escape_glob(task)],  # an id may hold signs of a glob
        sub_goals=[SubGoal(id="first", title="First sub-goal")],
    )
    session.begin(graph, "New plan. Add what should have happened. It scores runs once you save it.")
    done()


def _open_annotate(words: str) -> None:
    if st.button(words, key="first_graph", type="primary"):
        st.session_state[ASKED] = True
        st.switch_page(ANNOTATE)


def asked() -> bool:
    """Whether a draft for runs without a graph was asked for, and neither taken nor left."""
    return bool(st.session_state.get(ASKED)) and bool(state.derived(runs_without_graph, of_all=True))


def chosen_runs() -> Sequence[Run]:
    """The runs that such a draft is for."""
    return state.derived(runs_without_graph, of_all=True)


def done() -> None:
    """The draft was taken or left."""
    st.session_state.pop(ASKED, None)


SHOWN: Final = 3


@panel
def doubts(found: Sequence[GraphDoubt]) -> None:
    """One warning with the first few, the others folded: a typo must not read as an agent's failure."""
    for note in (doubt for doubt in found if doubt.severity == "note"):
        st.caption(text.label(f"{note.message[:1].upper()}{note.message[1:]}.", 400))
    grave = [doubt for doubt in found if doubt.severity != "note"]
    if not grave:
        return
    with st.container(border=True, gap="xsmall", key="graph-doubts"):
        count = counted(len(grave), "finding")
        st.markdown(f":material/warning: **Check the plan graph first** · {count}")
        for doubt in grave[:SHOWN]:
            _doubt(doubt)
        if grave[SHOWN:]:
            with st.expander(f"{len(grave) - SHOWN} more"):
                for doubt in grave[SHOWN : 10 * SHOWN]:
                    _doubt(doubt)


def _doubt(doubt: GraphDoubt) -> None:
    st.text(text.one_line(f"{doubt.message}. {doubt.hint}", 400))
