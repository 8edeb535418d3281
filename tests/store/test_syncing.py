"""Many small files are safe from a power cut at the price of one."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from untaken.errors import UntakenError
from untaken.workspace import KeptTrace, Workspace, syncing

pytestmark = pytest.mark.database("sqlite")  # what it keeps are files

MANY = syncing.TOGETHER_FROM


def traces(number: int) -> list[KeptTrace]:
    return [KeptTrace(name=f"{n}.json", data=str(n).encode(), kind="tau-bench") for n in range(number)]


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is synced, by name, in order."""
    names: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        names.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return names


def offer(monkeypatch: pytest.MonkeyPatch, synced: list[str], fault: OSError | None = None) -> None:
    """A system that syncs whole file systems, which it says in `synced`."""

    def whole(descriptor: int) -> None:
        folder = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced.append(f"file system of {folder.name}, {len(list(folder.iterdir()))} files")
        if fault:
            raise fault

    monkeypatch.setattr(syncing, "file_system_sync", lambda _folder: whole)


linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the names of descriptors are in /proc")


@linux
def test_many_files_are_synced_with_their_file_system_once_all_are_written(
    tmp_path: Path, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(tmp_path) as workspace:
        offer(monkeypatch, synced)
        assert all(workspace.keep_traces(traces(MANY)))
    assert synced == [f"file system of sources, {MANY} files"]


@linux
def test_few_files_are_synced_one_by_one_and_so_are_many_where_the_system_offers_nothing_else(
    workspace: Workspace, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, synced)
    workspace.keep_traces(traces(MANY - 1))
    assert (len(synced), synced[-1]) == (MANY, "sources")
    synced.clear()
    monkeypatch.setattr(syncing, "file_system_sync", lambda _folder: None)
    workspace.keep_traces([KeptTrace(name="x", data=f"x{n}".encode(), kind="atif") for n in range(MANY)])
    assert (len(synced), synced[-1]) == (MANY + 1, "sources")


@linux
def test_a_disk_that_fails_then_leaves_neither_rows_nor_files(
    tmp_path: Path, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(tmp_path) as workspace:
        offer(monkeypatch, synced, OSError(errno.EIO, "Input/output error"))
        with pytest.raises((OSError, UntakenError)):
            workspace.keep_traces(traces(MANY))
        assert workspace.files() == []
        assert list((tmp_path / "sources").iterdir()) == []


def test_the_call_of_this_system_works_where_it_is_used(tmp_path: Path) -> None:
    if (whole := syncing.file_system_sync(tmp_path)) is None:
        pytest.skip("this system or file system is not synced as a whole")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    whole(descriptor)
    os.close(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        whole(descriptor)


def test_a_file_system_of_which_nothing_is_known_is_not_synced_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "_file_system", lambda _device: "nfs4")
    assert syncing.file_system_sync(tmp_path) is None
