"""What a backup of a workspace is: one zip archive of its tables, its files, and a manifest of their digests.

The tables are dumped as JSON lines, so that what was kept in SQLite can be restored into PostgreSQL and the
other way round.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec
from sqlalchemy import Table

from untaken.workspace.tables import appends, marks, metadata

MANIFEST: Final = "manifest.json"
FILES: Final = "files/"
TABLES: Final = "tables/"
LEFT_OUT: Final = (appends, marks)
"""Appends under way are not part of a backup (the ledger ends before them); marks are about one folder."""
DUMPED: Final[tuple[Table, ...]] = tuple(t for t in metadata.sorted_tables if t not in LEFT_OUT)
SINCE: Final = {"bundled": "0005"}
"""The revision from which on there is a table: backups of earlier ones are without it."""
NUMBERED: Final = "position"

"""Column that is not dumped: rows are in its order, and databases give the numbers again."""
ROOM_FILE: Final = re.compile(r"(?:ledgers|graphs|sources)/[0-9a-f]{64}[a-z.]{0,16}")
"""A file that a row of `files` names."""
LOOSE_FILE: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9_-]{0,80}(?:\.[a-z]{1,16}){0,2}\.jsonl"
    r"|criteria\.json|failure_modes\.yaml|issues\.yaml"
)
"""A file beside the rooms, such as the policy memory, the criteria, the failure modes and the issues."""


class ArchiveMember(msgspec.Struct, frozen=True, kw_only=True):
    """One member of the archive."""

    path: str
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup holds; `revision` is that of its tables."""

    schema: Literal["untaken.backup/1"] = "untaken.backup/1"
    made_at: str
    revision: str
    rows: dict[str, int]
    entries: list[ArchiveMember]
