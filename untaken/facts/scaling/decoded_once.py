"""What all chunks of one call share, decoded once by each worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")
_last: tuple[bytes, object] | None = None


def decoded_once(shared: bytes, decode: Callable[[bytes], Value]) -> Value:
    """`decode` of these very bytes, kept until others come: every chunk of a call gets the same object."""
    global _last  # noqa: PLW0603 - the one value that a worker keeps between its chunks
    kept = _last
    if kept is None or kept[0] is not shared:
        kept = _last = (shared, decode(shared))
    return kept[1]  # type: ignore[return-value]  # what `decode` gave for these bytes
