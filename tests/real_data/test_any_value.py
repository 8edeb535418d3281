"""No value of any type at any place of a real record stops an import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foreign_files import codes, put
from mutated_values import mutations

from untaken.traces import convert, recognise, sample_of

FILES = 40
"""Real files that are looked at, and mutations of each."""
MUTATIONS = 5
MOST_BYTES = 100_000


def documents(folder: Path) -> list[tuple[Path, Any]]:
    """Some real records of every folder, as JSON."""
    found = []
    every = [path for path in sorted(folder.rglob("*")) if path.suffix in (".json", ".jsonl", ".traj")]
    short = [path for path in every if path.stat().st_size < MOST_BYTES and path.stat().st_size > 200]
    for path in short[:: max(1, len(short) // FILES)]:
        lines = path.read_text("utf-8").splitlines()
        try:
            found.append((path, [json.loads(line) for line in lines if line.strip()]))
        except ValueError:
            found.append((path, json.loads("\n".join(lines))))
    return found


def test_any_value_at_any_place_of_a_real_record_is_read_or_reported(real_data: Path, tmp_path: Path) -> None:
    tried = 0
    for number, (path, document) in enumerate(documents(real_data)):
        for at, value, changed in mutations(document, number, MUTATIONS):
            source = put(tmp_path / str(tried) / path.name, changed)
            if (format := recognise(sample_of(path.name, source))) is None:
                continue
            done = convert(format, [source], tmp_path / str(tried) / "out")
            assert "importer-failed" not in codes(done), (path.name, at, value)
            tried += 1
    assert tried > 2 * FILES
