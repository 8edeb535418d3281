"""Uploads under way: what they add counts on every page once all of it is read and evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from untaken.store import Workspace


class Arriving:
    """The uploads under way in one workspace.

    Attributes:
        position: of the last ledger that counts meanwhile, as for `Workspace.ledgers`; ``None`` where nobody
            uploads.
    """

    def __init__(self) -> None:
        self.position: int | None = None
        self._under_way, self._lock = 0, Lock()

    @contextmanager
    def upload(self, store: Workspace) -> Iterator[None]:
        """Inside it, ledgers are added; at its end they count."""
        with self._lock:
            if not self._under_way:
                self.position = store.position()
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                self.position = store.position() if self._under_way else None
