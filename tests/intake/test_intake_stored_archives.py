"""Archives whose members are stored without compression: their lines show in the archive's own bytes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import desk

from untaken.workspace import Workspace
from untaken.workspace.intake import take_in


def test_ledgers_in_an_archive_without_compression_are_read_as_its_members(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for number in range(3):
            archive.writestr(f"runs/{number}.jsonl", desk.careful(number).ledger())
    with Workspace(tmp_path) as workspace:
        rows = take_in(workspace, [("runs.zip", packed.getvalue())])
        assert [(row.kind, row.runs) for row in rows] == [("archive", 0), *[("ledger", 1)] * 3]
        assert len(workspace.ledgers()) == 3
