"""Many files in parts of bounded number and size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from untaken.limits import MIB

BATCH_FILES: Final = 500
BATCH_BYTES: Final = MIB
"""Most files and bytes written in one transaction: nobody else can write meanwhile."""
Item = TypeVar("Item")


def batches(
    items: Iterable[Item],
    size: Callable[[Item], int],
    *,
    most: int | None = None,
    most_bytes: int | None = None,
) -> Iterator[list[Item]]:
    """The items in order, in parts; what is larger than a part may be is alone.

    Args:
        items: files.
        size: of each, in bytes.
        most: items of a part; default `BATCH_FILES`.
        most_bytes: of a part; default `BATCH_BYTES`.
    """
    most, most_bytes = most or BATCH_FILES, most_bytes or BATCH_BYTES
    part: list[Item] = []
    room = most_bytes
    for item in items:
        needed = size(item)
        if part and (needed > room or len(part) == most):
            yield part
            part, room = [], most_bytes
        part.append(item)
        room -= needed
    if part:
        yield part
