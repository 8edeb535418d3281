"""Build the wheel ``untaken-ledger`` from this tree: what an agent needs to record, and nothing else.

Its package ``untaken_ledger`` is `untaken.ledger` under that name, with the few modules that it imports. It
needs none of ``untaken``, and the wheels share no file: either can be removed, and ledgers are what passes
between them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from untaken import __version__

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("caching", "errors", "extras", "garbage", "lazy_imports", "limits", "working")
"""Modules of the engine that the ledger imports."""
NAMES = re.compile(rf"\buntaken\.(?:ledger\b|(?={'|'.join(BESIDE)}))|\bfrom untaken (?=import limits\b)")
PROJECT = f"""\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "untaken-ledger"
version = "{__version__}"
description = "Record the runs of LLM agents as ledgers: typed events, a hash chain, safe against crashes."
readme = "README.md"
license = "MIT"
license-files = ["LICENSE"]
requires-python = ">=3.11"
dependencies = ["msgspec>=0.19", "filelock>=3.16", "rfc8785>=0.1.4"]

[project.optional-dependencies]
zstd = ["zstandard>=0.23"]
otel = ["opentelemetry-sdk>=1.27"]

[tool.setuptools]
packages = ["untaken_ledger"]
package-data = {{ untaken_ledger = ["py.typed"] }}
"""
README = """\
# untaken-ledger

What an agent's environment needs to record its runs for Untaken.

```python
from untaken_ledger import LedgerWriter
from untaken_ledger.span_files import SpanFileExporter  # pip install 'untaken-ledger[otel]'
```

The names are those of `untaken.ledger`, and so are the files.
"""


def renamed(found: re.Match[str]) -> str:
    """The name in the wheel of a module of the tree."""
    words = found.group()
    return (
        "from untaken_ledger "
        if words.startswith("from")
        else words.replace("untaken.ledger", "untaken_ledger").replace("untaken.", "untaken_ledger.")
    )


def lay_out(folder: Path) -> None:
    """Write the sources of the wheel into a folder."""
    package = folder / "untaken_ledger"
    package.mkdir()
    engine = ROOT / "untaken"
    for source in [*(engine / "ledger").glob("*.py"), *(engine / f"{name}.py" for name in BESIDE)]:
        text = NAMES.sub(renamed, source.read_text("utf-8"))
        (package / source.name).write_text(text.replace("'untaken[otel]'", "'untaken-ledger[otel]'"), "utf-8")
    (package / "py.typed").touch()
    (folder / "pyproject.toml").write_text(PROJECT, "utf-8")
    (folder / "README.md").write_text(README, "utf-8")
    (folder / "LICENSE").write_bytes((ROOT / "LICENSE").read_bytes())


def build(into: Path) -> None:
    """Build the wheel into a folder, with the setuptools that is installed here."""
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder))
        program = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
        command = [sys.executable, "-c", program, str(into.resolve())]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
