"""Saving with a message, what somebody else saved meanwhile, and versions of a plan graph side by side."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import streamlit as st

from components import figures
from components.annotate import choice, refusals
from components.annotate import session as annotate_session
from components.annotate.session import EditorSession, close, popover
from components.shared import drafts, reviewer, roles, state, tables, text
from components.shared.panels import panel
from untaken.errors import UntakenError
from untaken.numbers import counted
from untaken.plans import ORDER, WHOLE, GraphDiff, MergeConflict, PlanGraph, Side, diff_graphs, merge
from untaken.views import versions_table
from untaken.workspace import GraphVersion

SIDES: Final[dict[Side, str]] = {"mine": "mine", "theirs": "theirs"}
SHOWN: Final = 200
"""Characters of a value in a conflict."""
MOST_NAMED: Final = 3


@panel
def bar(here: EditorSession) -> None:
    """Undo, redo, what is not saved yet, and saving."""
    session = here.session
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Undo", icon=":material/undo:", key="annotate_undo", shortcut="Alt+Z",
            on_click=annotate_session.undo,
            disabled=not session.done, help=text.label(session.done[-1].words, 120) if session.done else None,
        )  # fmt: skip
        st.button(
            "Redo", icon=":material/redo:", key="annotate_redo", shortcut="Alt+Y",
            on_click=annotate_session.redo,
            disabled=not session.undone,
            help=text.label(session.undone[-1].words, 120) if session.undone else None,
        )  # fmt: skip
        with popover("Save …", key="annotate_pop_save", type="primary", disabled=not session.changed):
            _save(here)
        with popover("Save as …", key="annotate_pop_save_as"):
            _save_as(here)
        st.markdown(_saved_state(here))
    if here.refused:
        st.error(f"Refused: {text.label(here.refused, 600)}")
    if here.message:
        st.success(text.label(here.message, 300))


def _saved_state(here: EditorSession) -> str:
    version = "a new graph" if here.based_on is None else f"version {here.based_on}"
    if not here.session.changed:
        return f"{version} · no unsaved changes"
    done = here.session.done
    steps = f" ({counted(len(done), 'step')} to undo)" if done else ""
    return f"{version} · **unsaved changes**{steps}, kept as a draft"


def _blocked(here: EditorSession) -> bool:
    """Whether words that were refused keep the graph from being saved; says so."""
    names = refusals.refused(here.graph)
    if names:
        listed = ", ".join(f"‹{text.label(name, 60)}›" for name in names[:MOST_NAMED])
        st.warning(f"Correct or discard what was refused first, on {listed}.")
    return bool(names)


def _save(here: EditorSession) -> None:
    if _blocked(here) or not roles.offered("owner", "save versions of plan graphs"):
        return
    who = reviewer.reviewer()
    if who is None:
        st.warning("Enter your name at the top of the page to sign the version.")
        return
    place = drafts.DraftField(name="annotate_message", about=(here.graph.id,))
    drafts.text_area("What changed, and why", place, height=80)
    if st.button(f"Save as {text.label(who, 60)}", key="annotate_save", type="primary"):
        if annotate_session.save(drafts.typed(place)):
            drafts.forget(place)
        close()
        st.rerun()


def _save_as(here: EditorSession) -> None:
    if _blocked(here):
        return
    with st.form("annotate_save_as", border=False):
        name = st.text_input("New graph id", max_chars=80).strip()
        if st.form_submit_button("Save under this id"):
            if not name or name in annotate_session.graph_ids():
                st.warning("Choose an id that no other graph in this workspace uses.")
            else:
                graph = msgspec.structs.replace(here.graph, id=name)
                annotate_session.begin(graph, "New graph from your edits. Save it when it is ready.")
                close()
                st.rerun()


@panel
def somebody_else(here: EditorSession) -> None:
    """Offers to merge with a newer saved version, or to reload it; nothing is overwritten."""
    newest = annotate_session.newer(here)
    # Of a new graph, only a refused save tells that somebody has saved one of its id.
    if newest is None or (here.based_on is None and here.conflict is None):
        return
    with st.container(border=True, key="annotate_conflict"):
        who = f"**{text.label(newest.author, 80)}** saved version {newest.version}"
        st.markdown(
            f":material/call_merge: {who} at {newest.saved_at:%Y-%m-%d %H:%M} UTC, after you started."
        )
        if newest.message:
            st.text(text.one_line(newest.message, 400))
        if here.conflict is not None:
            st.warning("Your edits are not saved. Merge them with theirs, or reload.")
        try:
            theirs = state.workspace().graph_version(here.graph.id, newest.version)
        except UntakenError as error:
            st.error(text.label(annotate_session.words(error), 400))
            return
        _merging(here, newest, theirs)


def _merging(here: EditorSession, newest: GraphVersion, theirs: PlanGraph) -> None:
    # Once to find the conflicts, once with what is chosen for them.
    found = merge(here.session.base, here.graph, theirs)
    choices = {one.place: _choice(one, number, newest) for number, one in enumerate(found.conflicts)}
    merged = merge(here.session.base, here.graph, theirs, choices=choices)
    if not found.conflicts:
        st.caption("Your edits do not conflict with theirs.")
    diff = diff_graphs(theirs, merged.graph)
    with st.expander(f"What the merge adds to version {newest.version}", expanded=bool(found.conflicts)):
        _diff(diff, "merge")
    with st.container(horizontal=True):
        st.button(
            f"Merge with version {newest.version}",
            key="annotate_merge",
            type="primary",
            on_click=annotate_session.go_on,
            args=(merged.graph, newest, theirs, "Merged. Check the result, then save."),
        )
        st.button(
            f"Reload version {newest.version}",
            key="annotate_reload",
            on_click=annotate_session.go_on,
            args=(theirs, newest, theirs, "Reloaded. Undo restores your edits."),
            help="Sets your edits aside. Undo restores them.",
        )


def _choice(conflict: MergeConflict, number: int, newest: GraphVersion) -> Side:
    """The side whose value is kept where both changed the same thing."""
    what = "the graph" if conflict.sub_goal is None else f"‹{text.label(conflict.sub_goal, 60)}›"
    field = {WHOLE: "whether it exists", ORDER: "order of sub-goals"}.get(conflict.field, conflict.field)
    return st.radio(
        f"Both changed {what}: {text.label(field)}",
        SIDES,
        key=f"annotate_conflict_{newest.version}_{number}",  # with another version, other conflicts
        horizontal=True,
        format_func=SIDES.__getitem__,
        captions=[text.label(_plain(value), SHOWN) for value in (conflict.mine, conflict.theirs)],
    )


def _plain(value: Any) -> str:
    if value is None:
        return "not there"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


@panel
def versions(here: EditorSession) -> None:
    """Every version with who, when and why; two of them side by side; what can be taken along."""
    history = [one for one in state.workspace().graph_history(here.graph.id) if not one.removed]
    if not history:
        st.info("This graph has no saved versions yet.")
    else:
        shown = versions_table(reversed(history))
        tables.table(
            shown,
            key="versions",
            name="Versions",
            height=220 if len(history) > 5 else "auto",
            columns={"saved_at": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm")},
        )
        if len(history) > 1 or here.session.changed:
            _side_by_side(here, history)
    st.markdown("**Export**")
    choice.take_along(here.graph)


def _side_by_side(here: EditorSession, history: list[GraphVersion]) -> None:
    names = {one.version: _name(one) for one in history} | {0: "open graph"}
    numbers = [one.version for one in history]
    left, right = st.columns(2)
    # A new key after each change, so that the usual choice is the one for what is there now.
    before = left.selectbox(
        "From", numbers, index=max(0, len(numbers) - (1 if here.session.changed else 2)),
        format_func=names.__getitem__, key=f"diff_from_{here.turn}",
    )  # fmt: skip
    after = right.selectbox(
        "To", [*numbers, 0], index=len(numbers) - (0 if here.session.changed else 1),
        format_func=names.__getitem__, key=f"diff_to_{here.turn}",
    )  # fmt: skip
    store = state.workspace()
    try:
        old = store.graph_version(here.graph.id, before)
        new = here.graph if after == 0 else store.graph_version(here.graph.id, after)
    except UntakenError as error:
        st.error(text.label(annotate_session.words(error), 400))
        return
    # Another number alone is no difference.
    _diff(diff_graphs(old, msgspec.structs.replace(new, version=old.version)), "versions")
    st.button(
        f"Restore version {before}",
        key="annotate_back",
        on_click=annotate_session.take_content,
        args=(old, f"content of version {before}"),
        help="You can undo this. Nothing is saved yet.",
    )


def _name(version: GraphVersion) -> str:
    message = f": {version.message}" if version.message else ""
    return text.one_line(f"version {version.version} · {version.author}{message}", 80)


def _diff(diff: GraphDiff, key: str) -> None:
    """The drawing, and in words what no drawing shows."""
    drawn = figures.plan_diff_figure(diff, dark=state.is_dark())
    tables.figure(drawn, key=f"diff-{key}", name="What differs")
    lines = [
        f"{text.label(goal.title, 60)} · {text.label(change.field)}: "
        f"{text.label(_plain(change.before), SHOWN)} → {text.label(_plain(change.after), SHOWN)}"
        for goal in diff.changed
        for change in goal.fields
    ]
    lines += [
        f"the graph · {text.label(c.field)}: {text.label(_plain(c.before), SHOWN)} → "
        f"{text.label(_plain(c.after), SHOWN)}"
        for c in diff.fields
    ]
    if lines:
        st.caption("  \n".join(lines[:60]))
