"""Temporary folders of processes: removed with them, or by the next one, and never those of others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from untaken.workspace.scratch_folder import ScratchFolder

PREFIX = "untaken-try-"
HOLDS = """
import sys, time
from untaken.workspace.scratch_folder import ScratchFolder
folder = ScratchFolder(sys.argv[1])
(folder.path / "file").write_text("left")
print(folder.path, flush=True)
time.sleep(600)
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="users and links of POSIX")


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_the_folder_of_a_killed_process_is_removed_and_that_of_a_living_one_stays(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS, PREFIX]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        held = Path(process.stdout.readline().strip())
        ScratchFolder(PREFIX).remove()
        assert (held / "file").is_file()
        process.send_signal(signal.SIGKILL)
        process.wait()
    ScratchFolder(PREFIX).remove()
    assert list(tmp_path.iterdir()) == []


def test_folders_and_links_that_were_not_made_here_are_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / ".in-use").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(mine)
    (tmp_path / f"{PREFIX}without-mark").mkdir()
    marked = tmp_path / f"{PREFIX}linked-mark"
    marked.mkdir()
    (marked / ".in-use").symlink_to(mine / ".in-use")
    ScratchFolder(PREFIX).remove()
    assert {path.name for path in tmp_path.iterdir()} == {
        "mine",
        *(f"{PREFIX}{name}" for name in ("link", "without-mark", "linked-mark")),
    }
