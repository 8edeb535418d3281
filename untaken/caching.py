"""What is worked out once, when it is first asked for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from untaken.garbage import seldom_collected

__all__ = ["EachOnce", "Once", "cached_property"]
Key = TypeVar("Key")
Made = TypeVar("Made")

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """Without the lock that Python 3.11 takes at each first use; 3.12 takes none.

        Two threads that ask at the same time both work it out, and get the same.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            # Wins over the property from now on: Python looks there first.
            found = instance.__dict__[self.attrname] = self.func(instance)
            return found


class Once(Generic[Made]):
    """What `make` gives, worked out when it is first asked for; who asks meanwhile waits for it."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make, self._lock = make, Lock()
        self._made: list[Made] = []

    @property
    def known(self) -> bool:
        """Whether it was worked out."""
        return bool(self._made)

    def __call__(self) -> Made:
        """It; the same at every call."""
        if not self._made:
            with self._lock:
                if not self._made:  # another thread may have made it while this one waited
                    with seldom_collected():
                        self._made.append(self._make())
        return self._made[0]


class EachOnce(Mapping[Key, Made]):
    """What `make` gives of each key, worked out when it is first asked for.

    Args:
        keys: in order.
        make: called once for each key; two threads that ask at the same time may both call it.
    """

    def __init__(self, keys: Iterable[Key], make: Callable[[Key], Made]) -> None:
        self._keys, self._make = dict.fromkeys(keys), make
        self._made: dict[Key, Made] = {}

    def __getitem__(self, key: Key) -> Made:
        if key not in self._made:
            if key not in self._keys:
                raise KeyError(key)
            self._made[key] = self._make(key)
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
