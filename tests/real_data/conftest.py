"""Public records are converted once a session."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from real_records import Converted

from untaken.ledger import read_ledger
from untaken.plans import load_graphs
from untaken.traces import convert


@pytest.fixture(scope="session")
def reference(real_data: Path) -> dict[str, Any]:
    """Numbers computed from the records by independent code."""
    return json.loads((real_data / "reference.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def converted(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Converted]:
    """Converts a folder of records, once a session."""
    made: dict[tuple[str, str], Converted] = {}

    def make(format: str, folder: str) -> Converted:
        if (format, folder) not in made:
            out = tmp_path_factory.mktemp(format)
            conversion = convert(format, [real_data / folder], out)
            runs = [run for ledger in conversion.ledgers for run in read_ledger(ledger)]
            made[format, folder] = Converted(conversion, runs, load_graphs(out / "graphs"))
        return made[format, folder]

    return make
