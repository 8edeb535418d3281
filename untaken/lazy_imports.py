"""Public names that a package imports when they are first used, so that one room does not load all others."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import get_data
from typing import Any, Final

_FROM: Final = re.compile(r"^    from (\S+) import (?:\(([^)]*)\)|(.+))", re.MULTILINE)


def imported_on_first_use(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package, from the imports in its ``if TYPE_CHECKING:``.

    So there is one list of them, for type checkers and for the interpreter.
    """
    homes = cache(lambda: _homes(package))

    def get(name: str) -> Any:
        if name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes()[name]), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes()})

    return get, names


def _homes(package: str) -> dict[str, str]:
    """The module that defines each name."""
    import ast  # noqa: PLC0415 (slow)

    source = get_data(package, "__init__.py") or b""  # through the loader: packages may be in a zip archive
    conditional = [block for block in ast.parse(source).body if isinstance(block, ast.If)]
    imports = [one for block in conditional for one in block.body if isinstance(one, ast.ImportFrom)]
    return {alias.name: str(one.module) for one in imports for alias in one.names}
