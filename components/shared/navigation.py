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
        ("decisions", "Decisions"),
        ("criteria", "Criteria"),
        ("memory", "Memory"),
    ),
    "Author": (("annotate", "Annotate"),),
    "Lab": (("what_if_not", "What-If-Not"),),
}
"""File and title of each page, by section. No icons: the browser would fetch them from elsewhere."""
PAGES: Final = tuple(page for pages in SECTIONS.values() for page in pages)


def offered() -> dict[str, list[st.Page]]:
    """Every page by section; the first is the default.

    The default page lives at the bare address, whatever its path: a hidden twin answers under its name.
    """
    first, title = FOLDER / f"{PAGES[0][0]}.py", PAGES[0][1]
    sections = {
        section: [
            st.Page(FOLDER / f"{name}.py", title=title, url_path=name)
            for name, title in pages
            if name != first.stem
        ]
        for section, pages in SECTIONS.items()
    }
    start = next(iter(sections))
    sections[start] = [
        st.Page(first, title=title, url_path="start", default=True),
        *sections[start],
        st.Page(first, title=title, url_path=first.stem, visibility="hidden"),
    ]
    return sections
