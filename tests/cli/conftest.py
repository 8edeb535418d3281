"""What tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The desk's ledgers and graph."""
    return desk.write_folder(tmp_path / "world")
