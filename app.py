"""The app's frame: page config, one workspace a server, the rules in force, and the way between pages."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from components import state

PAGES = (
    ("overview", "Overview", "🧭"),
    ("run", "Run", "🔎"),
    ("compare", "Compare", "🪢"),
    ("decisions", "Decisions", "🔀"),
    ("rankings", "Rankings", "📊"),
    ("annotate", "Annotate", "✏️"),
    ("memory", "Memory", "🗃️"),
    ("criteria", "Criteria", "📐"),
    ("what_if_not", "What-If-Not", "🌱"),
    ("data", "Data", "📂"),
)
"""File, title, icon. A page that is not there yet is not offered."""


def main() -> None:
    """Draw the frame, then the page that was asked for."""
    st.set_page_config(page_title="Untaken", page_icon="🔀", layout="wide")
    folder = Path(__file__).parent / "pages"
    offered = [
        st.Page(file, title=title, icon=icon, url_path=name.replace("_", "-"), default=index == 0)
        for index, (name, title, icon, file) in enumerate(
            (name, title, icon, folder / f"{name}.py")
            for name, title, icon in PAGES
            if (folder / f"{name}.py").exists()
        )
    ]
    page = st.navigation(offered)
    state.remember()
    state.rules_in_sidebar()
    page.run()


main()
