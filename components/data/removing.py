"""Removing a file from the workspace, after confirmation, and restoring it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import private_session, roles, text
from components.shared.panels import panel
from untaken.errors import first_few
from untaken.workspace import StoredFile, Workspace

FILES: Final = "files"
"""Key of the table that a file is chosen in."""


@panel
def offer(workspace: Workspace, file: StoredFile) -> None:
    """Draw the button that removes the selected file, with a note on the consequences."""
    if private_session.area() is not None:  # what is shared is what was uploaded
        st.caption("To leave a file out, discard the private area and add the other files again.")
        return
    if not roles.offered("owner", "remove files"):
        return
    with st.popover("Remove from this workspace …", icon=":material/delete:"):
        st.text(text.one_line(file.name, 120))
        st.caption(
            "Its runs or plan graph disappear from all figures. You can restore it here for 30 days. Then "
            "it is deleted, and you can add it again. The audit log records the removal."
        )
        going = workspace.goes_with(file.digest)
        if going:
            named = first_few([text.one_line(one.name, 60) for one in going], 3)
            st.text(f"Also removed, converted from it: {named}")
        st.button("Remove it", key="remove", type="primary", on_click=_remove, args=(workspace, file.digest))


@panel
def restore(workspace: Workspace) -> None:
    """Draw the removed files, if any, each with a button to restore it."""
    gone = workspace.removed()
    if not gone or not roles.may("owner"):
        return
    with st.expander(f"Removed: {len(gone):,}", icon=":material/delete:"), st.container(horizontal=True):
        file = st.selectbox(
            "Removed files",
            options=gone,
            # two may have one name
            format_func=lambda one: f"{text.one_line(one.name, 80)} · {one.digest[:8]}",
            label_visibility="collapsed",
        )
        st.button("Restore", key="restore", on_click=_restore, args=(workspace, file.digest))


def _remove(workspace: Workspace, digest: str) -> None:
    roles.need("owner")
    workspace.remove(digest)
    st.session_state.pop(FILES, None)  # the selected row is now another file


def _restore(workspace: Workspace, digest: str) -> None:
    roles.need("owner")
    workspace.restore(digest)
    st.session_state.pop(FILES, None)
