"""Who signs: asked with the first save, shown beside every save, and changed there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from components.shared import reviewer, state, text

WAITING: Final = "signing_waiting"
"""What is saved as soon as its author is known."""
ASKED: Final = "signing_asked"
"""Whether the name is to be asked, with or without something that waits for it."""
OPEN: Final = "signing_open"
"""Whether the dialog still waits for a name."""
FIELD: Final = "signing_field"

Save = Callable[[str], object]
"""Saves something in an author's name (``human:NAME``)."""


def save(act: Save) -> None:
    """Save now, or as soon as the reviewer has signed; to be called by a widget."""
    author = reviewer.author()
    if author is not None:
        act(author)
        return
    st.session_state[WAITING] = act
    st.session_state[ASKED] = True


def signer(key: str) -> None:
    """The name that the next save is signed with, and a button that changes it."""
    name = reviewer.reviewer()
    words = f"Signed as {text.label(name, 40)}" if name else "Not signed yet"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"signer-{key}"):
        st.caption(words, width="content")
        st.button(
            "Change" if name else "Sign",
            key=f"sign-{key}",
            type="tertiary",
            help="The name that signs what you save, on every page.",
            on_click=_ask_for_name,
        )


def ask() -> None:
    """Ask for the name where a save waits for it; at the end of what draws the buttons that save."""
    if st.session_state.pop(ASKED, False):
        st.session_state[OPEN] = True
        _dialog()


def _ask_for_name() -> None:
    st.session_state.pop(WAITING, None)
    st.session_state[ASKED] = True


@st.dialog("Sign your work")
def _dialog() -> None:
    if reviewer.sign_in():
        with state.frame():
            reviewer.ask_reviewer()
        return
    if not st.session_state.get(OPEN):  # Enter was pressed twice: the second one draws the dialog again
        st.rerun()
    waits = WAITING in st.session_state
    st.session_state.setdefault(FIELD, reviewer.reviewer() or "")
    with st.form("signing", border=False):
        st.text_input(
            "Your name",
            key=FIELD,
            max_chars=reviewer.CHARS,
            placeholder="the name that others know you by",
            help="This browser remembers it.",
        )
        st.form_submit_button("Sign and save" if waits else "Sign", type="primary", on_click=_signed)


def _signed() -> None:
    if not st.session_state.get(OPEN):
        return
    name = reviewer.sign(st.session_state.get(FIELD))
    if name is None and WAITING in st.session_state:  # what waits needs a name: the dialog stays open
        return
    for key in (OPEN, FIELD):
        st.session_state.pop(key, None)
    act: Save | None = st.session_state.pop(WAITING, None)
    if act is not None and name is not None:
        with state.frame():  # widgets are answered before the frame of the page is drawn
            act(f"human:{name}")
