"""How the report looks: the colours, icons and borders of the statuses, and the style sheet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from untaken.subgoals import Status

STAR: Final = "★"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusStyle:
    """How one status looks: the colours, icons and borders of the app. `dash` is the border's pattern."""

    word: str
    icon: str
    fill: str
    line: str
    dash: str | None = None
    ink: str = "#1B2530"


STATUS: Final[dict[Status, StatusStyle]] = {
    "completed": StatusStyle(word="completed", icon="✓", fill="#BFE0F7", line="#0B5C94"),
    "attempted": StatusStyle(word="attempted, not completed", icon="✗", fill="#FFD199", line="#B34E00"),
    "skipped": StatusStyle(word="skipped", icon="–", fill="#EEF0F2", line="#6B7280", dash="7 5"),
    "unscored": StatusStyle(word="unscored", icon="?", fill="#FFFFFF", line="#6B7280", dash="2 4"),
    "not_required": StatusStyle(
        word="not required", icon="·", fill="#F7F8F9", line="#C3C9D0", dash="2 6", ink="#6B7280"
    ),
}
"""In the order of the legend."""
PLANNED: Final = StatusStyle(word="planned", icon="", fill="#FFFFFF", line="#6B7280")
"""Of a plan that no run is laid over."""


@cache
def css() -> str:
    """The style sheet, for a screen in light and dark and for paper."""
    return Path(__file__).with_name("report.css").read_text("utf-8")
