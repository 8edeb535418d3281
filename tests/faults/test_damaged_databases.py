"""A workspace whose database is damaged, locked or full: words instead of tracebacks, and a way back.

What would prove it wrong: an exception that is no `UntakenError`; a doctor that does not answer; a backup
that does not restore everything; a ledger or graph next to the database that `--rebuild` loses.
`UNTAKEN_FUZZ=20` damages every page twenty times over in each way.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from builders import a_run
from sqlalchemy import Engine, event

from untaken.cli import main
from untaken.errors import UntakenError
from untaken.ledger import Draft, Verdict
from untaken.workspace import Workspace, database
from untaken.workspace.examining import examine
from untaken.workspace.rebuilding import rebuild_workspace
from untaken.workspace.restoring import restore_workspace
from untaken.workspace.schema import DATABASE

ROUNDS = int(os.environ.get("UNTAKEN_FUZZ", "1"))
PAGE = 4096
RUNS = 6
GRAPH = (
    b"schema: untaken.plan/1\nid: desk\ntasks: ['task']\nsub_goals:\n- {id: look, check: {outcome: true}}\n"
)


@pytest.fixture(autouse=True)
def on_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNTAKEN_STORE", raising=False)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed workspace with something in its tables, and a backup beside it."""
    folder = tmp_path_factory.mktemp("sound") / "w"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("UNTAKEN_STORE", raising=False)
        with Workspace(folder) as workspace:
            for n in range(RUNS):
                workspace.add(f"r{n}.jsonl", a_run(f"r{n}").call("look").finish().ledger())
            workspace.add("desk.plan.yaml", GRAPH)
            verdict = Draft(Verdict, {"sub_goal": "look", "passed": True, "by": "human:ann"})
            workspace.append_events(workspace.read_runs()[0][0], [verdict])
            workspace.keep_draft("desk", author="ann", content="id: [", based_on=1)
            workspace.remove(workspace.ledgers()[-1].digest)
            workspace.backup(folder.parent / "b.zip")
    return folder


def zeros(data: bytearray, at: int, _: random.Random) -> None:
    data[at : at + PAGE] = bytes(PAGE)


def noise(data: bytearray, at: int, chance: random.Random) -> None:
    data[at : at + PAGE] = chance.randbytes(PAGE)


def flips(data: bytearray, at: int, chance: random.Random) -> None:
    for _ in range(8):
        data[at + chance.randrange(PAGE)] ^= 1 << chance.randrange(8)


def another(data: bytearray, at: int, chance: random.Random) -> None:
    other = chance.randrange(len(data) // PAGE) * PAGE
    data[at : at + PAGE] = data[other : other + PAGE]


def cut(data: bytearray, at: int, _: random.Random) -> None:
    del data[at:]


def damaged(
    sound: Path, folder: Path, harm: Callable[[bytearray, int, random.Random], None]
) -> Iterator[Path]:
    """A copy of the workspace for each page of its database, that page harmed; every third in some ways."""
    data, chance = (sound / DATABASE).read_bytes(), random.Random(19)
    every = PAGE if harm in (zeros, flips) or ROUNDS > 1 else 3 * PAGE
    for at in [*range(0, len(data), every)] * ROUNDS:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(sound, folder)
        for beside in folder.glob(f"{DATABASE}-*"):
            beside.unlink()
        harmed = bytearray(data)
        harm(harmed, at, chance)
        (folder / DATABASE).write_bytes(harmed)
        yield folder


def use_everything(folder: Path) -> None:
    with Workspace(folder) as workspace:
        for part in ("read_runs", "graph_set", "drafts", "audit_log", "digest", "activity", "removed"):
            getattr(workspace, part)()
        workspace.graph_history("desk")
        workspace.reviews.every()
        workspace.add("new.jsonl", a_run("new").finish().ledger())


@pytest.mark.parametrize("harm", [zeros, noise, flips, another, cut])
def test_a_damaged_page_is_met_with_words_and_the_doctor_answers(harm, sound, tmp_path) -> None:
    met = 0
    for folder in damaged(sound, tmp_path / "w", harm):
        diagnosis = examine(folder)
        with suppress(UntakenError):
            use_everything(folder)
            met -= 1
        met += 1
        if not diagnosis.healthy and any(check.name == "rebuild" for check in diagnosis.checks):
            (said,) = [check.message for check in diagnosis.checks if check.name == "rebuild"]
            assert said.startswith(f"{RUNS} ledgers ({RUNS} runs")
    assert met >= 3


def test_the_backup_of_a_workspace_brings_all_of_it_back_after_any_damage(sound, tmp_path) -> None:
    def seen(folder: Path) -> list[Any]:
        with Workspace(folder) as workspace:
            runs, findings = workspace.read_runs()
            verdicts = [(run.run_id, run.integrity.verdict, len(run.events)) for run in runs]
            files = [(file.name, file.digest) for file in (*workspace.files(), *workspace.removed())]
            return [verdicts, findings, files, workspace.heads(), workspace.drafts(), workspace.digest()]

    wanted = seen(sound)
    for n, folder in enumerate(damaged(sound, tmp_path / "w", noise)):
        if n % 8 == 0:
            shutil.rmtree(folder)
            restore_workspace(sound.parent / "b.zip", folder)
            assert seen(folder) == wanted


def test_a_workspace_is_rebuilt_from_the_files_beside_a_lost_database(sound, tmp_path, capsys) -> None:
    def everything() -> list[tuple[Path, bytes]]:
        return sorted((path, path.read_bytes()) for path in folder.rglob("*") if path.is_file())

    folder = shutil.copytree(sound, tmp_path / "w")
    rebuild_workspace(sound, tmp_path / "named")  # names and removals as far as they can be read
    with Workspace(tmp_path / "named") as workspace, Workspace(sound) as before:
        assert [file.name for file in workspace.files()] == [file.name for file in before.files()]
    (folder / DATABASE).write_bytes(b"no database" * 1000)
    was = everything()
    words = ["workspace", "doctor", "--workspace", str(folder)]
    assert main([*words, "--rebuild", str(tmp_path / "new")]) == 1
    assert "rebuild" in capsys.readouterr().out
    with Workspace(tmp_path / "new") as workspace:
        runs, findings = workspace.read_runs()
        assert findings == []
        assert {run.integrity.verdict for run in runs} == {"INTACT"}
        assert len(runs) == RUNS, "that one was removed went with the database"
        assert [v.by for run in runs for v in run.of(Verdict)] == ["human:ann"]
        assert [graph.id for graph in workspace.graph_set().graphs] == ["desk"]
        assert [entry.code for entry in workspace.audit_log()] == ["workspace-rebuilt"]
    assert everything() == was
    assert main([*words, "--rebuild", str(tmp_path / "new")]) == 2


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Another program that lets nobody else at the database."""
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("UPDATE marks SET value = value")
        yield


def test_a_locked_database_is_said_in_words_and_the_doctor_answers(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "w"
    shutil.copytree(sound, folder)
    monkeypatch.setattr("untaken.workspace.examining.PATIENCE", 0.1)
    monkeypatch.setattr(
        "untaken.workspace.workspace.open_engine",
        lambda path, url, **_: database.open_engine(path, url, busy_seconds=0.1),
    )
    with held(folder):
        with pytest.raises(UntakenError, match="workspace-locked"):
            Workspace(folder)
        assert main(["review", "--workspace", str(folder)]) == 2
        assert "workspace-locked" in capsys.readouterr().err
        assert main(["workspace", "doctor", "--workspace", str(folder)]) == 1
        said = capsys.readouterr().out
        assert "another program is using" in said
        assert f"{RUNS + 1} ledgers and plan graphs are intact" in said
    assert main(["workspace", "doctor", "--workspace", str(folder)]) == 0


def test_a_full_disk_is_said_in_words_and_nothing_is_half_saved(sound: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(sound, folder)

    def no_room(connection: Any, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")

    with Workspace(folder) as workspace:
        before = workspace.digest()
        event.listen(Engine, "connect", no_room)
        try:
            with pytest.raises(UntakenError, match="workspace-disk-full"):
                workspace.keep_draft("desk", author="ben", content="x" * 100_000, based_on=1)
        finally:
            event.remove(Engine, "connect", no_room)
        assert workspace.digest() == before


def test_a_damaged_archive_is_refused_or_brings_everything_back(sound: Path, tmp_path: Path) -> None:
    data, chance = (sound.parent / "b.zip").read_bytes(), random.Random(5)
    refused = 0
    for _ in range(150 * ROUNDS):
        harmed = bytearray(data)
        for _ in range(chance.choice((1, 4))):
            harmed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        if chance.random() < 0.2:
            del harmed[chance.randrange(len(data)) :]
        archive = tmp_path / "b.zip"
        archive.write_bytes(harmed)
        target = tmp_path / "again"
        with suppress(UntakenError):
            restore_workspace(archive, target)
        if target.exists():
            with Workspace(target) as workspace:
                assert len(workspace.read_runs()[0]) == RUNS - 1
            shutil.rmtree(target)
        else:
            refused += 1
    assert refused > 100
