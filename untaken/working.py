"""Signs of life of long work: who waits for it can tell work that goes on from work that hangs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_told: Callable[[], None] | None = None


def step() -> None:
    """Says that the work has come a step further; without effect where nobody asked to be told."""
    if _told is not None:
        _told()


@contextmanager
def telling(told: Callable[[], None]) -> Iterator[None]:
    """Inside the block, `told` is called at each step of the work of this process."""
    global _told  # noqa: PLW0603 - one for the process, whose only work it is
    before, _told = _told, told
    try:
        yield
    finally:
        _told = before
