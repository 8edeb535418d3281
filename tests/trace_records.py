"""One full record of each foreign format: every field that its importer reads is in it.

Most are in `records`, a file a format: what its files hold, by their names.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Final

from foreign_files import (
    ACTION,
    FILES,
    RECORDED,
    SHEETS,
    generated_record,
    maths_record,
    put,
    tau2_document,
    tau2_simulation,
    tau_record,
)

RECORDS: Final[dict[str, dict[str, Any]]] = {
    "devai": SHEETS,
    "agentrx": FILES["agentrx"],
    "tau-bench": {"gpt-9-airline.json": [tau_record()]},
    "tau2-bench": {"r.json": tau2_document(simulations=[tau2_simulation(ACTION)])},
    "who-and-when": {"1.json": generated_record()},
    "agenteval": {"algebra/1.json": maths_record()},
    **{file.stem: json.loads(file.read_text("utf-8")) for file in sorted((RECORDED / "full").glob("*.json"))},
}
"""By format, files by their names; a list in a ``.jsonl`` or ``.csv`` file is its lines."""


def written(name: str, content: Any) -> bytes:
    """The bytes of a file of a record."""
    if name.endswith(".md"):
        return str(content).encode(errors="replace")
    if name.endswith(".csv") and isinstance(content, list) and all(isinstance(row, dict) for row in content):
        table = io.StringIO()
        rows = csv.DictWriter(table, list(dict.fromkeys(key for row in content for key in row)))
        rows.writeheader()
        rows.writerows(content)
        return table.getvalue().encode(errors="replace")
    if name.endswith(".jsonl") and isinstance(content, list):
        return "".join(json.dumps(each) + "\n" for each in content).encode()
    return json.dumps(content).encode()


def put_record(folder: Path, files: dict[str, Any]) -> Path:
    """Writes the files of a record into a folder."""
    for name, content in files.items():
        put(folder / name, written(name, content))
    return folder
