"""What every page has around it: density, contrast, the product's mark, and keys that work everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import streamlit as st

from components.data.upload import session_uploads
from components.shared import (
    evaluating,
    first_steps,
    private_session,
    reviewer,
    roles,
    searching,
    state,
    text,
)
from components.shared.palette import tokens
from components.shared.panels import panel
from components.shared.styles import style
from untaken.numbers import counted
from untaken.workspace import NOT_SHARED, PrivateArea

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
    _private_area()  # comes and goes: after the listener, which stays at its place in the page
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


NOT_AN_OWNER: Final = "Only owners of the shared workspace can add files to it."


@panel
def _private_area() -> None:
    """Says that a private area is in view, and offers to share or to discard it."""
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
