"""The pages of the app, in the order of the navigation."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

FOLDER: Final = Path(__file__).parents[1] / "pages"
PAGES: Final = (
    ("overview", "Overview"),
    ("run", "Run"),
    ("compare", "Compare"),
    ("decisions", "Decisions"),
    ("rankings", "Rankings"),
    ("annotate", "Annotate"),
    ("memory", "Memory"),
    ("criteria", "Criteria"),
    ("what_if_not", "What-If-Not"),
    ("data", "Data"),
)
"""File and title. No icons: the browser would fetch them from elsewhere."""


def offered() -> list[st.Page]:
    """Every page whose file is there; the first is the default."""
    files = [(FOLDER / f"{name}.py", title) for name, title in PAGES]
    there = [(file, title) for file, title in files if file.exists()]
    return [
        st.Page(file, title=title, url_path=file.stem.replace("_", "-"), default=place == 0)
        for place, (file, title) in enumerate(there)
    ]
