"""The pages of the app, in the order of the navigation."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

FOLDER: Final = Path(__file__).parents[1] / "pages"
PAGES: Final = (
    ("overview", "Overview", ":material/explore:"),
    ("run", "Run", ":material/manage_search:"),
    ("compare", "Compare", ":material/compare_arrows:"),
    ("decisions", "Decisions", ":material/alt_route:"),
    ("rankings", "Rankings", ":material/leaderboard:"),
    ("annotate", "Annotate", ":material/edit:"),
    ("memory", "Memory", ":material/database:"),
    ("criteria", "Criteria", ":material/rule:"),
    ("what_if_not", "What-If-Not", ":material/science:"),
    ("data", "Data", ":material/folder_open:"),
)
"""File, title, icon. A page that is not there yet is not offered."""


def offered() -> list[st.Page]:
    """Every page whose file is there; the first is the default."""
    files = [(FOLDER / f"{name}.py", title, icon) for name, title, icon in PAGES]
    there = [(file, title, icon) for file, title, icon in files if file.exists()]
    return [
        st.Page(file, title=title, icon=icon, url_path=file.stem.replace("_", "-"), default=place == 0)
        for place, (file, title, icon) in enumerate(there)
    ]
