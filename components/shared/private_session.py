"""The private area of this session: a workspace that no other browser sees.

A token opens it, which this browser keeps in a cookie. It is in no address, so no link gives it away.
"""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st

from components.shared import reviewer
from untaken.workspace import PrivateArea, PrivateAreas, Workspace

TOKEN: Final = "private_area"  # noqa: S105 (a key of the session)
OF_A_WORKSPACE: Final = ("selected_", "compare_", "memory_", "rules_", "review_", "annotate_", "group")
"""Keys of the session whose values are about the workspace in view."""


def area() -> PrivateArea | None:
    """The private area of this session; ``None`` where it has none, or no longer."""
    kept = token()
    return _areas().find(kept, _owner()) if kept else None


def token() -> str:
    """What opens it; empty where there is none."""
    return str(st.session_state.get(TOKEN, ""))


def workspace() -> Workspace | None:
    """The workspace of the private area."""
    here = area()
    return None if here is None else _opened(str(here.folder))


def begin(shared: Workspace) -> PrivateArea:
    """Open a private area for this session, with the plan graphs of the shared workspace."""
    st.session_state[TOKEN] = made = _areas().create(_owner(), shared)
    _leave()
    found = _areas().find(made, _owner())
    assert found is not None  # noqa: S101 (just made)
    return found


def resume(kept: object) -> None:
    """Take the token that this browser remembers, unless its area is gone with an earlier server."""
    if isinstance(kept, str) and not token() and _areas().find(kept, _owner()):
        st.session_state[TOKEN] = kept


def end() -> None:
    """Delete the private area, and go back to the shared workspace."""
    if (here := area()) is not None:
        # Closed and out of the cache before its files are removed.
        _opened(str(here.folder)).close()
        _opened.clear(str(here.folder))
        here.discard()
    st.session_state.pop(TOKEN, None)
    _leave()


def close_all() -> None:
    """Delete every private area: the server ends."""
    if _areas.cache_info().currsize:  # not made only to be removed
        _areas().close()
        _areas.cache_clear()


def _leave() -> None:
    """What was selected in one workspace is not in the other."""
    st.query_params.clear()
    for key in [key for key in st.session_state if str(key).startswith(OF_A_WORKSPACE)]:
        del st.session_state[key]


def _owner() -> str:
    # Without sign-in the token alone opens it.
    return (reviewer.reviewer() or "") if reviewer.sign_in() else ""


@st.cache_resource(max_entries=16, show_spinner=False)
def _opened(folder: str) -> Workspace:
    return PrivateArea(folder=Path(folder)).open()


@cache
def _areas() -> PrivateAreas:
    atexit.register(close_all)
    return PrivateAreas()
