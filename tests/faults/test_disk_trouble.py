"""A disk that is full, read-only or gone, and a database that is locked, damaged or gone: nothing is lost in
silence, and every verb says so with a code, a hint and exit code 2."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from errno import EIO, ENOSPC, EROFS
from pathlib import Path

import desk
import pytest

from untaken.cli import main
from untaken.errors import UntakenError
from untaken.store import Workspace, adding_many, content, database
from untaken.store import workspace as storing
from untaken.store.schema import DATABASE

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
def test_a_full_disk_takes_all_or_says_which_not_and_fails_every_time(
    source: Path, tmp_path: Path, kib: int, capsys: pytest.CaptureFixture[str]
) -> None:
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
    "the file cannot be copied": (content, "staged", OSError(ENOSPC, "No space left on device"), "disk-full"),
    "the disk is read-only": (content, "staged", OSError(EROFS, "Read-only file system"), "unwritable"),
    "the disk fails": (content, "staged", OSError(EIO, "Input/output error"), "unwritable"),
}


@pytest.mark.parametrize("failing", FAILING)
@pytest.mark.parametrize("at", [1, 2, 17, LEDGERS + 1])
@pytest.mark.parametrize("known", [False, True], ids=["a new workspace", "one that is there"])
def test_wherever_the_disk_fails_an_opened_folder_is_whole_or_an_error(
    source: Path, tmp_path: Path, failing: str, at: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, error, code = FAILING[failing]
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


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """What is wrong with a workspace, and the code that says so."""

    make: Callable[[Path, pytest.MonkeyPatch], object]
    code: str


def lock(folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(database.open_engine, "__kwdefaults__", {"busy_seconds": 0.05, "read_only": False})
    held = sqlite3.connect(folder / DATABASE, isolation_level=None)
    held.execute("PRAGMA journal_mode=DELETE")
    held.execute("BEGIN EXCLUSIVE")
    return held


def damage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    file = folder / DATABASE
    file.write_bytes(file.read_bytes()[:100] + b"\xff" * 20_000)
    return None


def take_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("UNTAKEN_STORE", "postgresql+psycopg://ann:secret@127.0.0.1:1/untaken")
    return None


def fail_with(error: OSError) -> Callable[[Path, pytest.MonkeyPatch], object]:
    def make(folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
        def mkdir(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr("untaken.store.workspace.make_rooms", mkdir)
        return None

    return make


TROUBLES = {
    "locked": Trouble(make=lock, code="workspace-locked"),
    "damaged": Trouble(make=damage, code="workspace-damaged"),
    "unreachable": Trouble(make=take_away, code="store-unreachable"),
    "full": Trouble(make=fail_with(OSError(ENOSPC, "No space left on device", "x")), code="disk-full"),
    "read-only": Trouble(make=fail_with(OSError(EROFS, "Read-only file system", "x")), code="disk-read-only"),
    "gone": Trouble(make=fail_with(OSError(EIO, "Input/output error", "x")), code="disk-failed"),
}
VERBS = (
    "review --workspace {w}",
    "issues --workspace {w}",
    "modes list --workspace {w}",
    "modes import mast --workspace {w} --by ann",
    "modes agree --workspace {w}",
    "modes notes --workspace {w}",
    "modes suggest --workspace {w}",
    "modes pivot --workspace {w}",
    "modes retire loops --workspace {w} --by ann",
    "workspace backup {out}/b.zip --workspace {w}",
)


@pytest.mark.parametrize("words", VERBS)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_verb_says_what_is_wrong_with_its_workspace_and_could_not_run(
    words: str,
    trouble: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if trouble == "unreachable":
        pytest.importorskip("psycopg")
    folder = tmp_path / "w"
    with Workspace(folder) as workspace:
        workspace.add("desk.plan.yaml", desk.GRAPH)
        workspace.add("a.jsonl", desk.careful(1).ledger())
    held = TROUBLES[trouble].make(folder, monkeypatch)
    with closing(held) if isinstance(held, sqlite3.Connection) else nullcontext():
        code = main(words.format(w=folder, out=tmp_path).split())
    said = capsys.readouterr()
    assert (code, f"[{TROUBLES[trouble].code}]" in said.err, "→" in said.err) == (2, True, True), said.err
    assert "secret" not in said.err + said.out


WRITING = (
    "memory build {l} -o {o}/m.memory.jsonl",
    "report {l} --graphs {g} --html {o}/r.html",
    "export {l} --to csv -o {o}/t.csv",
    "export {l} --to otel -o {o}/t.json",
    "export {l} --to atif -o {o}/atif",
    "export {l} --to parquet -o {o}/t.parquet",
    "convert {f} -o {o}/converted",
    "graph draw {g} -o {o}/g.svg",
    "graph discover {l} -o {o}/g.plan.yaml",
    "workspace backup {o}/b.zip --workspace {w}",
)


@pytest.mark.parametrize("kind", ["full", "read-only"])
@pytest.mark.parametrize("words", WRITING)
def test_every_verb_that_writes_says_why_it_could_not(
    words: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = tmp_path / "trace.json"
    foreign.write_text(json.dumps({"messages": [{"role": "user", "content": "x" * 9_000}]}), encoding="utf-8")
    memory, graph, folder = tmp_path / "m.memory.jsonl", tmp_path / "desk.plan.yaml", tmp_path / "w"
    graph.write_bytes(desk.GRAPH)
    options = ("-t", "tmpfs", "-o", "size=4k", "tmpfs")
    with mounted(tmp_path / "out", *options) as out:
        ledger = tmp_path / "a.jsonl"
        ledger.write_bytes(desk.careful(1).ledger() + desk.failing(2).ledger())
        assert main(["memory", "build", str(ledger), "-o", str(memory)]) == 0
        with Workspace(folder) as workspace:
            workspace.add("a.jsonl", ledger)
        if kind == "full":
            (out / "filler").write_bytes(b"x" * 4_096)
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(out)], check=True)
        if "--append" in words:
            pytest.skip("the ledger is not on that disk")
        capsys.readouterr()
        names = {"l": ledger, "o": out, "m": memory, "g": graph, "f": foreign, "w": folder}
        code = main(words.format(**names).split())
        said = capsys.readouterr().err
    assert code == 2, said
    assert ("[disk-full]" if kind == "full" else "[disk-read-only]") in said
    assert "→" in said


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
