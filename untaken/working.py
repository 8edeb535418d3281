"""Signs of life of long work: who waits for it can tell work that goes on from work that hangs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listener: Callable[[], None] | None = None


def step() -> None:
    """Says that the work has come a step further; without effect where nobody listens."""
    if _listener is not None:
        _listener()


@contextmanager
def telling(listener: Callable[[], None]) -> Iterator[None]:
    """Inside the block, `listener` is called at each step of the work of this process."""
    global _listener  # noqa: PLW0603 - one for the process, whose only work it is
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
