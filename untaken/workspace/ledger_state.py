"""A digest of all that reading the ledgers of a workspace gives: what is kept of them is found by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine

from untaken.workspace import records, tables
from untaken.workspace.content import digest_of
from untaken.workspace.database import reading

if TYPE_CHECKING:
    from untaken.workspace.readings import FileReading


class LedgerState:
    """The state of a workspace's ledgers: of every byte of them, and of what the database says of them.

    Args:
        engine: of the workspace's database.
        folder: of the workspace.
    """

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine, self._folder = engine, folder

    def rows(self) -> str | None:
        """Digest of what the database says; ``None`` while something is being appended."""
        with reading(self._engine) as connection:
            return records.reading_digest(connection)

    def now(self) -> str | None:
        """The state of this moment, for which every ledger is hashed.

        ``None`` where a ledger is missing, or something is being changed.
        """
        rows = self.rows()
        with reading(self._engine) as connection:
            ledgers = records.all_files(connection, self._folder, where=tables.files.c.kind == "ledger")
        return self._state(rows, [(file.digest, _hashed(file.path)) for file in ledgers])

    def of(self, readings: Mapping[str, FileReading], rows: str | None) -> str | None:
        """The state that all ledgers had when they were read; ``None`` as for `now`.

        Args:
            readings: by the file's digest.
            rows: what `rows` was before they were read.
        """
        return self._state(rows, [(digest, file.content.sha256) for digest, file in readings.items()])

    def _state(self, rows: str | None, ledgers: Iterable[tuple[str, str]]) -> str | None:
        found = list(ledgers)
        # Rows that changed while files were hashed say nothing about them.
        if rows is None or not all(digest for _, digest in found) or rows != self.rows():
            return None
        return sha256(repr((rows, found)).encode()).hexdigest()


def _hashed(path: Path | None) -> str:
    """SHA-256 of a file; empty where it is gone."""
    try:
        return digest_of(path) if path else ""
    except FileNotFoundError:
        return ""
