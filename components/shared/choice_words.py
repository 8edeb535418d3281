"""Choices in words and signs, never by colour alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from untaken.counterfactual import ChoiceSide, context_words

if TYPE_CHECKING:
    import pandas as pd


class SideStyle(Struct, frozen=True, kw_only=True):
    """How one kind of support looks: a sign in text, a symbol and a line in figures, and its words."""

    icon: str
    symbol: str
    dash: str
    width: float
    words: str
    badge: Literal["orange", "blue", "gray"]


SIDES: Final[dict[ChoiceSide, SideStyle]] = {
    "ahead": SideStyle(
        icon="▶", symbol="triangle-right", dash="solid", width=3, words="succeeded more often", badge="orange"
    ),
    "behind": SideStyle(
        icon="◀", symbol="triangle-left", dash="solid", width=3, words="succeeded less often", badge="blue"
    ),
    "weak": SideStyle(
        icon="○",
        symbol="circle-open",
        dash="dot",
        width=1.75,
        words="no clear difference in success",
        badge="gray",
    ),
    "none": SideStyle(
        icon="?", symbol="circle-open", dash="dot", width=1.75, words="no history", badge="gray"
    ),
}


def in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with each context as pages name it (its hash says which), and what is unknown called so."""
    pairs = zip(frame["context"], frame["context_hash"], strict=True)
    known = ((context if isinstance(context, str) else None, key) for context, key in pairs)
    words = frame.assign(context=[context_words(context, key) for context, key in known])
    if "called" in words:
        # Of nothing, no difference can be said.
        words["called"] = words["called"].where(words["support"] != "none", SIDES["none"].words)
    return words
