"""What holds for every test of the app."""

from __future__ import annotations

from pathlib import Path

import desk
import pytest
from sessions import installed_components, no_part_of_a_page_failed

from untaken.workspace import Workspace

__all__ = ["installed_components", "no_part_of_a_page_failed"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with the desk's runs."""
    with Workspace(tmp_path) as store:
        desk.add_to(store)
    return tmp_path
