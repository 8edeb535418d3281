"""Choices in words and signs, never by colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import msgspec

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


def context_words(context: str | None, context_hash: str) -> str:
    """A context on one line: ``step order · number missing``. Untrusted, like all it is made of."""
    if context is None:
        return f"context {context_hash[:8]}"
    try:
        fields = msgspec.json.decode(context)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return context
    if not isinstance(fields, dict):
        return context
    plain = [_field_words(name, value) for name, value in fields.items() if not isinstance(value, dict)]
    nested = [f"{name} {_listed(value)}" for name, value in fields.items() if isinstance(value, dict)]
    return " · ".join(plain + nested) or "empty context"


def _listed(fields: dict[str, object]) -> str:
    return ", ".join(_field_words(name, value) for name, value in fields.items()) or "nothing"


def _field_words(name: str, value: object) -> str:
    """A flag that holds, one that does not, one that is unknown: ``late``, ``not late``, ``late ?``."""
    if value is None or isinstance(value, bool):
        return f"{name} ?" if value is None else name if value else f"not {name}"
    return f"{name} {value}"
