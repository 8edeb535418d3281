"""What the documents show is what happens: every titled block is a file, every console block is typed in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from doc_pages import ROOT, Block, blocks, page, session, shows

from untaken.cli import main

PAGES = (
    "README.md",
    "docs/errors.md",
    "docs/tutorial.md",
    "docs/your-own-runs.md",
    *(f"docs/how-to/{name}.md" for name in ("bring-traces", "gate", "plan-graph")),
)
"""`docs/cli.md` is held by the tests of the command line."""


def typed(words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What a command prints: first the answer, then what is said on stderr."""
    if words[0] == "untaken":
        main(words[1:])
        out, err = capsys.readouterr()
    else:
        known = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, *words[1:]], cwd=folder, env=known, capture_output=True, text=True, check=False
        )
        out, err = done.stdout, done.stderr
    return [line.rstrip() for line in (out + err).splitlines()]


def written(block: Block, folder: Path) -> None:
    """Puts the file of a titled block where the page says it is."""
    path = folder / block.title
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_every_session_on_a_page_goes_as_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("sample_runs", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    count = 0
    for block in blocks(page(name)):
        if block.title:
            written(block, tmp_path)
        for command, shown in session(block.text) if block.language == "console" else ():
            words = [word.strip("'") for word in command.split()]
            if words[0] in ("untaken", "python"):
                assert shows(shown, typed(words, tmp_path, capsys)), command
                count += 1
    assert count
