"""``untaken report``: the file, its messages, and its exit codes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import jsonschema
import pytest

from untaken.cli import main
from untaken.views import json_schema


@pytest.mark.parametrize(
    ("words", "want", "says"),
    [
        ("{w}/ledgers --html {w}/r.html", 0, ""),
        ("{w}/ledgers --html {w}/r.html --full --title Desk --date today", 0, ""),
        ("{w}/ledgers {w}/altered.jsonl --html {w}/r.html", 1, "ledger-altered"),
        ("{w}/ledgers", 2, "--html"),
        ("{w}/ledgers --html {w}/r.html --focus --full", 2, "--full"),
        ("{w}/ledgers --html {w}/nowhere/r.html", 2, "nowhere"),
        ("{w}/ledgers --html {w}/r.html --memory {w}/no", 2, "memory-missing"),
    ],
)
def test_the_exit_code_says_what_became_of_the_report(
    words: str, want: int, says: str, world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(f"report --graphs {world}/graphs {words.format(w=world)}".split()) == want
    assert says in capsys.readouterr().err
    assert (world / "r.html").exists() == (want < 2)


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
