"""``untaken report``: the file, its messages, and its exit codes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import jsonschema
import pytest

from untaken.cli import main
from untaken.views import json_schema


def test_the_document_names_the_file_by_its_digest(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = world / "r.html"
    words = [
        "report",
        str(world / "ledgers"),
        "--graphs",
        str(world / "graphs"),
        "--html",
        str(file),
        "--json",
    ]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json_schema("report"))
    page = file.read_bytes()
    assert (found["sha256"], found["bytes"]) == (hashlib.sha256(page).hexdigest(), len(page))
    assert found["digest"].encode() in page
    assert found["runs"] == 13
