"""Work split into chunks of about equally many bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Final, TypeVar

from untaken.limits import MIB

Item = TypeVar("Item")
CHUNKS_PER_WORKER: Final = 8
"""Fewest chunks, where there are that many items: the last chunks then finish at about the same time."""
CHUNK_BYTES: Final = 64 * MIB
"""Most bytes of ledgers in a chunk: what a worker holds at once, and what is lost with it."""


def chunks(items: Sequence[Item], sizes: Sequence[int], *, workers: int) -> Iterator[list[Item]]:
    """The items in order, in chunks of about equal size.

    Args:
        items: files.
        sizes: bytes of each item. One that is larger than a chunk is a chunk of its own.
        workers: how many share the work.
    """
    most = min(CHUNK_BYTES, ceil(sum(sizes) / (CHUNKS_PER_WORKER * workers)))
    chunk: list[Item] = []
    filled = 0
    for item, size in zip(items, sizes, strict=True):
        if chunk and filled + size > most:
            yield chunk
            chunk, filled = [], 0
        chunk.append(item)
        filled += size
    if chunk:
        yield chunk
