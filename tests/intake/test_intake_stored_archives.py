"""Archives whose members are stored without compression: their lines show in the archive's own bytes.

So do those of archives that are not opened.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Literal

import desk
import pytest
from builders import a_run

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


def tarred(mode: Literal["w", "w:gz"]) -> bytes:
    """Ledgers among links to files of the machine, a pipe, and a name that leads out of the archive."""
    kept, ledger = io.BytesIO(), a_run("r").call("look").finish().ledger()
    with tarfile.open(fileobj=kept, mode=mode) as archive:
        for name, kind in (("a", tarfile.SYMTYPE), ("b", tarfile.LNKTYPE), ("c", tarfile.FIFOTYPE)):
            link = tarfile.TarInfo(f"{name}.jsonl")
            link.type, link.linkname = kind, "/etc/passwd"
            archive.addfile(link)
        for name in ("r.jsonl", "../../out.jsonl"):
            member = tarfile.TarInfo(name)
            member.size = len(ledger)
            archive.addfile(member, io.BytesIO(ledger))
    return kept.getvalue()


OTHER_ARCHIVES = {
    "tar": tarred("w"),
    "tar.gz": tarred("w:gz"),
    "7z": b"7z\xbc\xaf\x27\x1c\0\4" + bytes(40),
    "rar": b"Rar!\x1a\7\1\0" + bytes(40),
}


@pytest.mark.parametrize("kind", OTHER_ARCHIVES)
def test_another_archive_is_not_opened_nor_taken_for_a_broken_ledger_and_zip_is_named(
    kind: str, tmp_path: Path
) -> None:
    file = tmp_path / f"runs.{kind}"
    file.write_bytes(OTHER_ARCHIVES[kind])
    with Workspace(tmp_path / "workspace") as store:
        (row,) = take_in(store, [(file.name, file)])
        assert store.ledgers() == []
    (finding,) = row.findings
    assert (finding.code, row.kind) == ("file-not-recognised", None)
    assert f"a {kind.removesuffix('.gz').replace('rar', 'RAR')} archive" in finding.message
    assert "zip archive" in finding.message
