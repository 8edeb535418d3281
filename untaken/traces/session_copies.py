"""Sessions that were exported twice: an export made later says all that an earlier one says, and goes on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from untaken.traces.losses import FileLog, clip


@dataclass(slots=True)
class SessionCopy:
    """One export of a session.

    Attributes:
        run_id: before it is made unlike all others.
        key: what its copies have, too.
        items: a digest of each item, in order.
        ledger: where its run is written.
        log: the account of its file.
        kept: the id of its run, once it has one.
    """

    run_id: str
    key: str
    items: tuple[bytes, ...]
    ledger: str
    log: FileLog
    kept: str = ""

    def begins(self, other: SessionCopy) -> bool:
        """Whether the other says all that this one says, in the same order, and perhaps goes on."""
        return other.items[: len(self.items)] == self.items

    def gives_way(self, run_id: str, other: SessionCopy) -> None:
        """Notes that another copy is read for this one."""
        message = f"an earlier copy of a session that goes on in {clip(other.log.name)}; read there alone"
        self.log.findings.add("duplicate-run", message, run=run_id)


class SessionCopies:
    """The longest copy of each session so far."""

    def __init__(self) -> None:
        self._longest: dict[str, list[SessionCopy]] = {}

    def place(self, copy: SessionCopy) -> SessionCopy | None:
        """Keeps a copy that begins no other; gives the one that it takes the place of, or that it begins."""
        known = self._longest.setdefault(copy.key, [])
        for at, other in enumerate(known):
            if copy.begins(other):
                return other
            if other.begins(copy):
                known[at] = copy
                return other
        known.append(copy)
        return None


def digests(items: Iterable[Any]) -> tuple[bytes, ...]:
    """A digest of each item, its kind and moment included."""
    return tuple(
        # Short: only the items of one session are compared.
        blake2b(msgspec.json.encode((type(item).__name__, item)), digest_size=8).digest()
        for item in items
    )
