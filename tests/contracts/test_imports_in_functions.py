"""Imports stand at the top of a file, where a reader looks for them; what is slow to load has a door."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

import programs

ROOT = Path(__file__).parents[2]
ROOMS = ("untaken", "components", "pages")
MOST = 52
"""It may only fall. Doors: packages of lazy names (`stats`), `untaken.extras`, modules slow as a whole."""


def in_functions(nodes: Iterable[ast.AST]) -> set[ast.stmt]:
    """The imports inside functions, each once, however deep."""
    return {
        node
        for function in nodes
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }


def test_an_import_inside_a_function_is_counted_once_however_deep_it_is() -> None:
    nested = "import a\ndef f():\n    from b import c\n    def g():\n        import d\n"
    assert sorted(ast.unparse(node) for node in in_functions(ast.walk(ast.parse(nested)))) == [
        "from b import c",
        "import d",
    ]


def test_imports_inside_functions_do_not_grow() -> None:
    files = [ROOT / "app.py", *(path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))]
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in files
        for node in in_functions(programs.nodes(path))
    ]
    assert len(found) <= MOST, found


def lazily_named(init: Path) -> set[str]:
    """The names that a package imports when they are first used."""
    blocks = [block for block in ast.parse(init.read_text("utf-8")).body if isinstance(block, ast.If)]
    imports = [one for block in blocks for one in block.body if isinstance(one, ast.ImportFrom)]
    return {alias.asname or alias.name for one in imports for alias in one.names}


def test_no_name_that_is_imported_on_first_use_is_that_of_a_module_beside_it() -> None:
    """Once that module is loaded, Python would give the module."""
    inits = [
        p for p in (ROOT / "untaken").rglob("__init__.py") if "imported_on_first_use" in p.read_text("utf-8")
    ]
    assert len(inits) > 5
    hidden = {
        str(p.parent.relative_to(ROOT)): lazily_named(p) & {one.stem for one in p.parent.iterdir()}
        for p in inits
    }
    assert {package: names for package, names in hidden.items() if names} == {}
