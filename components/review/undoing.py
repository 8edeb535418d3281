"""Taking back what was saved last: each save says how, and the last ones of a session can be undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from components.shared import state, text

SAVED: Final = "undo_saved"
UNDONE: Final = "undo_undone"
MOST: Final = 20


Undo = tuple[str, Callable[[], object]]
"""What was saved, in words of ours, and what takes it back; that is saved, too: a ledger forgets nothing."""


def saved(words: str, act: Callable[[], object]) -> None:
    """Remember what was just saved."""
    every: list[Undo] = st.session_state.setdefault(SAVED, [])
    every.append((words, act))
    del every[:-MOST]


def last(key: str) -> None:
    """What was saved last, with a button that takes it back."""
    every: list[Undo] = st.session_state.get(SAVED, [])
    undone = st.session_state.pop(UNDONE, None)
    if not every and undone is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"saved-{key}"):
        st.caption(undone or f"✓ {text.label(every[-1][0], 60)}", width="content")
        if every:
            words = f"Undo “{text.label(every[-1][0], 60)}”" if undone else "Undo"
            st.button(words, key=f"undo-{key}", shortcut="U", type="tertiary", on_click=_undo)


def _undo() -> None:
    every: list[Undo] = st.session_state.get(SAVED, [])
    if not every:
        return
    (words, act), left = every.pop(), list(every)
    with state.frame():
        act()
    st.session_state[SAVED] = left  # taking back is no save of its own
    st.session_state[UNDONE] = f"↩ Undone: {words[:1].lower()}{words[1:]}"
