"""Says on every page that a private area is in view, and offers to share or to discard it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.data.upload import session_uploads
from components.shared import private_session, roles, state, text
from components.shared.panels import panel
from untaken.numbers import counted
from untaken.workspace import NOT_SHARED, PrivateArea

NOT_AN_OWNER: Final = "Only owners of the shared workspace can add files to it."


@panel
def draw() -> None:
    """Draw it where this session has a private area."""
    area = private_session.area()
    if area is None:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="private-area"):
        st.markdown(
            ":material/lock: **Private area.** Only this browser sees what is here. It is deleted when you "
            "discard it, or when the server ends.",
            width="stretch",
        )
        share = roles.may("owner", shared=True)
        with st.popover("Share with everyone", disabled=not share, help=NOT_AN_OWNER if not share else None):
            st.caption(
                f"Uploads {counted(len(area.uploads()), 'file')} to the shared workspace, with the verdicts, "
                "notes and plan graphs that you saved here. Review statuses and drafts are not shared."
            )
            asked = st.button("Share", key="private-share", type="primary")
        with st.popover("Discard"):
            st.caption("Deletes the files, verdicts and notes of this private area. You cannot undo this.")
            st.button("Discard it", key="private-discard", on_click=private_session.end)
    if asked:
        _share(area)


def _share(area: PrivateArea) -> None:
    roles.need("owner", shared=True)  # a browser can ask for it without the button
    bar = st.progress(0.0, text="Sharing …")

    def progress(done: int, total: int, name: str) -> None:
        bar.progress(min(done / max(total, 1), 1.0), text=f"{done} of {total}: {text.label(name, 60)}")

    rows = area.share(state.shared_workspace(), progress=progress)
    session_uploads().results = rows
    # What could not be shared stays, to be copied.
    if not any(found.code == NOT_SHARED for row in rows for found in row.findings):
        private_session.end()
    st.switch_page("pages/data.py")
