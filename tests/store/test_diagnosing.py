"""The doctor finds what is wrong, and nothing where nothing is."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from builders import a_run
from sqlalchemy import delete, insert
from test_backups import filled

from untaken.cli import main
from untaken.workspace import Workspace
from untaken.workspace.database import writing
from untaken.workspace.examining import kept_files
from untaken.workspace.tables import appends, files

ANNOUNCED = {
    "run_id": "r1", "bytes_before": 1, "events_before": 1, "sha256_before": "0" * 64, "events_after": 2,
    "sha256_after": "1" * 64, "created_at": "2026-01-01T00:00:00+00:00",
}  # fmt: skip


def ledger(workspace: Workspace) -> Path:
    path = workspace.ledgers()[0].path
    assert path is not None
    return path


def announce(workspace: Workspace) -> None:
    with writing(workspace._engine) as connection:
        connection.execute(insert(appends).values(file=workspace.ledgers()[0].digest, **ANNOUNCED))


def forget(workspace: Workspace) -> None:
    with writing(workspace._engine) as connection:
        connection.execute(delete(files).where(files.c.kind == "ledger"))


def damage(change: Callable[[bytes], bytes]) -> Callable[[Workspace], object]:
    return lambda workspace: ledger(workspace).write_bytes(change(ledger(workspace).read_bytes()))


class Ill(NamedTuple):
    desc: str
    harm: Callable[[Workspace], object]
    check: str
    state: str


CASES = [
    Ill("a changed ledger", damage(lambda data: data.replace(b"search", b"hidden")), "files", "fault"),
    Ill("a cut ledger", damage(lambda data: data[: data.rindex(b"\n", 0, -1) + 1]), "files", "fault"),
    Ill("a longer ledger", damage(lambda data: data + b"{}\n"), "files", "fault"),
    Ill("a ledger that is gone", lambda w: ledger(w).unlink(), "files", "fault"),
    Ill("a changed graph", lambda w: w.graphs()[0].path.write_bytes(b"id: x"), "files", "fault"),
    Ill("a changed trace", lambda w: w.sources("devai")[0].path.write_bytes(b"{}"), "files", "fault"),
    Ill("an append nobody settled", announce, "appends", "fault"),
    Ill("heads of unknown files", forget, "rows", "fault"),
    Ill("a file of nobody", lambda w: (w.path / "graphs" / "x").write_bytes(b""), "orphans", "note"),
    Ill("half a copy", lambda w: (w.path / ".adding-x").write_bytes(b""), "orphans", "note"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.desc)
def test_what_is_wrong_is_found_and_said_what_to_do(case: Ill, tmp_path: Path) -> None:
    with filled(tmp_path / "w") as workspace:
        before = workspace.diagnose()
        assert (before.healthy, {c.name for c in before.checks if c.state == "fault"}) == (True, set())
        case.harm(workspace)
        found = {check.name: check for check in workspace.diagnose().checks}
        assert (found[case.check].state, bool(found[case.check].hint)) == (case.state, True)


def test_the_verb_prints_a_table_or_a_document_and_fails_on_a_fault(tmp_path, capsys) -> None:
    with filled(tmp_path / "w") as workspace:
        stored = ledger(workspace)
    words = ["workspace", "doctor", "--workspace", str(tmp_path / "w")]
    assert main(words) == 0
    assert "stored files match the added files" in capsys.readouterr().out
    stored.unlink()
    assert main([*words, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["healthy"]) == ("untaken.workspace-doctor/1", False)


def test_a_backup_and_its_restoring_from_the_command_line(database, tmp_path, capsys, monkeypatch) -> None:
    filled(tmp_path / "w").close()
    archive, again = str(tmp_path / "b.zip"), str(tmp_path / "again")
    words = ["workspace", "backup", archive, "--workspace", str(tmp_path / "w")]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == 9
    assert main(words) == 2
    monkeypatch.delenv("UNTAKEN_STORE", raising=False)
    assert main(["workspace", "restore", archive, "--to", again]) == 0
    assert "9 files" in capsys.readouterr().out
    assert main(["workspace", "restore", archive, "--to", again]) == 2
    assert main(["workspace", "doctor", "--workspace", again]) == 0


@pytest.mark.database("sqlite")
def test_no_workspace_is_made_where_there_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["doctor"], ["backup", str(tmp_path / "b.zip")]):
        assert main(["workspace", *words, "--workspace", str(tmp_path / "none")]) == 2
        assert "workspace-not-found" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


LEDGER, GRAPH = a_run("r1").finish().ledger(), b"schema: untaken.plan/1\nid: g\ntasks: ['*']\n"
SHA, GRAPH_SHA = sha256(LEDGER).hexdigest(), sha256(GRAPH).hexdigest()

NAMES = [
    (f"ledgers/{SHA}.jsonl", LEDGER, [("ledger", SHA, 1, "")]),
    (f"graphs/{GRAPH_SHA}.plan.yaml", GRAPH, [("graph", GRAPH_SHA, 0, "")]),
    (f"graphs/{SHA}.plan.yaml", GRAPH, [("graph", SHA, 0, "other bytes")]),
    (f"ledgers/{GRAPH_SHA}.jsonl", LEDGER, [("ledger", GRAPH_SHA, 1, "other bytes")]),
    (f"ledgers/{SHA[:-1]}.jsonl", LEDGER, []),
    ("ledgers/notes.jsonl", LEDGER, []),
    (f"ledgers/{SHA}.txt", LEDGER, []),
    (f"ledgers/{SHA}", LEDGER, []),
    (f"ledgers/{SHA}.jsonl/inside", LEDGER, []),
    (f"elsewhere/{SHA}.jsonl", LEDGER, []),
]


@pytest.mark.database("sqlite")
@pytest.mark.parametrize(("name", "content", "want"), NAMES)
def test_a_kept_file_is_a_file_named_by_a_whole_digest(name, content, want, tmp_path) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(content)
    assert [(file.kind, file.digest, file.runs, file.fault) for file in kept_files(tmp_path)] == want
