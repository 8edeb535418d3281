"""Install the lowest versions that pyproject.toml allows, and try the program with them (`make floors`).

The resolver is uv, put into the throw-away environment itself; nothing outside that environment changes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("app", "judge", "crafter", "otel", "postgres")

TRIAL = """
import importlib, os, pkgutil, sys
os.environ["UNTAKEN_DEMO"] = "1"
sys.path.insert(0, os.getcwd())
import untaken
for module in pkgutil.walk_packages(untaken.__path__, "untaken."):
    if not module.name.endswith(("__main__", "pytest_plugin")):
        importlib.import_module(module.name)
from untaken.cli import main
assert main(["score", "sample_runs/ledgers", "--graphs", "sample_runs/graphs"]) == 0
assert main(["rank", "sample_runs/ledgers", "--graphs", "sample_runs/graphs", "--resamples", "200"]) == 0
from streamlit.testing.v1 import AppTest
from components.shared import navigation
page = AppTest.from_file("app.py", default_timeout=300).run()
for name, title in navigation.PAGES:
    page = page.switch_page(f"pages/{name}.py").run()
    assert not page.exception and title in [heading.value for heading in page.title], (name, page.exception)
    print(f"page {title}: ok")
"""


def main() -> int:
    """Exit code 0 where the trial passes with the lowest versions."""
    with tempfile.TemporaryDirectory(prefix="untaken-floors-") as made:
        folder = Path(made)
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
        uv = [python, "-m", "uv", "pip"]
        named = [word for extra in EXTRAS for word in ("--extra", extra)]
        lowest = folder / "lowest.txt"
        resolved = [*uv, "compile", "--quiet", "--resolution", "lowest-direct", "--no-annotate", *named]
        subprocess.run([*resolved, "-o", str(lowest), str(ROOT / "pyproject.toml")], check=True)
        subprocess.run([*uv, "install", "--quiet", "--python", python, "-r", str(lowest)], check=True)
        print(lowest.read_text("utf-8"))
        return subprocess.run([python, "-W", "ignore", "-c", TRIAL], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
