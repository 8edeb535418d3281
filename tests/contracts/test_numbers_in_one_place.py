"""What people read has one style of numbers: only `untaken.numbers` formats them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import programs

ROOT = Path(__file__).parents[2]
ROOMS = ("untaken/cli", "untaken/views/html", "components", "pages")
FILES = sorted(str(p.relative_to(ROOT)) for room in ROOMS for p in (ROOT / room).rglob("*.py"))
EVERYWHERE = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "untaken").rglob("*.py")) + FILES
BY_HAND = re.compile(r"[%fFeE]$|\.\w*[gG]$")
"""Format codes that choose decimals; a plain ``g`` writes a constant or a coordinate, ``,`` a count."""
SPACED = re.compile(r"\d %(?![\w({-])")
NOT_FOR_PEOPLE = {"untaken/views/html/markup.py": "attributes of SVG elements"}


def text_of(string: ast.expr | None) -> str | None:
    """A string as written, with 9 for each value in it; nothing for another expression."""
    if isinstance(string, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "9" for part in string.values)
    return string.value if isinstance(string, ast.Constant) and isinstance(string.value, str) else None


def formats(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Each number formatted by hand: in an f-string, by `format`, with ``%``."""
    for node in nodes:
        if isinstance(node, ast.FormattedValue) and BY_HAND.search(text_of(node.format_spec) or ""):
            yield f"line {node.lineno}: {{:{text_of(node.format_spec)}}}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "format":
            yield f"line {node.lineno}: format()"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and text_of(node.left):
            yield f"line {node.lineno}: % on a string"


def spaced(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Each percent sign after a space in a string."""
    for node in nodes:
        if isinstance(node, ast.Constant | ast.JoinedStr) and SPACED.search(text_of(node) or ""):
            yield f"line {node.lineno}: {text_of(node)!r}"


def test_no_number_is_formatted_by_hand() -> None:
    shown = [file for file in FILES if file not in NOT_FOR_PEOPLE]
    found = {file: list(formats(programs.nodes(ROOT / file))) for file in shown}
    assert {file: strings for file, strings in found.items() if strings} == {}


def test_no_space_comes_before_a_percent_sign() -> None:
    found = {file: list(spaced(programs.nodes(ROOT / file))) for file in EVERYWHERE}
    assert {file: strings for file, strings in found.items() if strings} == {}


def test_what_is_written_by_hand_is_found() -> None:
    source = 'f"{x:.0%} {x:+.2f} {x:.3g} {x:.{n}f}"; "%d" % x; format(x, ".1f"); f"{x:,} {x:g} {name:>20}"'
    assert len(list(formats(ast.walk(ast.parse(source))))) == 6
    spaces = ast.parse('"95 % interval"; "95% interval"; f"{x} %"')
    assert len(list(spaced(ast.walk(spaces)))) == 2
