"""What should have happened?"""

from __future__ import annotations

import streamlit as st

from components.annotate import choice, discovery, first_graph, preview
from components.annotate import panel as annotate_panel
from components.annotate import session as annotate_session
from components.annotate import table as annotate_table
from components.annotate import tools as annotate_tools
from components.annotate import versions as annotate_versions
from components.annotate.preview import Preview
from components.annotate.session import EditorSession
from components.plan.editor import Command, plan_editor
from components.shared import cards, state


def main() -> None:
    state.workspace()  # outside the frame, this starts over inside it
    cards.headline("Annotate", "What should have happened?")
    if first_graph.asked():
        discovery.first()
        return
    with st.container():  # what comes and goes above the canvas has a place of its own: the canvas stays
        here = choice.choose()
    if here is None and state.selected("graph") is not None:
        return  # what is missing was said
    if here is None:
        st.info("No plan graph yet. Create one, import one, or get one suggested from runs.")
        if state.corpus().runs:
            discovery.suggest(None)
        else:
            cards.nothing_here()
        return
    with st.container():
        annotate_versions.bar(here)
    with st.container():
        seen = preview.headline(here.graph, changed=here.session.changed)
    with st.container():
        annotate_versions.somebody_else(here)
    # One container of three: its style sheet lets the third take the room below the shorter one.
    with st.container(key="beside-annotate"):
        with st.container():
            draw(here)
        with st.container(border=True):
            annotate_panel.panel(here.graph)
        with st.container():
            view(here, seen)


def view(here: EditorSession, seen: Preview | None) -> None:
    views = {
        "Preview": lambda: preview.details(seen),
        "Table": lambda: annotate_table.table(here.graph),
        "Tasks and tools": lambda: annotate_tools.tools(here.graph),
        "Mapping": lambda: annotate_tools.workbench(here.graph),
        "Suggest": lambda: discovery.suggest(here.graph),
        "Versions and export": lambda: annotate_versions.versions(here),
    }
    chosen = st.segmented_control(
        "View",
        list(views),
        default="Preview",
        required=True,
        key="annotate_view",
        label_visibility="collapsed",
    )
    views[chosen]()


def draw(here: EditorSession) -> None:
    plan_editor(
        here.graph,
        key="annotate-plan",
        on_command=command,
        on_refused=annotate_session.refuse,
        selected=state.selected("sub_goal"),
        on_select=annotate_panel.select,
        can_undo=bool(here.session.done),
        can_redo=bool(here.session.undone),
        refused=here.refused,
    )


def command(given: Command) -> None:
    if given == "undo":
        annotate_session.undo()
    elif given == "redo":
        annotate_session.redo()
    else:
        annotate_session.edit(given)


main()
