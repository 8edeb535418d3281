"""What every page has around it: density, contrast, the product's mark, and keys that work everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import streamlit as st

from components.shared import (
    evaluating,
    first_steps,
    private_banner,
    private_session,
    reviewer,
    searching,
    state,
)
from components.shared.palette import tokens
from components.shared.styles import style

HERE: Final = Path(__file__).parent
SHEETS: Final = (HERE / "frame.css", HERE.parent / "run" / "run.css")
MARK: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 32" width="{width}" height="32" fill="none">
<path d="M16 30V18L6 4" stroke="{good}" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/>
<path d="M16 18L26 4" stroke="{bad}" stroke-width="4" stroke-linecap="round" stroke-dasharray="1 6"/>
{words}</svg>"""
WORDS: Final = """\
<text x="38" y="24" font-family="Helvetica Neue,Arial,sans-serif" font-size="22" font-weight="700"
 textLength="90" fill="{text}">Untaken</text>"""
SHORTCUTS: Final = {
    "Every page": {"?": "this list", "/ or Ctrl+K": "search pages, runs, tasks, sub-goals and texts of runs"},
    "Queue and Run": {
        "J": "next run to review",
        "K": "previous run to review",
        "N": "write a note on what is selected",
        "Ctrl+Enter": "save the note",
        "M": "assign a failure mode, or write the name of a new one",
        "C": "make the last note a failure mode",
        "A": "accept the first suggested mode",
        "1 2 3 4": "new, in review, explained, fixed",
        "E": "show the evidence of what went wrong first",
        "U": "undo what was saved last",
        "Esc": "leave a field, or close the evidence",
    },
    "Sub-goal selected": {"Y": "met", "X": "not met", "T": "cannot tell", "W": "withdraw your verdict"},
    "Plan graph": {"← ↑ → ↓": "move", "Enter": "open the sub-goal", "+ and −": "zoom", "0": "fit"},
}

_listen = st.components.v2.component("untaken_frame", js=(HERE / "frame.js").read_text("utf-8"))


def draw() -> None:
    """Draw the frame of the page."""
    look = tokens(state.is_dark())
    colours = {"good": look.good, "bad": look.bad}
    st.logo(
        MARK.format(width=150, words=WORDS.format(text=look.text), **colours),
        icon_image=MARK.format(width=32, words="", **colours),
        size="large",
    )
    with st.container(key="page-frame", height=1, border=False):
        for sheet in SHEETS:
            style(sheet)
        heard = _listen(
            key="page_keys",
            data={
                "cookie": cookie(),
                "name": reviewer.kept_name(),
                "tour": first_steps.tour_is_over(),
                "guide": first_steps.guide(),
                "area": private_session.token(),
            },
            # Streamlit's result has the attribute only where there is a callback.
            on_pressed_change=lambda: None,
        )
    if evaluating.position(state.workspace()) is not None:
        st.sidebar.caption("Files are being added. Their runs count here when all of them are in.")
    private_banner.draw()  # comes and goes: after the listener, which stays at its place in the page
    asked = st.sidebar.button(
        "Search", key="search_open", icon=":material/search:", shortcut="Mod+K", width="stretch"
    )
    reviewer.draw_account()
    if heard.pressed == "?":
        _shortcuts()
    elif asked or heard.pressed == "/":
        searching.search()


def cookie() -> str:
    """Name of the cookie that `take_back` reads; servers of one host have their own."""
    return f"untaken_{st.get_option('server.port')}"


def take_back() -> None:
    """What this browser remembers of an earlier session: the reviewer's name, tour, guide, private area."""
    try:
        kept = json.loads(unquote(str(st.context.cookies.get(cookie(), ""))))
    except (ValueError, RecursionError):  # none, or one that another page wrote
        return
    if not isinstance(kept, dict):
        return
    reviewer.suggest_name(kept.get("name"))
    private_session.resume(kept.get("area"))
    if kept.get("tour") is True:
        first_steps.end_tour()
    if first_steps.guide() is None and kept.get("guide") in first_steps.GUIDE_STATES:
        first_steps.keep_guide(kept["guide"])


@st.dialog("Keyboard shortcuts")
def _shortcuts() -> None:
    for where, keys in SHORTCUTS.items():
        st.markdown(f"**{where}**")
        for key, does in keys.items():
            st.markdown(f":gray-badge[{key}] {does}")
