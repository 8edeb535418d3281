"""Programs that tests run in a Python of their own, so that nothing is loaded before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run_python(program: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    """A program, run in the folder of the project; with `check` it must end well."""
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=check
    )
