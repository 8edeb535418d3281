"""The colours of the app in both themes, and the marks of agents; of statuses: `untaken.views.statuses`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from untaken.counterfactual import DeltaVerdict

FONT: Final = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"
"""Fonts of figures and plan graphs: the system's, because a saved picture has no others."""


class Tokens(Struct, frozen=True, kw_only=True):
    """The theme's colours, for figures and the plan view."""

    background: str
    surface: str
    text: str
    muted: str
    grid: str
    line: str
    good: str
    bad: str
    band: str
    fill: str
    warm: str


LIGHT: Final = Tokens(
    background="#FFFFFF",
    surface="#F5F7F9",
    text="#1B2530",
    muted="#5B6773",
    grid="#E4E8EC",
    line="#8A95A1",
    good="#0B5C94",
    bad="#B34E00",
    band="#EEF0F2",
    fill="#BFE0F7",
    warm="#FFD199",
)
DARK: Final = Tokens(
    background="#10161D",
    surface="#1A222B",
    text="#E6EBF0",
    muted="#A3AFBB",
    grid="#2A343F",
    line="#7C8894",
    good="#7CC0F0",
    bad="#FFB25C",
    band="#222C36",
    fill="#1F5C86",
    warm="#7A4A12",
)


def tokens(dark: bool) -> Tokens:
    """The colours of the dark or the light theme."""
    return DARK if dark else LIGHT


DELTA_WORDS: Final[dict[DeltaVerdict, str]] = {
    "alternative_may_be_better": "the alternative scores higher",
    "actual_was_better": "the run scores higher",
    "equivalent": "equivalent",
    "unknown": "unknown: no history",
}

MARKERS: Final = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "x",
    "pentagon",
    "hexagon",
    "star-triangle-up",
    "hourglass",
    "bowtie",
)
"""One an agent, in the order of their names: identity never rests on a colour."""
