"""Objects sent between our own processes; never to a file, nor from one: loading runs code."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Hashable
from typing import Any

Place = Hashable | None
"""How an object is known that is not sent; ``None`` for one that is."""


def pack(value: object, *, outside: Callable[[Any], Place] = lambda _: None) -> bytes:
    """The bytes of an object."""
    packed = io.BytesIO()
    _Packer(packed, outside).dump(value)
    return packed.getvalue()


def unpack(packed: bytes, *, inside: Callable[[Any], Any] = lambda place: place) -> Any:
    """The object in bytes that another of our own processes has packed."""
    return _Unpacker(packed, inside).load()


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, outside: Callable[[Any], Place]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._outside = outside

    def persistent_id(self, value: Any) -> Place:
        return self._outside(value)


class _Unpacker(pickle.Unpickler):
    def __init__(self, packed: bytes, inside: Callable[[Any], Any]) -> None:
        super().__init__(io.BytesIO(packed))
        self._inside = inside

    def persistent_load(self, place: Any) -> Any:
        return self._inside(place)
