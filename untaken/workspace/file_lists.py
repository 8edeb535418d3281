"""What a workspace holds, listed: all of it, or a part that a page shows; its digest and its audit log."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from sqlalchemy import ColumnElement, Engine

from untaken.ledger import Head
from untaken.workspace import records
from untaken.workspace.database import reading, writing
from untaken.workspace.stored_file import AuditEntry, StoredFile
from untaken.workspace.tables import files

FileGroup = Literal["ledger", "graph", "other"]


class FileLists:
    """How a `Workspace` lists its files, and what the database says of all of them."""

    path: Path
    read_only: bool
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
        self,
        position: int | None = None,
        *,
        group: FileGroup | None = None,
        named: str = "",
        first: int = 0,
        most: int | None = None,
    ) -> list[StoredFile]:
        """Everything added, in order.

        Args:
            position: up to this place, but for plan graphs.
            group: only ledgers, only plan graphs, or only what is neither.
            named: only files whose names contain this, in capitals or not.
            first: how many to pass over.
            most: how many to list at most.
        """
        with reading(self._engine) as connection:
            where = _chosen(position, group, named)
            return records.all_files(connection, self.path, where=where, first=first, most=most)

    def count_files(
        self, position: int | None = None, *, group: FileGroup | None = None, named: str = ""
    ) -> int:
        """How many `files` there are."""
        with reading(self._engine) as connection:
            return records.count_files(connection, _chosen(position, group, named))

    def ledgers(self, position: int | None = None) -> list[StoredFile]:
        """The ledgers, in the order in which they were added; those up to a `position`."""
        with reading(self._engine) as connection:
            where = (files.c.kind == "ledger") & records.up_to(position)
            return records.all_files(connection, self.path, where=where)

    def position(self) -> int:
        """The place of the file that was added last: what is added later has a higher one."""
        with reading(self._engine) as connection:
            return records.last_position(connection)

    def heads(self) -> dict[str, Head]:
        """The recorded head of each run id."""
        with reading(self._engine) as connection:
            return {run_id: head for run_id, (head, _) in records.recorded_heads(connection).items()}

    def digest(self, position: int | None = None) -> str:
        """Changes whenever what can be read from the workspace changes; the key of every cache above.

        `position` as for `ledgers`.
        """
        with reading(self._engine) as connection:
            return records.content_digest(connection, position)

    def audit(self, code: str, message: str, run: str | None = None) -> None:
        """Writes a line to the audit log, once for the same words about the same run."""
        if not self.read_only:
            with writing(self._engine) as connection:
                records.insert_audit(connection, code, message, run)

    def audit_log(self) -> list[AuditEntry]:
        """The audit log, oldest first."""
        with reading(self._engine) as connection:
            return records.audit_entries(connection)


def _chosen(position: int | None, group: FileGroup | None, named: str) -> ColumnElement[bool]:
    here = records.up_to(position)
    if group is not None:
        here &= files.c.kind.not_in(("ledger", "graph")) if group == "other" else files.c.kind == group
    return here & files.c.name.icontains(named, autoescape=True) if named else here  # `%` and `_` are plain
