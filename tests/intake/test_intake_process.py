"""A separate process adds files: none of them can block the app, and each gets an answer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import desk
import pytest

from untaken import limits
from untaken.errors import Where
from untaken.working import telling
from untaken.workspace import Workspace
from untaken.workspace.content import digest_of
from untaken.workspace.intake import UploadResult, take_in
from untaken.workspace.intake_process import _end, take_in_apart

SOUND = {"1.jsonl": desk.careful(1).ledger(), "desk.plan.yaml": desk.GRAPH, "photo.png": b"\x89PNG\r\n"}


class Cancelled(Exception):
    pass


def on_disk(folder: Path, files: dict[str, bytes]) -> list[tuple[str, Path]]:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [(name, folder / name) for name in files]


@pytest.fixture
def endless(tmp_path: Path) -> tuple[str, Path]:
    """A file that never ends, and never gives a byte."""
    os.mkfifo(tmp_path / "endless.jsonl")
    return "endless.jsonl", tmp_path / "endless.jsonl"


def test_another_process_gives_the_same_rows(tmp_path: Path) -> None:
    files = on_disk(tmp_path, SOUND)
    with Workspace(tmp_path / "here") as here, Workspace(tmp_path / "apart") as apart:
        arrived: list[UploadResult] = []
        rows = take_in_apart(apart, files, each=arrived.extend)
        assert rows == take_in(here, files)
        assert {row.name: row for row in arrived} == {row.name: row for row in rows}
        assert apart.digest() == here.digest()


def test_a_disk_that_fails_is_named(tmp_path: Path) -> None:
    files = on_disk(tmp_path, {"1.jsonl": SOUND["1.jsonl"]})
    with Workspace(tmp_path / "w") as workspace:
        (tmp_path / "w" / "ledgers" / f"{digest_of(SOUND['1.jsonl'])}.jsonl").mkdir()  # where it would go
        (row,) = take_in_apart(workspace, files)
    assert [(f.code, f.message) for f in row.findings] == [
        ("intake-failed", "the disk failed: Is a directory")
    ]


def test_a_file_that_holds_up_the_work_is_left_out_and_the_others_go_on(
    tmp_path: Path, endless: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INTAKE_FILE_SECONDS", 5.0)
    first, *others = on_disk(tmp_path, SOUND)
    with Workspace(tmp_path / "w") as workspace:
        rows = take_in_apart(workspace, [first, endless, *others])
        assert len(workspace.files()) == 2
    assert [(row.name, row.kind) for row in rows] == [
        ("1.jsonl", "ledger"), ("desk.plan.yaml", "graph"), ("photo.png", None), ("endless.jsonl", None)
    ]  # fmt: skip
    (finding,) = rows[-1].findings
    assert (finding.code, finding.where, finding.severity) == (
        "intake-deadline", Where(file="endless.jsonl"), "error"
    )  # fmt: skip
    assert "5 seconds" in finding.message


def test_long_work_on_one_file_comes_a_step_further_at_each_event(tmp_path: Path) -> None:
    said = [{"role": "assistant", "content": f"{number}"} for number in range(500)]
    trace = json.dumps([{"role": "user", "content": "Go."}, *said]).encode()
    steps = 0

    def told() -> None:
        nonlocal steps
        steps += 1

    with Workspace(tmp_path / "w") as workspace, telling(told):
        (row,) = take_in(workspace, [("trace.json", trace)])
    assert row.runs == 1
    assert steps > 3 * len(said)  # it is tidied, understood and written
    assert limits.INTAKE_FILE_SECONDS <= 10


def test_all_files_together_have_a_deadline(tmp_path, endless, monkeypatch) -> None:
    monkeypatch.setattr(limits, "INTAKE_SECONDS", 0.5)
    with Workspace(tmp_path / "w") as workspace:
        rows = take_in_apart(workspace, [endless, *on_disk(tmp_path, SOUND)])
    assert {row.name for row in rows} == {"endless.jsonl", *SOUND}
    assert {finding.code for row in rows for finding in row.findings} == {"intake-deadline"}


def test_cancelling_ends_the_process(tmp_path: Path, endless: tuple[str, Path]) -> None:
    ended: list[int] = []

    def cancel(done: int, total: int, name: str) -> None:
        if name == "endless.jsonl":
            raise Cancelled

    class Recorded(subprocess.Popen[bytes]):
        def wait(self, timeout: float | None = None) -> int:
            ended.append(super().wait(timeout))
            return ended[-1]

    with Workspace(tmp_path / "w") as workspace, pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", Recorded)
        with pytest.raises(Cancelled):
            take_in_apart(workspace, [endless], progress=cancel)
    assert ended[-1] in {1, -signal.SIGKILL}


ALONE = """
import sys
from pathlib import Path
from untaken.workspace.intake_process import take_in_apart
from untaken.workspace import Workspace
with Workspace(sys.argv[1]) as workspace:
    take_in_apart(workspace, [("endless.jsonl", Path(sys.argv[2]))])
"""


def opened_by_a_reader(pipe: Path) -> int:
    """The other end of a pipe, once somebody reads it."""
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are listed in /proc")
def test_the_work_ends_when_the_app_is_killed(tmp_path: Path, endless: tuple[str, Path]) -> None:
    with subprocess.Popen([sys.executable, "-c", ALONE, str(tmp_path / "w"), str(endless[1])]) as app:
        other_end = opened_by_a_reader(endless[1])
        (worker,) = Path(f"/proc/{app.pid}/task/{app.pid}/children").read_text().split()
        app.kill()
    end = time.monotonic() + 60
    status = Path("/proc", worker, "status")
    while status.exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < end, "it goes on alone"
        time.sleep(0.05)
    os.close(other_end)


def test_a_process_that_cannot_be_asked_to_end_is_killed() -> None:
    deaf = "import signal as s, time; s.signal(s.SIGTERM, s.SIG_IGN); print(1, flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        _end(process)
        assert process.returncode == -signal.SIGKILL


def test_files_whose_process_dies_are_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with Workspace(tmp_path / "w") as workspace:
        rows = take_in_apart(workspace, on_disk(tmp_path, SOUND))
    assert [row.name for row in rows] == list(SOUND)
    assert {finding.code for row in rows for finding in row.findings} == {"intake-failed"}
