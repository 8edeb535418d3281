"""Names in the code are the field's terms in plain words, so that a stranger's first guess finds them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import programs

ROOT = Path(__file__).parents[2]
ROOMS = ("untaken", "components", "pages")
MANNERED = re.compile(
    r"told|untold|brought|mended|mend|mends|stands|stood|lies|noticed|unnoticed|"
    r"parted|parting|partings|whoever|weightiest|weightier|said|unsaid|anew|booth|"
    r"mind|minds|shelf|shelves|desk|chart|concord|crossroads|witness|chamber|foretold|"
    r"foretell|unheeding|vain|hopeless|peoples|wherein|rubric|rubrics|pull|pulls|addressing|"
    r"speech|speeches|holdings|ablating"
)
PUBLIC = {"concord_table", "CONCORD"}
"""Documented in docs/interface.md: a table's name and its columns, which other people's code uses."""
WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def given_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every name that this code gives: to functions, classes, parameters, variables, attributes, imports."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def mannered(name: str) -> bool:
    return name not in PUBLIC and any(MANNERED.fullmatch(word.lower()) for word in WORDS.findall(name))


def test_names_are_plain_words() -> None:
    files = [ROOT / "app.py", *(path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))]
    assert len(files) > 500
    found = {
        path.relative_to(ROOT).as_posix(): names
        for path in files
        if (names := {*filter(mannered, [path.stem, *given_names(programs.nodes(path))])})
    }
    assert found == {}


def test_a_mannered_name_is_found_wherever_it_is_given() -> None:
    source = (
        "import json as said\ndef stands(told, *, lies): self.noticed = brought = 1\n"
        "class HeldShelf: partings: int\nfor whoever in all_minds: ...\n"
    )
    want = {"said", "stands", "told", "lies", "noticed", "brought", "HeldShelf", "partings", "whoever"}
    assert {*filter(mannered, given_names(ast.walk(ast.parse(source))))} == want
