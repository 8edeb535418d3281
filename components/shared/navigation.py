"""The pages of the app, in the order of the navigation."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

FOLDER: Final = Path(__file__).parents[2] / "pages"
SECTIONS: Final = {
    "Start": (("overview", "Overview"), ("data", "Data")),
    "Review": (
        ("review", "Review"),
        ("run", "Run"),
        ("compare", "Compare"),
        ("failure_modes", "Failure modes"),
    ),
    "Analyze": (
        ("rankings", "Rankings"),
        ("versions", "Versions"),
        ("decisions", "Decisions"),
        ("criteria", "Criteria"),
        ("memory", "Memory"),
    ),
    "Author": (("annotate", "Annotate"), ("audit", "Audit")),
    "Lab": (("what_if_not", "What-If-Not"),),
}
"""File and title of each page, by section. No icons: the browser would fetch them from elsewhere."""
PAGES: Final = tuple(page for pages in SECTIONS.values() for page in pages)


def offered() -> dict[str, list[st.Page]]:
    """Every page by section; the first is the default, which lives at the bare address.

    The server leads who asks for it by its name there.
    """
    return {
        section: [
            st.Page(FOLDER / f"{name}.py", title=title, url_path=name, default=name == PAGES[0][0])
            for name, title in pages
        ]
        for section, pages in SECTIONS.items()
    }
