"""Uploads under way: what they add counts on every page once all of it is read and evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec import Struct

from untaken.workspace import Workspace


class _UnderWay(Struct):
    """The uploads into one workspace: how many, and the place of the last ledger that counts meanwhile."""

    uploads: int
    position: int


_workspaces: Final[dict[Path, _UnderWay]] = {}
_lock: Final = Lock()


@contextmanager
def upload(store: Workspace) -> Iterator[None]:
    """Inside it, ledgers are added to a workspace; at its end they count."""
    with _lock:
        here = _workspaces.setdefault(store.path, _UnderWay(uploads=0, position=store.position()))
        here.uploads += 1
    try:
        yield
    finally:
        with _lock:
            here.uploads -= 1
            if here.uploads:  # others go on: what was added until now counts
                here.position = store.position()
            else:
                del _workspaces[store.path]


def position(store: Workspace) -> int | None:
    """The place of the last ledger that counts now, as for `Workspace.ledgers`; ``None`` for all."""
    here = _workspaces.get(store.path)
    return here.position if here else None
