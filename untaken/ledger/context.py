"""The context hash: one number for "the same situation", so that history can be looked up by it.

A fully described situation rarely repeats; a coarsely described one repeats often, but says less. So a
decision point may have *layers*: the same situation described several times, from fine to coarse.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import rfc8785

from untaken.errors import UntakenError


def context_hash(context: Mapping[str, Any]) -> str:
    """Lowercase hex SHA-256 of the context in canonical JSON (RFC 8785).

    Key order, whitespace and the spelling of a number make no difference: ``{"a": 1, "b": 2}`` and
    ``{"b": 2.0, "a": 1}`` are one context.

    Args:
        context: JSON types only; integers within ±(2⁵³ − 1), no NaN or infinity.

    Raises:
        UntakenError: ``context-not-canonical`` where RFC 8785 has no form for it.
    """
    try:
        canonical = rfc8785.dumps(dict(context))
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        raise UntakenError(
            "context-not-canonical",
            f"the context has no canonical JSON form: {error}",
            hint="Use text keys, finite numbers and integers below 2⁵³.",
        ) from error
    return hashlib.sha256(canonical).hexdigest()


def layered_hashes(contexts: Iterable[Mapping[str, Any]]) -> list[str]:
    """The hashes of one situation described from fine to coarse; a repeated description adds no layer.

    Raises:
        UntakenError: as `context_hash`.
    """
    return list(dict.fromkeys(map(context_hash, contexts)))


def check_layers(context: str, layers: Sequence[str]) -> None:
    """Layers begin with the context hash itself, and none is repeated.

    Raises:
        ValueError: says which rule is broken.
    """
    if layers[0] != context:
        raise ValueError("the first of `context_layers` is not `context_hash`")
    if len(set(layers)) < len(layers):
        raise ValueError("one of `context_layers` is repeated")


def in_common(contexts: Iterable[Any]) -> dict[str, Any] | None:
    """The fields that all readable contexts have alike; ``None`` where one of them has no fields.

    It makes a coarse layer readable, of which a ledger holds the hash alone.
    """
    shared: dict[str, Any] | None = None
    for context in contexts:
        if not isinstance(context, dict):
            return None
        if shared is None:
            shared = dict(context)
        elif shared != context:
            shared = {key: value for key, value in shared.items() if context.get(key, _ABSENT) == value}
    return shared


_ABSENT = object()  # `None` is a value, too
