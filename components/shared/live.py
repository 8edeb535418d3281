"""What is worked out in the background appears by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from components.shared import state

EVERY: Final = "2s"


def until(done: Callable[[], bool], key: str) -> None:
    """Draw the page again once something is done that is not done yet; nothing where it is.

    Args:
        done: cheap to ask; called inside the frame of a page.
        key: unique on the page.
    """
    if done():
        return

    @st.fragment(run_every=EVERY)
    def look() -> None:
        if state.in_frame():  # asked just above
            return
        with state.frame():
            found = done()
        if found:
            st.rerun()

    with st.container(key=f"until-{key}", height=1, border=False):
        look()
