"""The sample runs, and the workspace that `untaken app --demo` makes of them."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from untaken.opening_process import Opening

FOLDER: Final = "UNTAKEN_WORKSPACE"
DEMO: Final = "UNTAKEN_DEMO"
SAMPLES: Final = Path(__file__).parents[2] / "sample_runs"
PARTS: Final = ("graphs", "crafter/graphs", "crafter/ledgers", "ledgers")
"""What is shown; tampered ledgers lie beside them."""

_begun: Final[list[Opening]] = []


def wanted() -> bool:
    """Whether this server was started as a demonstration."""
    return os.environ.get(DEMO, "") == "1"


def begin() -> None:
    """Starts to make the workspace of a demonstration, in another process: this one is busy loading."""
    if wanted():
        _begun.append(Opening([SAMPLES / part for part in PARTS], Path(os.environ.get(FOLDER) or folder())))


def made() -> bool:
    """Whether `begin` has made the workspace; waits for it."""
    return bool(_begun) and _begun[-1].complete()


def end() -> None:
    """Nothing is written any more by what `begin` has started."""
    for opening in _begun:
        opening.end()
    _begun.clear()


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="untaken-")


def folder() -> str:
    """Of a demonstration without one: removed when the server ends."""
    return _folder().name
