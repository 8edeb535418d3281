"""Files of other people's runs: for their owner alone, never half written, and safe from a power cut."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from builders import a_run

from untaken.cli import main
from untaken.errors import UntakenError
from untaken.judging.asking import ReplyStore
from untaken.judging.asking.replies import Reply
from untaken.ledger import disk, heads_path, verify_ledger
from untaken.workspace import KeptTrace, Workspace, syncing

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="modes, pipes and devices are those of POSIX"),
    pytest.mark.database("sqlite"),
]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_workspace_its_backup_and_a_salt_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Workspace(tmp_path / "w") as workspace:
            workspace.add("a.jsonl", a_run("r").finish().ledger())
            workspace.backup(tmp_path / "b.zip")
        assert ReplyStore(tmp_path / "replies").salt
    finally:
        os.umask(before)
    files = [*(tmp_path / "w" / "ledgers").glob("*.jsonl"), *(tmp_path / "replies").iterdir()]
    files += [tmp_path / "w" / "untaken.sqlite3", tmp_path / "b.zip"]
    assert {path.name: oct(mode(path)) for path in files} == {path.name: "0o600" for path in files}
    folders = [tmp_path / "w", *(tmp_path / "w" / room for room in ("ledgers", "graphs", "sources"))]
    assert [mode(path) for path in (*folders, tmp_path / "replies")] == [0o700] * 5


def test_copies_that_a_killed_process_left_are_cleared_after_a_day(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        old, fresh = tmp_path / ".adding-old", tmp_path / ".adding-fresh"
        for path in (old, fresh):
            path.write_bytes(b"half a ledger")
        os.utime(old, (0, 0))
        workspace.purge()
        assert (old.exists(), fresh.exists()) == (False, True)


def test_a_pipe_for_heads_is_refused_at_once(tmp_path: Path) -> None:
    ledger = tmp_path / "a.jsonl"
    ledger.write_bytes(a_run("r").finish().ledger())
    os.mkfifo(heads_path(ledger))
    with pytest.raises(UntakenError, match="ledger-heads"):
        verify_ledger(ledger)


@pytest.mark.parametrize(
    ("make", "says"),
    [(os.mkfifo, "a named pipe"), (os.mkdir, "not a regular file")],
    ids=["a pipe", "a folder"],
)
def test_a_report_replaces_files_only_and_leaves_nothing_half_written(make, says, tmp_path, capsys) -> None:
    target = tmp_path / "out.html"
    make(target)  # type: ignore[operator]
    kind = target.stat().st_mode
    (tmp_path / "a.jsonl").write_bytes(a_run("r").finish().ledger())
    graph = "schema: untaken.plan/1\nid: g\ntasks: ['*']\nsub_goals:\n- {id: look}\n"
    (tmp_path / "g.plan.yaml").write_text(graph)
    words = ["report", str(tmp_path / "a.jsonl"), "--graphs", str(tmp_path / "g.plan.yaml")]
    assert main([*words, "--html", str(target)]) == 2
    assert says in capsys.readouterr().err
    assert (target.stat().st_mode, (tmp_path / "out.html.new").exists()) == (kind, False)


def test_a_replacement_that_fails_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.html"
    target.write_bytes(b"old")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "write", full)
    with pytest.raises(OSError, match="No space"):
        disk.replace(target, b"new", sync=False)
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]
    assert target.read_bytes() == b"old"


def test_a_key_that_a_server_sends_back_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNTAKEN_MODEL_KEY", "sk-very-secret")
    said = {"why": "sk-very-secret is your key"}
    store = ReplyStore(tmp_path)
    store.put(
        "ab" * 32,
        Reply(model="m", template="t", version=1, prompt_sha256="0" * 64, seed=0, output=said, raw=str(said)),
    )
    assert "sk-very-secret" not in "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    kept = store.get("ab" * 32)
    assert kept.output == {"why": "… is your key"}


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
def test_a_disk_that_fails_then_leaves_neither_rows_nor_files(tmp_path, synced, monkeypatch) -> None:
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


def test_a_file_system_of_which_nothing_is_known_is_not_synced_as_a_whole(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(syncing, "_file_system", lambda _device: "nfs4")
    assert syncing.file_system_sync(tmp_path) is None
