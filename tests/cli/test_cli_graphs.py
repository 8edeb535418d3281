"""Plan graphs on the command line: compared, drawn, discovered."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import desk
import pytest

from untaken.cli import main

HOSTILE = "</title><script>alert(1)</script>&\\u0007"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The desk, and a plan of it with hostile words."""
    folder = desk.write_folder(tmp_path / "world")
    hostile = desk.GRAPH.replace(b"title: Check policy", f'title: "{HOSTILE}"'.encode())
    (folder / "hostile.plan.yaml").write_bytes(hostile)
    return folder


def drawn(world: Path, name: str, *more: str) -> str:
    target = world / "a.svg"
    assert main(["graph", "draw", str(world / name), "-o", str(target), *more]) == 0
    return target.read_text("utf-8")


def test_hostile_titles_stay_words_and_the_file_needs_nothing_from_elsewhere(world: Path) -> None:
    text = drawn(world, "hostile.plan.yaml")
    tree = ElementTree.fromstring(text)
    tags = {node.tag.removeprefix(SVG) for node in tree.iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "g", "path", "text"}
    assert "<script" not in text
    assert "</title><script>" in "".join(node.text or "" for node in tree.iter(f"{SVG}text"))
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in text
