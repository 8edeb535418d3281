"""The pages of the app, in the order of the navigation."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

FOLDER: Final = Path(__file__).parents[1] / "pages"
PAGES: Final = (
    ("overview", "Overview"),
    ("run", "Run"),
    ("review", "Review"),
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
    """Every page whose file is there; the first is the default.

    The default page lives at the bare address, whatever its path: a hidden twin answers under its name.
    """
    files = [(FOLDER / f"{name}.py", title) for name, title in PAGES]
    (first, title), *others = [(file, title) for file, title in files if file.exists()]
    return [
        st.Page(first, title=title, url_path="start", default=True),
        *(st.Page(file, title=title, url_path=file.stem) for file, title in others),
        st.Page(first, title=title, url_path=first.stem, visibility="hidden"),
    ]
