"""What people read is plain English: strings of the app and the engine avoid these phrases."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = (
    "for want of",
    "passed over",
    "held against",
    "comes to nothing",
    "come to nothing",
    "Say who you are",
    "lies open",
    "told apart",
    "weightiest",
)
FILES = sorted(
    path for folder in ("components", "pages", "untaken/cli") for path in (ROOT / folder).rglob("*.py")
)


def strings(tree: ast.AST) -> list[str]:
    """Every string but docstrings."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs]
    return [node.value for node in found if isinstance(node.value, str)]


@pytest.mark.parametrize("phrase", FORBIDDEN)
def test_no_string_on_a_page_or_in_the_terminal_uses_a_mannered_phrase(phrase: str) -> None:
    used = [
        path.name for path in FILES for text in strings(ast.parse(path.read_text("utf-8"))) if phrase in text
    ]
    assert not used
