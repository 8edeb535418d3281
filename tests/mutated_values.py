"""A JSON document with one value replaced by a value of another type."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

VALUES: Final = (
    *(None, True, False, 0, -1, 1.5, 10**30, 10**400, "", "x", "1", "\ud800"),
    *('{"a": 1}', "[1]", [], [1], [[{}]], [{"id": {}}], {}, {"a": 1}, {"type": {}}),
)
"""Each type that JSON has, and those of its values that programs stumble over."""


def places(document: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The place of every value in a document, the document itself included."""
    yield at
    inside = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, value in inside:
        yield from places(value, (*at, key))


def replaced(document: Any, at: tuple[str | int, ...], value: Any) -> Any:
    """The document with another value at a place."""
    if not at:
        return value
    first, *rest = at
    if isinstance(document, dict):
        return {
            key: replaced(each, tuple(rest), value) if key == first else each
            for key, each in document.items()
        }
    return [
        replaced(each, tuple(rest), value) if number == first else each
        for number, each in enumerate(document)
    ]


def mutations(document: Any, seed: int, most: int) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """Documents with one value replaced: (place, value, document), in an order that the seed gives."""
    chosen = random.Random(seed)
    every = [(at, value) for at in places(document) for value in VALUES]
    for at, value in chosen.sample(every, min(most, len(every))):
        yield at, value, replaced(document, at, value)
