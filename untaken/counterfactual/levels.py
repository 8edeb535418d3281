"""Which layer of a situation history is taken from: fine where enough is known, else coarser (§2b)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from untaken.counterfactual.words import N_MIN
from untaken.ledger.context import in_common
from untaken.ledger.events import readable
from untaken.ledger.run import Run

if TYPE_CHECKING:
    import numpy as np

    from untaken.counterfactual.histories import Histories

Situation = tuple[str, str, tuple[str, ...]]
"""Selected skill, alternative, the layers of the context."""
ENOUGH: Final = (N_MIN, 1)
"""Runs that a level must have, asked one after the other: enough to support anything, then any at all."""


def finest(*skills: list[np.ndarray]) -> np.ndarray:
    """The finest level at which each of the skills has `N_MIN` runs; else the finest at which each has any.

    Of one skill for its delta, of two for their advantage: both histories are then of the same level, so that
    a fine situation, which may be an easy one, is never set against a coarse one.

    Args:
        skills: the runs behind each one's histories, finest level first, each a column.

    Returns:
        Levels, counted from 1; 0 if there is none.
    """
    import numpy as np  # noqa: PLC0415 (slow)

    fewest = np.array([np.minimum.reduce(runs) for runs in zip(*skills, strict=True)])
    found = np.zeros(fewest.shape[1], dtype=np.int64)
    for enough in ENOUGH:
        there = fewest >= enough
        found = np.where((found == 0) & there.any(axis=0), there.argmax(axis=0) + 1, found)
    return found


def at_level(skill: list[Histories], level: np.ndarray) -> Histories:
    """The histories at one level a row; unknown at level 0."""
    picked = skill[0].only(level == 1)
    for number, histories in enumerate(skill[1:], start=2):
        picked = histories.where(level == number, picked)
    return picked


def coarse_contexts(runs: Iterable[Run]) -> dict[str, str | None]:
    """A readable form of every coarser layer in the runs: what the contexts that lie in it have in common."""
    within: dict[str, list[Any]] = {}
    for run in runs:
        for selection in run.selections:
            for context_hash in selection.layers[1:]:
                within.setdefault(context_hash, []).append(selection.context)
    return {context_hash: readable(in_common(contexts)) for context_hash, contexts in within.items()}


def level_words(level: int | None, levels: int) -> str:
    """``history at level 3 of 4``; empty where there is no history, or no more than one layer."""
    return f"history at level {level} of {levels}" if level and levels > 1 else ""
