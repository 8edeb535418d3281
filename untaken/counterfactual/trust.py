"""How far a delta can be trusted: the advantage over the selected skill's own history (§2a)."""

from __future__ import annotations

from dataclasses import dataclass

from untaken.counterfactual.model import Support
from untaken.counterfactual.scoring import Scale
from untaken.errors import Score, Unscored
from untaken.memory import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The advantage of an alternative, its 95 % interval, and what they are worth."""

    advantage: Score
    low: Score
    high: Score
    p_better: Score
    support: Support
    reason: str


def compare(alternative: Record, selected: Record | None, scale: Scale, threshold: float) -> Trust:
    """Not yet compared."""
    none = Unscored("the histories of both skills were not compared")
    return Trust(advantage=none, low=none, high=none, p_better=none, support="weak", reason=none.reason)
