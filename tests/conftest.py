"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of public records, no part of the repository; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("UNTAKEN_REAL_DATA") or REPOSITORY.parent / "shared" / "data")
    if not (folder / "reference.json").is_file():
        pytest.skip(
            f"no real records at {folder}; set UNTAKEN_REAL_DATA to the folder that holds reference.json"
        )
    return folder


hypothesis.settings.register_profile("quiet", deadline=None)  # a busy machine is no failed claim
hypothesis.settings.load_profile("quiet")
