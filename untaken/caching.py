"""`functools.cached_property` as Python 3.12 has it: without the lock that 3.11 takes at every first use.

Millions of small figures are each worked out once; two threads that ask at the same time get the same figure.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:
        """A property that is worked out once for each object, and kept in it."""

        def __init__(self, method: Callable[[Any], Any]) -> None:
            self._method = method
            self.__doc__ = method.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            found = instance.__dict__[self._name] = self._method(instance)
            return found
