"""A popover that closes after its action, so that the result is visible."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

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
