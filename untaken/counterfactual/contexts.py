"""The context of a choice in words, the same on every page, in figures and in sentences."""

from __future__ import annotations

import msgspec


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
