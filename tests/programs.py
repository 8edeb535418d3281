"""The programs of the repository as syntax, and programs that tests run in a Python of their own."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[1]
Value = TypeVar("Value")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax of a file, read once for all contracts."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file, as `ast.walk` finds them."""
    return tuple(ast.walk(tree(path)))


def sent(value: Value) -> Value:
    """What arrives in another process."""
    copy: Value = ForkingPickler.loads(bytes(ForkingPickler.dumps(value)))
    return copy


def run_python(program: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    """A program, run in the folder of the project; with `check` it must end well."""
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=check
    )
