"""Python's garbage collector while many objects are made that all stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

SELDOM: Final = (100_000, 50, 100)
"""Thresholds as of `gc.set_threshold`: a full pass only after some hundred million new objects."""

_lock = Lock()
_blocks = 0
_before = gc.get_threshold()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Inside the block, the garbage collector looks for cycles seldom; where it is off, it stays off.

    Reading and evaluating runs makes millions of objects, nearly all of which are kept and none of which is
    part of a cycle: looking through them again and again finds nothing. It is also a decorator.
    """
    global _blocks, _before  # noqa: PLW0603 - the collector is one for the process, and so is this count
    with _lock:
        if not _blocks:
            _before = gc.get_threshold()
            if _before[0]:  # at 0 the user has switched it off
                gc.set_threshold(*SELDOM)
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1  # blocks overlap, in many threads: the last to end restores what the first found
            if not _blocks:
                gc.set_threshold(*_before)
