"""Saved views: a page with its filters and selection under a name, one click away on every page."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.shared import navigation, options, state, text
from components.shared.panels import panel
from untaken import limits
from untaken.errors import UntakenError
from untaken.store.saved_views import SavedView, SavedViews

OPENED: Final = "saved_view_opened"
REFUSED: Final = "saved_view_refused"
MIRRORED: Final = (
    *("selected_", "compare_", "memory_", "rules_", "review_filters", "group"),
    *(options.KEPT, state.LISTED, state.ALL_READ, state.UNKNOWN),
)
"""Keys of the session that write themselves back into an address without them."""
TITLES: Final = dict(navigation.PAGES)


def follow() -> None:
    """Go to the view that was just asked for, before the session takes anything from the old address."""
    opened = st.session_state.pop(OPENED, None)
    if opened is not None:
        st.switch_page(f"pages/{opened.page}.py", query_params=list(opened.query))


@panel
def draw(here: str) -> None:
    """The saved views in the sidebar, and the way to save this one."""
    page = here if here in TITLES else navigation.PAGES[0][0]
    saved = state.workspace().saved_views
    views = [view for view in saved.every() if view.page in TITLES]
    with st.sidebar, st.expander(f"Saved views ({len(views)})" if views else "Saved views"):
        for place, view in enumerate(views):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.button(
                    text.label(view.name, limits.VIEW_NAME_CHARS),
                    key=f"view-{place}",
                    on_click=_open,
                    args=(view,),
                    type="tertiary",
                    width="stretch",
                    help=TITLES[view.page],
                )
                st.button(
                    "Delete",
                    key=f"view-delete-{place}",
                    on_click=saved.delete,
                    args=(view.name,),
                    type="tertiary",
                )
        st.text_input(
            f"Save this view of {TITLES[page]} as",
            key="view_name",
            max_chars=limits.VIEW_NAME_CHARS,
            placeholder="Name",
            help="Keeps the page with its filters and selection, for everybody of this workspace.",
        )
        st.button("Save view", key="view-save", on_click=_save, args=(saved, page))
        if (refused := st.session_state.pop(REFUSED, None)) is not None:
            st.error(text.label(refused, 300))


def _save(saved: SavedViews, page: str) -> None:
    asked = tuple((name, value) for name in st.query_params for value in st.query_params.get_all(name))
    name = " ".join(st.session_state["view_name"].split())
    try:
        saved.save(SavedView(name=name, page=page, query=asked))
    except UntakenError as error:
        st.session_state[REFUSED] = f"{error.message}. {error.hint}" if name else "Enter a name first."
        return
    st.session_state["view_name"] = ""


def _open(view: SavedView) -> None:
    """What the session mirrors would add itself to the address: the view is what was saved."""
    for key in [key for key in st.session_state if str(key).startswith(MIRRORED)]:
        del st.session_state[key]
    st.session_state[OPENED] = view
