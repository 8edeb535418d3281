"""The first command that a newcomer copies works where the package is: in a checkout."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from untaken import __version__

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/tutorial.md", "docs/how-to/gate.md")
FROM_INDEX = re.compile(r"pip install '?untaken\b")


@pytest.mark.parametrize("page", PAGES)
def test_the_index_is_asked_only_once_the_package_is_published(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    for found in FROM_INDEX.finditer(text):
        assert "nce published" in text[: found.start()].rpartition("\n")[2], found[0]
    for block in re.findall(r"```(?:sh|text|yaml)\n(.*?)```", text, re.DOTALL):
        assert not FROM_INDEX.search(block), block


def test_the_readme_begins_with_the_two_commands_that_set_everything_up() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert [line.split("#")[0].strip() for line in blocks[0].splitlines()] == ["make app", "make test"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {"app", "test", "wheel"} <= set(targets)


def test_the_wheel_that_the_readme_installs_is_the_one_that_is_built() -> None:
    named = re.findall(r"dist/(untaken-\S+\.whl)", (ROOT / "README.md").read_text("utf-8"))
    assert named == [f"untaken-{__version__}-py3-none-any.whl"]
