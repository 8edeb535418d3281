"""The reviewer's sitting on the Annotate page: which graph is open, what was done to it, what is kept of it.

The graph itself changes only through the engine's commands; nothing is saved without a click. Every step is
kept as a draft in the workspace, so that a closed browser loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast
from uuid import uuid4

import streamlit as st
from msgspec import Struct
from msgspec.structs import replace
from msgspec.structs import replace as replace_struct
from streamlit.delta_generator import DeltaGenerator

from components.shared import roles, state
from components.shared.panels import panel
from components.shared.reviewer import author
from untaken.errors import UntakenError
from untaken.plans import Edit, PlanGraph, Session, export_graph, parse_graph
from untaken.traces import filled
from untaken.workspace import GraphDraft, GraphVersion, SaveConflict, Saved, Workspace

CURRENT: Final = "annotate_desk"
UNSIGNED: Final = "unsigned:"
"""Begins the author of drafts of somebody who has given no name yet."""


class EditorSession(Struct, frozen=True, kw_only=True):
    """The graph being edited."""

    session: Session  # the graph with all that can be undone
    based_on: int | None  # the version that was edited; none for a new graph
    refused: str = ""  # why the last edit was
    message: str = ""  # the result of the last save or other action, in words
    turn: int = 0  # grows with every change, so that forms show what is there now
    conflict: SaveConflict | None = None  # of the last save

    @property
    def graph(self) -> PlanGraph:
        """The graph as it is now."""
        return self.session.graph


def current() -> EditorSession | None:
    """The graph being edited in this browser session."""
    return cast("EditorSession | None", st.session_state.get(CURRENT))


def _store() -> Workspace:
    """The workspace; clicks are answered before the frame of the page is drawn."""
    with state.frame():
        return state.workspace()


def graph_ids() -> list[str]:
    """The plan graphs of the workspace, and a new one that is open but not saved."""
    store = _store()
    known = dict.fromkeys(file.graph_id for file in store.graphs() if file.graph_id)
    mine = draft_author()  # a draft of somebody else is theirs alone
    known |= dict.fromkeys(draft.graph_id for draft in store.drafts() if draft.author == mine)
    here = current()
    if here is not None:
        known[here.graph.id] = None
    return list(known)


def open_graph(graph_id: str) -> EditorSession | None:
    """Open a graph, unless it is already open: the reviewer's draft of it, or else the current version."""
    here = current()
    if here is not None and here.graph.id == graph_id:
        return here
    draft = _store().draft(graph_id, draft_author())
    if draft is not None and resume(draft):
        return current()
    newest = _store().newest_version(graph_id)
    if newest is None:
        return None
    graph = _store().graph_version(graph_id, newest.version)
    return put(EditorSession(session=Session.of(graph), based_on=newest.version, turn=_turn()))


def begin(graph: PlanGraph, message: str, *, fill: bool = False) -> None:
    """Open a new graph; if the id exists, open that graph with the new content as an undoable step."""
    state.select(graph=graph.id)
    here = open_graph(graph.id)
    if here is not None:
        take_content(graph, message, fill=fill)
        now = current()
        if now is not None and now.session is here.session and not now.refused:
            put(replace(now, message="It is identical to the open graph."))
    else:
        # Against an empty graph: all of it is unsaved.
        empty = Session.of(PlanGraph(id=graph.id, sub_goals=[]), graph)
        keep(EditorSession(session=empty, based_on=None, message=message, turn=_turn()))


def put(made: EditorSession) -> EditorSession:
    """Make this the open graph."""
    st.session_state[CURRENT] = made
    return made


def keep(made: EditorSession) -> EditorSession:
    """Make this the open graph, and store it as a draft if it differs from the saved version."""
    store, whose = _store(), draft_author()
    if made.session.changed:
        store.keep_draft(
            made.graph.id, author=whose, content=export_graph(made.graph, "yaml"), based_on=made.based_on
        )
    else:
        store.discard_draft(made.graph.id, whose)
    return put(made)


def edit(edits: Edit | Sequence[Edit]) -> bool:
    """Apply commands to the open graph, and whether it was done; a refused one changes nothing."""
    return _step(lambda session: session.edit(edits))


def take(graph: PlanGraph, message: str) -> bool:
    """Another content as one step that can be undone."""
    return _step(lambda session: session.take(graph, message))


def take_content(graph: PlanGraph, message: str, *, fill: bool = False) -> bool:
    """The content of another graph, under the id and version of this one."""
    here = current()
    if here is None:
        return False
    if fill:
        graph = filled(graph, here.graph)
    return take(replace_struct(graph, id=here.graph.id, version=here.graph.version), message)


def undo() -> None:
    """Take the last step back."""
    _step(Session.undo)


def redo() -> None:
    """Do again what was taken back."""
    _step(Session.redo)


def take_refusal() -> str:
    """Why the last edit was refused, for the field that it came from: nothing else says it then."""
    here = current()
    if here is None:
        return ""
    put(replace(here, refused=""))
    return here.refused


@panel
def refuse(error: UntakenError) -> None:
    """Say why an edit is refused."""
    here = current()
    if here is not None:
        put(replace(here, refused=words(error), message=""))


def words(error: UntakenError) -> str:
    """What is wrong and what to do next, in one line."""
    return f"{error.message}. {error.hint}" if error.hint else f"{error.message}."


def _step(act: Callable[[Session], Session]) -> bool:
    here = current()
    if here is None:
        return False
    try:
        session = act(here.session)
    except UntakenError as error:
        refuse(error)
        return False
    # A command may change nothing: then there is no step to undo.
    if session is not here.session:
        keep(replace(here, session=session, refused="", message="", turn=here.turn + 1))
    else:
        put(replace(here, refused=""))
    return True


def _turn() -> int:
    """Grows from one desk to the next: no form of the one before shows up again."""
    here = current()
    return here.turn + 1 if here is not None else 0


def save(message: str) -> bool:
    """Save the open graph as the next version, and whether it was; not where somebody else was faster."""
    here, who = current(), author()
    if here is None or who is None:
        return False
    try:
        roles.need("owner")
        answer = _store().save_graph(here.graph, author=who, message=message.strip(), based_on=here.based_on)
    except UntakenError as error:
        refuse(error)
        return False
    if isinstance(answer, SaveConflict):
        put(replace(here, conflict=answer, message=""))
        return False
    _saved(here, answer)
    return True


def _saved(here: EditorSession, answer: Saved) -> None:
    store, version = _store(), answer.version
    graph = store.graph_version(here.graph.id, version.version)
    message = (
        f"Saved as version {version.version}." if answer.new else f"Version {version.version} is identical."
    )
    keep(
        EditorSession(
            session=here.session.saved(graph), based_on=version.version, message=message, turn=here.turn + 1
        )
    )


def newer(here: EditorSession) -> GraphVersion | None:
    """The version that somebody saved since this one was opened."""
    newest = _store().newest_version(here.graph.id)
    return newest if newest is not None and newest.version != here.based_on else None


def go_on(graph: PlanGraph, newest: GraphVersion, theirs: PlanGraph, message: str) -> None:
    """Go on from the newest version with this content; undo leads back to the own edits."""
    here = current()
    if here is not None:
        session = replace(here.session, base=theirs).take(graph, f"version {newest.version} taken in")
        keep(EditorSession(session=session, based_on=newest.version, message=message, turn=here.turn + 1))


def draft_author() -> str:
    """The owner of the drafts: the reviewer, or this session until a name is given."""
    known = author()
    if known is not None:
        return known
    return str(st.session_state.setdefault("annotate_unsigned", f"{UNSIGNED}{uuid4().hex[:12]}"))


def sign_draft() -> None:
    """Moves the draft to the reviewer's name, if one was given since."""
    if author() is None:
        return
    here, unsigned = current(), st.session_state.pop("annotate_unsigned", None)
    # Kept under the name before it goes: never without a draft.
    if here is not None and unsigned is not None:
        keep(here)
        _store().discard_draft(here.graph.id, unsigned)


def drafts_waiting() -> list[GraphDraft]:
    """Drafts that nobody signed, of sessions that are over: anybody can take them up."""
    mine = draft_author()
    return [
        draft for draft in _store().drafts() if draft.author.startswith(UNSIGNED) and draft.author != mine
    ]


def resume(draft: GraphDraft) -> bool:
    """Open a draft with the version it started from; false if it cannot be read."""
    store, base = _store(), PlanGraph(id=draft.graph_id, sub_goals=[])
    try:
        graph = parse_graph(draft.content, name=f"{draft.graph_id}.plan.yaml", format="yaml")
        if draft.based_on is not None:
            base = store.graph_version(draft.graph_id, draft.based_on)
    except UntakenError as error:
        refuse(error)
        return False
    if state.selected("graph") != draft.graph_id:  # else the address names a sub-goal of it, too
        state.select(graph=draft.graph_id)
    # With a version before it, undo leads back to that version.
    session = Session.of(base).take(graph, "draft resumed") if base.sub_goals else Session.of(base, graph)
    message = f"The draft of {draft.updated_at:%Y-%m-%d %H:%M} UTC is open again."
    keep(EditorSession(session=session, based_on=draft.based_on, message=message, turn=_turn()))
    if draft.author != draft_author():  # kept under the own name by now
        store.discard_draft(draft.graph_id, draft.author)
    return True


def discard(draft: GraphDraft) -> None:
    """Give a draft up for good."""
    _store().discard_draft(draft.graph_id, draft.author)


CLOSED: Final = "annotate_closed"


def closed() -> int:
    """How often popovers were closed: part of a field's key, so that closing resets the field."""
    return int(st.session_state.get(CLOSED, 0))


def close() -> None:
    """Close what is open, from the next run on."""
    st.session_state[CLOSED] = closed() + 1


def popover(label: str, *, key: str, **more: Any) -> DeltaGenerator:
    """A popover with a label of our own."""
    return st.popover(label, key=f"{key}_{closed()}", **more)
