"""What added files say about runs that are here already counts once somebody confirms it."""

from __future__ import annotations

import streamlit as st

from components.shared import roles, text
from components.shared.panels import panel
from untaken.workspace import Extension, Workspace


@panel
def offer(workspace: Workspace) -> None:
    """Draw the extensions that wait, where there are any, each with the button that confirms it."""
    waiting = workspace.extensions()
    if not waiting:
        return
    with st.container(border=True):
        st.markdown("**Imported events to confirm**")
        st.caption(
            "These files add events after the recorded end of a run, or replace it with another conversion. "
            "Anyone can write such a file under any name. Confirm only if you trust the source. The audit "
            "log records that you confirmed it. Verdicts given here on a replaced run no longer count."
        )
        if not roles.offered("owner", "confirm them"):
            return
        author = st.text_input("Your name", key="confirm_author", max_chars=100)
        for extension in waiting[:20]:
            key = f"confirm-{extension.file.digest[:16]}-{extension.run_id}"
            st.text(f"{extension.run_id}: {text.one_line(extension.words, 200)}, from {extension.file.name}")
            st.button(
                "Confirm",
                key=key,
                disabled=not author.strip(),
                on_click=_confirm,
                args=(workspace, extension, author.strip()),
            )


def _confirm(workspace: Workspace, extension: Extension, author: str) -> None:
    roles.need("owner")  # a browser can ask for it without the button
    if not workspace.confirm(extension, author=author):
        st.warning("The run has changed since. Nothing was confirmed.")
