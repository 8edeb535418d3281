"""Contexts in words, and the layer of a situation that history is taken from: the finest known (§2b)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

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


def context_words(context: str | None, context_hash: str) -> str:
    """A context on one line: ``step order · number missing``. Untrusted, like all it is made of."""
    if context is None:
        return f"context {context_hash[:8]}"
    try:
        fields = msgspec.json.decode(context)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):  # a ledger may say it in plain words
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
