"""Choices in words and signs, never by colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from untaken.counterfactual import Choice

Side = Literal["ahead", "behind", "weak", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideStyle:
    """How one kind of support looks: a sign in text, a symbol and a line in figures, and its words."""

    icon: str
    symbol: str
    dash: str
    width: float
    words: str
    badge: Literal["orange", "blue", "gray"]


SIDES: Final[dict[Side, SideStyle]] = {
    "ahead": SideStyle(
        icon="▶",
        symbol="triangle-right",
        dash="solid",
        width=3,
        words="supported: alternative better",
        badge="orange",
    ),
    "behind": SideStyle(
        icon="◀",
        symbol="triangle-left",
        dash="solid",
        width=3,
        words="supported: alternative worse",
        badge="blue",
    ),
    "weak": SideStyle(
        icon="○", symbol="circle-open", dash="dot", width=1.75, words="weak: could be chance", badge="gray"
    ),
    "none": SideStyle(
        icon="?", symbol="circle-open", dash="dot", width=1.75, words="none: no history", badge="gray"
    ),
}


def side_of(choice: Choice) -> Side:
    """Which of the two skills the support is for; ``weak`` and ``none`` are for neither."""
    if choice.direction is None:
        return "none" if choice.support == "none" else "weak"
    return "ahead" if choice.direction == "better" else "behind"
