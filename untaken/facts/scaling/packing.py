"""Objects sent between our own processes; never to a file, nor from one: loading runs code."""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

EVERYTHING: Final[Mapping[type, Callable[[Any], Any]]] = MappingProxyType({})


def pack(value: object, *, instead: Mapping[type, Callable[[Any], Any]] = EVERYTHING) -> bytes:
    """The bytes of an object; `instead` says by class how its objects are packed, as `__reduce__` does."""
    packed = io.BytesIO()
    packer = pickle.Pickler(packed, protocol=pickle.HIGHEST_PROTOCOL)
    packer.dispatch_table = copyreg.dispatch_table | dict(instead)
    packer.dump(value)
    return packed.getvalue()


def unpack(packed: bytes) -> Any:
    """The object in bytes that another of our own processes has packed."""
    return pickle.loads(packed)  # noqa: S301 - of our own
