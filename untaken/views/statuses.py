"""How statuses of sub-goals look: colours, icons and lines, apart in every simulated colour deficiency.

Colour is never the only sign of a status: each has its own icon and its own line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from untaken.scoring import NodeResult

StatusName = Literal["completed", "attempted", "not_completed", "skipped", "unscored", "not_required"]
"""`untaken.scoring.Status` and ``not_completed``: see `shown_status`."""
STAR: Final = "★"
CRITICAL_BORDER: Final = 4
"""Pixels; other sub-goals have a border of `BORDER` pixels."""
BORDER: Final = 2
INK: Final = "#1B2530"
"""Colour of labels inside a box, in the light theme."""
NIGHT: Final[dict[str, str]] = {
    "#BFE0F7": "#1F5C86",
    "#FFD199": "#7A4A12",
    "#EEF0F2": "#26313C",
    "#F5F7F9": "#1A222B",
    "#F7F8F9": "#141B22",
    "#F3F7FB": "#1A222B",
    "#FFFFFF": "#10161D",
    "#0B5C94": "#7CC0F0",
    "#B34E00": "#FFB25C",
    "#6B7280": "#A3AFBB",
    "#5B6773": "#A3AFBB",
    "#4A5968": "#A3AFBB",
    "#C3C9D0": "#4A5663",
    INK: "#E6EBF0",
}
"""What each fill, border and label of a box becomes in the dark theme."""


def shade(colour: str, *, dark: bool) -> str:
    """A colour of a box in one of the themes."""
    return NIGHT[colour] if dark else colour


class StatusLook(Struct, frozen=True, kw_only=True):
    """How one status looks. `dash` is the border's dash pattern in pixels, empty for a solid line."""

    word: str
    icon: str
    fill: str
    line: str
    dash: tuple[int, ...] = ()
    ink: str = INK

    @property
    def line_name(self) -> str:
        """The border in plotly's (and CSS's) words."""
        if not self.dash:
            return "solid"
        return "dash" if self.dash[0] > 3 else "dot"

    def shaded(self, *, dark: bool) -> StatusLook:
        """The same look in one of the themes."""
        fill, line, ink = (shade(colour, dark=dark) for colour in (self.fill, self.line, self.ink))
        return replace(self, fill=fill, line=line, ink=ink)


STATUS: Final[dict[StatusName, StatusLook]] = {
    "completed": StatusLook(word="completed", icon="✓", fill="#BFE0F7", line="#0B5C94"),
    "attempted": StatusLook(word="attempted, not completed", icon="✗", fill="#FFD199", line="#B34E00"),
    "not_completed": StatusLook(word="not completed", icon="✗", fill="#FFD199", line="#B34E00", dash=(4, 3)),
    "skipped": StatusLook(word="skipped", icon="–", fill="#EEF0F2", line="#6B7280", dash=(7, 5)),
    "unscored": StatusLook(word="unscored", icon="?", fill="#FFFFFF", line="#6B7280", dash=(2, 4)),
    "not_required": StatusLook(
        word="not required", icon="·", fill="#F7F8F9", line="#C3C9D0", dash=(2, 6), ink="#6B7280"
    ),
}
"""Looks of the statuses, in the order of legends."""


def shown_status(result: NodeResult) -> StatusName:
    """The status to show. A verdict of "not met" does not say that anything was tried: ``not_completed``."""
    if result.status == "attempted" and result.attempted is None:
        return "not_completed"
    return cast(StatusName, result.status)
