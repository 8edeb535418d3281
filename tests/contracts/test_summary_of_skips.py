"""What a test run says of the tests it left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

@pytest.mark.parametrize("n", range(3))
def test_a(n):
    pytest.skip("no such server here")

@pytest.mark.skipif(True, reason="no such shell here")
def test_b():
    pass

def test_c():
    pass
"""


def test_skips_are_summed_up_by_reason(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text("utf-8"))
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-q", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert "    3  no such server here" in lines, done.stdout
    assert "    1  no such shell here" in lines
    assert not [line for line in lines if line.startswith("SKIPPED")]
