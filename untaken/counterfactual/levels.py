"""Which layer of a situation history is taken from: fine where enough is known, else coarser (§2b)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from untaken.ledger import Run, in_common, readable

Situation = tuple[str, str, tuple[str, ...]]
"""Selected skill, alternative, the layers of the context."""


def coarse_contexts(runs: Iterable[Run]) -> dict[str, str | None]:
    """A readable form of every coarser layer in the runs: what the contexts that lie in it have in common."""
    within: dict[str, list[Any]] = {}
    for run in runs:
        for selection in run.selections:
            for context_hash in selection.layers[1:]:  # the first is the context itself
                within.setdefault(context_hash, []).append(selection.context)
    return {context_hash: readable(in_common(contexts)) for context_hash, contexts in within.items()}


def level_words(level: int | None, levels: int) -> str:
    """``history at level 3 of 4``; empty where there is no history, or no more than one layer."""
    return f"history at level {level} of {levels}" if level and levels > 1 else ""
