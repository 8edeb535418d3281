"""The style sheet of the report."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def css() -> str:
    """The style sheet, for a screen in light and dark and for paper."""
    return Path(__file__).with_name("report.css").read_text("utf-8")
