"""Style sheets of the app, at their place in the page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st


def style(sheet: Path | str) -> None:
    """Apply a style sheet of ours, or the text of one; it takes no room inside an element that takes none."""
    text = sheet.read_text("utf-8") if isinstance(sheet, Path) else sheet
    # The span keeps it here: Streamlit puts markup that is nothing but styles where dialogs and toasts are;
    # one that opens while a part of a page is drawn again takes the place of a style sheet.
    st.html(f"<span hidden></span><style>{text}</style>")
