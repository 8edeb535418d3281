"""What tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The desk's ledgers and graph, and an altered ledger."""
    desk.write_folder(tmp_path)
    lines = desk.careful(77).ledger().splitlines(keepends=True)
    (tmp_path / "altered.jsonl").write_bytes(b"".join([*lines[:2], *lines[3:]]))
    return tmp_path
