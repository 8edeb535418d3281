"""The pages of the app, in the order of the navigation."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

FOLDER: Final = Path(__file__).parents[2] / "pages"
FIRST: Final = "overview"
"""The page at the bare address."""
SECTIONS: Final = {
    "Review": (
        ("review", "Queue"),
        ("run", "Run"),
        ("compare", "Compare"),
        ("failure_modes", "Failure modes"),
    ),
    "Analyze": (
        ("overview", "Overview"),
        ("rankings", "Rankings"),
        ("versions", "Versions"),
        ("decisions", "Decisions"),
    ),
    "Plans": (("annotate", "Annotate"), ("audit", "Audit")),
    "Data": (("data", "Data"),),
    "Lab": (("criteria", "Criteria"), ("memory", "Memory"), ("what_if_not", "What-If-Not")),
}
"""File and title of each page, by section. No icons: the browser would fetch them from elsewhere."""
PAGES: Final = tuple(page for pages in SECTIONS.values() for page in pages)


def offered() -> dict[str, list[st.Page]]:
    """Every page by section. The server leads who asks for the first one by its name to the bare address."""
    return {
        section: [
            st.Page(FOLDER / f"{name}.py", title=title, url_path=name, default=name == FIRST)
            for name, title in pages
        ]
        for section, pages in SECTIONS.items()
    }
