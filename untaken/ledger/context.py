"""The context hash: one number for "the same situation", so that history can be looked up by it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
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
