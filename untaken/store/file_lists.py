"""What a workspace holds, listed: all of it, or a part that a page shows."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import ColumnElement, Engine

from untaken.store import records
from untaken.store.database import reading
from untaken.store.stored_file import StoredFile
from untaken.store.tables import files


class FileLists:
    """How a `Workspace` lists its files."""

    path: Path
    _engine: Engine

    def removed(self) -> list[StoredFile]:
        """Removed files that can be restored, in the order in which they were added."""
        with reading(self._engine) as connection:
            return records.all_files(connection, self.path, removed=True)

    def sources(self, kind: str) -> list[StoredFile]:
        """The foreign traces of one format, in the order in which they were added."""
        with reading(self._engine) as connection:
            return records.all_files(connection, self.path, where=files.c.kind == kind)

    def files(
        self, position: int | None = None, *, named: str = "", first: int = 0, most: int | None = None
    ) -> list[StoredFile]:
        """Everything added, in order.

        Args:
            position: up to this place, but for plan graphs.
            named: only files whose names contain this, in capitals or not.
            first: how many to pass over.
            most: how many to list at most.
        """
        with reading(self._engine) as connection:
            where = _chosen(position, named)
            return records.all_files(connection, self.path, where=where, first=first, most=most)

    def count_files(self, position: int | None = None, *, named: str = "") -> int:
        """How many `files` there are."""
        with reading(self._engine) as connection:
            return records.count_files(connection, _chosen(position, named))

    def ledgers(self, position: int | None = None) -> list[StoredFile]:
        """The ledgers, in the order in which they were added; those up to a `position`."""
        with reading(self._engine) as connection:
            where = (files.c.kind == "ledger") & records.up_to(position)
            return records.all_files(connection, self.path, where=where)

    def position(self) -> int:
        """The place of the file that was added last: what is added later has a higher one."""
        with reading(self._engine) as connection:
            return records.last_position(connection)


def _chosen(position: int | None, named: str) -> ColumnElement[bool]:
    here = records.up_to(position)
    return here & files.c.name.icontains(named, autoescape=True) if named else here
