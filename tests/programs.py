"""Programs that tests run in a Python of their own, so that nothing is loaded before."""

from __future__ import annotations

import subprocess
import sys
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[1]
Value = TypeVar("Value")


def sent(value: Value) -> Value:
    """What arrives in another process."""
    copy: Value = ForkingPickler.loads(bytes(ForkingPickler.dumps(value)))
    return copy


def run_python(program: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    """A program, run in the folder of the project; with `check` it must end well."""
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=check
    )
