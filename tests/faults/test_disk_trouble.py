"""A disk that is full, read-only or gone, and a database that is locked, damaged or gone: nothing is lost in
silence, and every verb says so with a code, a hint and exit code 2."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EIO, ENOSPC, EROFS
from itertools import cycle, product
from pathlib import Path

import desk
import pytest

from untaken.cli import main
from untaken.errors import UntakenError
from untaken.workspace import Workspace, adding_many, content
from untaken.workspace import workspace as storing

LEDGERS = 30


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty ledgers of some 30 KB, and their graph."""
    folder = tmp_path_factory.mktemp("source")
    (folder / "desk.plan.yaml").write_bytes(desk.GRAPH)
    for number in range(LEDGERS):
        run = desk.a_run(f"r{number:02}", agent=f"a{number % 2}", task=f"t{number % 3}")
        text = os.urandom(15_000).hex()
        (folder / f"r{number:02}.jsonl").write_bytes(run.say(text).finish(True).ledger())
    return folder


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    """A file system of its own; only the superuser can mount one."""
    folder.mkdir(exist_ok=True)
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only the superuser mounts a file system")
    done = subprocess.run([mount, *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def runs_in(folder: Path) -> set[str]:
    with Workspace(folder) as workspace:
        return {run.run_id for run in workspace.read_runs()[0]}


@pytest.mark.parametrize("kib", [500, 600, 700])
def test_a_full_disk_takes_all_or_says_which_not_and_fails_every_time(source, tmp_path, kib, capsys) -> None:
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs") as small:
        for _ in range(3):
            with pytest.raises(UntakenError) as said:
                Workspace.open_folder(source, at=small / "workspace")
            assert said.value.code == "workspace-disk-full"
            assert "files were not added, from" in said.value.message
            assert said.value.hint
        ledgers = tmp_path / "ledgers"
        shutil.copytree(source, ledgers)
        (ledgers / ".untaken").symlink_to(small / "workspace")
        assert main(["review", "--workspace", str(ledgers)]) == 2
        assert "[workspace-disk-full]" in capsys.readouterr().err


def test_what_a_full_disk_did_not_take_is_taken_once_there_is_room(source: Path, tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=600k", "tmpfs") as small:
        with pytest.raises(UntakenError):
            Workspace.open_folder(source, at=small / "workspace")
        subprocess.run(["mount", "-o", "remount,size=8m", str(small)], check=True)
        Workspace.open_folder(source, at=small / "workspace").close()
        assert len(runs_in(small / "workspace")) == LEDGERS


FAILING = {
    "the file cannot be copied": (OSError(ENOSPC, "No space left on device"), "disk-full"),
    "the disk is read-only": (OSError(EROFS, "Read-only file system"), "unwritable"),
    "the disk fails": (OSError(EIO, "Input/output error"), "unwritable"),
}
PLACES = product([1, 2, 17, LEDGERS + 1], [False, True])
"""The file at which it fails, and whether the workspace is there before."""


@pytest.mark.parametrize(
    ("failing", "at", "known"),
    [(failing, *place) for failing, place in zip(cycle(FAILING), PLACES, strict=False)],
)
def test_wherever_the_disk_fails_an_opened_folder_is_whole_or_an_error(
    source: Path, tmp_path: Path, failing: str, at: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    error, code = FAILING[failing]
    place = tmp_path / "workspace"
    if known:
        Workspace(place).close()
    calls = 0
    real = content.staged

    def failing_copy(*given: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls >= at:
            raise error
        return real(*given, **named)  # type: ignore[arg-type]

    for module in (adding_many, storing):
        monkeypatch.setattr(module, "staged", failing_copy)
    with pytest.raises(UntakenError) as said:
        Workspace.open_folder(source, at=place)
    assert said.value.code == f"workspace-{code}"
    assert "not added" in said.value.message
    monkeypatch.undo()
    Workspace.open_folder(source, at=place).close()
    assert len(runs_in(place)) == LEDGERS


def test_a_read_only_workspace_can_be_read_and_backed_up_and_says_that_it_saves_nothing(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "workspace"
    Workspace.open_folder(source, at=place).close()
    with mounted(tmp_path / "seen", "--bind", "-o", "ro", str(place)) as seen:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(seen)], check=True)
        before = sorted((file, file.stat().st_mtime_ns) for file in seen.rglob("*"))
        assert len(runs_in(seen)) == LEDGERS
        assert main(["review", "--workspace", str(seen)]) == 0
        assert main(["modes", "list", "--workspace", str(seen)]) == 0
        assert main(["verify", str(seen / "ledgers")]) == 0
        assert main(["workspace", "backup", str(tmp_path / "b.zip"), "--workspace", str(seen)]) == 0
        assert main(["workspace", "restore", str(tmp_path / "b.zip"), "--to", str(tmp_path / "again")]) == 0
        capsys.readouterr()
        with Workspace(seen) as workspace, pytest.raises(OSError, match="Read-only"):
            workspace.add("b.jsonl", desk.careful(9).ledger())
        assert main(["modes", "import", "mast", "--workspace", str(seen), "--by", "ann"]) == 2
        assert sorted((file, file.stat().st_mtime_ns) for file in seen.rglob("*")) == before
    assert len(runs_in(tmp_path / "again")) == LEDGERS


def test_a_full_disk_is_named_in_our_words_where_another_library_writes_the_file(tmp_path, capsys) -> None:
    runs = desk.write_folder(tmp_path / "runs")
    asked = ["export", str(runs), "--graphs", str(runs), "--to"]
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=40k", "tmpfs") as small:
        for words in (["parquet"], ["csv", "--decisions", str(small / "d.parquet")]):
            (small / "filling").write_bytes(bytes(24_000))
            assert main([*asked, *words, "-o", str(small / "out")]) == 2
            said = capsys.readouterr().err
            assert "No space left on device [disk-full]" in said
            assert "Free some space" in said
            assert "exception" not in said
