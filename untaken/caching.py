"""What is worked out once, when it is first asked for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

__all__ = ["Once", "cached_property"]
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
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]
