"""Choosing a plan graph to edit (existing, new, imported, or a draft), and the author's name."""

from __future__ import annotations

import streamlit as st

from components.annotate import session
from components.annotate.session import close, closed, popover
from components.shared import cards, state, tables, text
from components.shared.panels import panel
from components.shared.reviewer import ask_reviewer, author
from components.shared.spooling import opened
from untaken.errors import UntakenError
from untaken.numbers import counted
from untaken.plans import GRAPH_FORMATS, GraphFormat, PlanGraph, SubGoal, export_graph
from untaken.traces import ImportedGraphs, graphs_in
from untaken.views import most_used_graph

FILES: dict[GraphFormat, tuple[str, str]] = {
    "yaml": ("YAML", ".plan.yaml"),
    "json": ("JSON", ".plan.json"),
    "mermaid": ("Mermaid", ".mmd"),
    "node-link": ("node-link JSON", ".node-link.json"),
    "csv": ("edge list (CSV)", ".csv"),
}
IMPORTED = "annotate_brought"


@panel
def choose() -> session.EditorSession | None:
    """Draw the ways to a graph, and who is at work.

    Returns:
        The open editor session; ``None`` if the workspace has no graph yet and none was started, or if the
        address names a graph that does not exist.
    """
    known = session.graph_ids()
    asked = state.selected("graph")
    missing = asked is not None and asked not in known
    if asked is None and known:
        here = session.current()
        asked = here.graph.id if here is not None else most_used_graph(state.compared(), known)
        # The address names it from now on, so that it can be shared.
        state.select(**{name: state.selected(name) for name in state.SELECTION} | {"graph": asked})
    chosen = asked if asked in known else None
    if missing:
        words = "The link names a plan graph that is not in this workspace."
        hint = " If it is your draft, enter your name." if author() is None else ""
        st.warning(f"{words}{hint} Or choose another one.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if known:
            cards.picker(
                "Plan graph",
                {name: text.one_line(name, 80) for name in known},
                chosen,
                lambda name: state.select(graph=name),
                key="annotate_graph",
                index=None if missing else 0,  # nothing is chosen in place of a missing graph
                placeholder="Choose a graph",
                width=360,
            )
        with popover("New …", key="annotate_pop_new"):
            _new(known)
        with popover("Import …", key="annotate_pop_import"):
            _import()
        ask_reviewer()
    session.sign_draft()  # the name may have been given just now
    _waiting()
    return session.open_graph(chosen) if chosen is not None else None


def _new(known: list[str]) -> None:
    with st.form("annotate_new", border=False):
        name = st.text_input("Graph id", max_chars=80, placeholder="refund-desk")
        tasks = st.text_input("Tasks it covers", placeholder="refund-*, swap-*")
        st.caption("Globs over task ids, separated by commas.")
        first = st.text_input("First sub-goal", max_chars=80, placeholder="find_order")
        if st.form_submit_button("Begin"):
            if not name.strip() or not first.strip():
                st.warning("A graph needs an id and a first sub-goal.")
            elif name.strip() in known:
                st.warning("A graph with this id already exists. Choose it from the list.")
            else:
                globs = [glob.strip() for glob in tasks.split(",") if glob.strip()]
                graph = PlanGraph(id=name.strip(), tasks=globs, sub_goals=[SubGoal(id=first.strip())])
                session.begin(graph, "New graph. It scores runs once you save it.")
                close()
                st.rerun()


def _import() -> None:
    st.caption("YAML, JSON, Mermaid, node-link JSON, an edge list, or a benchmark's file (DevAI …).")
    file = st.file_uploader("Plan graph", key=f"annotate_file_{closed()}", label_visibility="collapsed")
    cards.shared_with_everybody()
    typed = st.text_area(
        "Or paste it", key=f"annotate_pasted_{closed()}", height=120, placeholder="flowchart TD …"
    )
    # Mermaid, as in the placeholder.
    kind = st.selectbox("Format of the pasted text", GRAPH_FORMATS, index=2, key="annotate_format")
    if st.button("Read", key="annotate_read", disabled=not (file or typed.strip())):
        name, data = (file.name, opened(file).read()) if file else (f"pasted{FILES[kind][1]}", typed.encode())
        try:
            st.session_state[IMPORTED] = graphs_in(name, data)
        except UntakenError as error:
            st.session_state[IMPORTED] = ImportedGraphs(graphs=(), findings=(error.finding(),))
    imported: ImportedGraphs | None = st.session_state.get(IMPORTED)
    if imported is not None:
        _offer(imported)


def _offer(imported: ImportedGraphs) -> None:
    """What was read, to be opened."""
    for finding in imported.findings[:20]:
        where = f"{finding.where}: " if str(finding.where) else ""
        words = text.label(f"{where}{finding.message}. {finding.hint}".strip(), 400)
        (st.error if finding.severity == "error" else st.caption)(words)
    if not imported.graphs:
        return
    graph = imported.graphs[0]
    if len(imported.graphs) > 1:
        by_id = {one.id: one for one in imported.graphs}
        graph = by_id[st.selectbox("Which one", list(by_id), format_func=lambda n: text.one_line(n, 60))]
    st.caption(f"{counted(len(graph.sub_goals), 'sub-goal')}, id {text.label(graph.id, 60)}")
    here = session.current()
    fill = imported.drawn and st.checkbox(
        "Keep the existing checks, rules, descriptions and tasks",
        value=True,
        key="annotate_fill",
        help="This format cannot hold them. They are kept for sub-goals with the same id.",
    )
    if st.button(
        "Open it",
        key="annotate_open",
        help="If a graph with this id exists, the import is one step that you can undo.",
    ):
        session.begin(graph, "imported", fill=fill)
        _done()
    into = f"Replace {text.label(here.graph.id, 40)}" if here else ""
    if here and here.graph.id != graph.id and st.button(into, key="annotate_into"):
        session.take_content(graph, "imported", fill=fill)
        _done()


def _done() -> None:
    st.session_state.pop(IMPORTED, None)
    close()
    st.rerun()


def _waiting() -> None:
    """Drafts that nobody signed."""
    drafts = session.drafts_waiting()
    if not drafts:
        return
    with st.expander(f"Unsigned drafts: {len(drafts):,}"):
        for number, draft in enumerate(drafts[:20]):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(f"{text.label(draft.graph_id, 60)} · {draft.updated_at:%Y-%m-%d %H:%M} UTC")
                st.button("Open draft", key=f"draft_up_{number}", on_click=session.resume, args=(draft,))
                st.button("Discard", key=f"draft_off_{number}", on_click=session.discard, args=(draft,))


def take_along(graph: PlanGraph) -> None:
    """The graph as it is now, in every format."""
    with st.container(horizontal=True):
        for format, (label, ending) in FILES.items():
            tables.download(
                lambda format=format: export_graph(graph, format).encode(),  # type: ignore[misc]
                label=label,
                file=f"{text.file_name(graph.id)}{ending}",
                mime="text/plain",
                key=f"annotate-{format}",
            )
    st.caption(
        "YAML, JSON and node-link keep everything. Mermaid and the edge list keep only what can be drawn."
    )
