"""A first plan graph for runs that have none, offered on Overview and Run; where runs contradict theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.shared import state, text
from components.shared.panels import panel
from untaken.analysis import runs_without_graph
from untaken.errors import first_few
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import GraphSet, PlanGraph, SubGoal, escape_glob, teaches
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
    mine, named = any(one.digest == run.digest for one in chosen_runs()), _missing_plan(run)
    words = "**No plan graph matches this run's task.** Write one, or add one on the Data page."
    if named:
        name = text.label(named, ID_CHARS)
        words = f"**This run's plan graph {name} is not here.** Add it on the Data page, or write it."
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(words, width="stretch")
        if (mine or named) and st.button("Write a plan for this task", key="write_plan"):
            write(run.task_id, named)
            st.switch_page(ANNOTATE)
        if mine and any(map(teaches, chosen_runs())):
            _open_annotate("Draft a plan graph")


def _missing_plan(run: Run) -> str | None:
    """The plan graph that a run names, where there is none with this id. Untrusted."""
    graphs, named = state.corpus().graphs, run.started.graph
    return None if named is None or graphs.get(named) or named in graphs.ambiguous else named


def unreached(graph: PlanGraph) -> str:
    """Why runs of a graph's tasks are not scored with it: they name others; empty where none does."""
    alone = GraphSet.of([graph])
    named = [
        run.started.graph
        for run in state.corpus().runs.values()
        if run.started.graph not in (None, graph.id) and alone.for_task(run.task_id)[0] == graph
    ]
    if not named:
        return ""
    others = first_few([repr(text.one_line(one, ID_CHARS)) for one in dict.fromkeys(named)], SHOWN)
    return (
        f"{counted(len(named), 'run')} of its tasks name{'s' * (len(named) == 1)} another plan graph: "
        f"{text.label(others, 400)}. Add that on the Data page, or save this one under its id."
    )


def write(task: str, named: str | None = None) -> None:
    """Open a new plan graph of this task alone, with one sub-goal; under the id that its runs name, if any.

    Task and id are of a ledger, untrusted.
    """
    from components.annotate import session  # noqa: PLC0415 (slow, and only for who edits)

    graph = PlanGraph(
        id=named or free_id(task, session.graph_ids(), most=ID_CHARS),
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
    st.text(text.sentence(text.one_line(f"{doubt.message}. {doubt.hint}", 400)))
