"""A backup is whole, comes back on either database, and harms nobody who restores one from a stranger."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from builders import a_run
from sqlalchemy import insert
from test_versions import TEXT, graph

from untaken.errors import UntakenError
from untaken.ledger import Draft, ReviewNote
from untaken.workspace import KeptTrace, Workspace
from untaken.workspace.database import writing
from untaken.workspace.restoring import restore_workspace
from untaken.workspace.tables import appends

LOOSE = ("policy.memory.jsonl", "criteria.json", "failure_modes.yaml", "issues.yaml")
FIRST, OTHER = a_run("r1").call("search").finish(), a_run("r2").finish()


def filled(folder: Path) -> Workspace:
    """One of everything a workspace holds."""
    workspace = Workspace(folder)
    workspace.add("first.jsonl", FIRST.ledger())
    gone = workspace.add("other.jsonl", OTHER.ledger())
    workspace.save_graph(TEXT, author="ann", message="begun\x00", based_on=None)
    workspace.save_graph(graph("two"), author="ben", message="", based_on=1)
    workspace.keep_draft("desk", author="ann", content="id: [", based_on=2)
    workspace.keep_traces([KeptTrace(name="t.json", data=b"[]", kind="devai", agent="x", loss=("all",))])
    (run, _), _ = workspace.read_runs()
    workspace.append_events(run, [Draft(ReviewNote, {"author": "ann", "text": "why?"})])
    workspace.remove(gone.digest)
    (folder / "policy.memory.jsonl").write_text('{"kept": true}\n')
    (folder / "criteria.json").write_text('{"kept": 1}')
    (folder / "failure_modes.yaml").write_text("kept: 2\n")
    (folder / "issues.yaml").write_text("kept: 3\n")
    return workspace


def seen(workspace: Workspace) -> list[Any]:
    runs, findings = workspace.read_runs()
    return [
        [(f.name, f.kind, f.added_at, f.path and f.path.read_bytes()) for f in workspace.files()],
        [f.name for f in workspace.removed()],
        [(run.run_id, len(run.events), run.integrity.verdict) for run in runs],
        findings,
        workspace.heads(),
        workspace.graph_history("desk"),
        workspace.drafts(),
        workspace.audit_log(),
        workspace.digest(),
        *((workspace.path / name).read_text() for name in LOOSE),
    ]


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
def test_what_was_backed_up_comes_back_on_either_database(target, tmp_path, request, monkeypatch) -> None:
    with filled(tmp_path / "w") as workspace:
        want = seen(workspace)
        done = workspace.backup(tmp_path)
        assert (done.path.parent, done.files, done.findings) == (tmp_path, 9, ())
    monkeypatch.delenv("UNTAKEN_STORE", raising=False)
    url = None
    if target == "postgresql":
        from postgresql import new_database

        url = new_database(request.getfixturevalue("postgresql"))
        monkeypatch.setenv("UNTAKEN_STORE", url)
    restored = restore_workspace(done.path, tmp_path / "again", url)
    assert (restored.files, restored.rows) == (done.files, done.rows)
    with Workspace(tmp_path / "again") as again:
        assert seen(again) == want
        assert again.diagnose().healthy
        again.restore(again.removed()[0].digest)
        saved = again.save_graph(graph("three"), author="ann", message="", based_on=2)
        assert len(again.graph_history("desk")) == 3, saved
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["w", "again", done.path.name])


def test_an_append_under_way_is_not_in_the_backup(tmp_path: Path) -> None:
    with filled(tmp_path / "w") as workspace:
        ledger = next(f for f in workspace.ledgers() if f.name == "first.jsonl")
        whole = ledger.path.read_bytes()
        announced = {"file": ledger.digest, "run_id": "r1", "bytes_before": len(whole)}
        heads = {"events_before": 4, "sha256_before": "0" * 64, "events_after": 5, "sha256_after": "1" * 64}
        with writing(workspace._engine) as connection:
            row = announced | heads | {"created_at": "2026-01-01T00:00:00+00:00"}
            connection.execute(insert(appends).values(row))
        ledger.path.write_bytes(whole + b'{"half a')
        done = workspace.backup(tmp_path / "b.zip")
    with zipfile.ZipFile(done.path) as archive:
        assert archive.read(f"files/ledgers/{ledger.path.name}") == whole
        assert "tables/appends.jsonl" not in archive.namelist()


def test_a_backup_never_takes_the_place_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "b.zip").write_bytes(b"precious")
    with filled(tmp_path / "w") as workspace, pytest.raises(UntakenError, match="backup-exists"):
        workspace.backup(tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_bytes() == b"precious"


def test_a_damaged_file_is_named_in_the_backup_that_holds_it(tmp_path: Path) -> None:
    with filled(tmp_path / "w") as workspace:
        stored = workspace.graphs()[0].path
        stored.write_bytes(b"id: [")
        done = workspace.backup(tmp_path / "b.zip")
    assert [(f.code, f.where.file) for f in done.findings] == [("stored-file-damaged", "desk.plan.yaml")]


def test_restoring_overwrites_no_folder_and_no_database(database, tmp_path, monkeypatch) -> None:
    import os

    with filled(tmp_path / "w") as workspace:
        done = workspace.backup(tmp_path / "b.zip")
        before = seen(workspace)
        with pytest.raises(UntakenError, match="restore-not-empty"):
            restore_workspace(done.path, tmp_path / "w")
        if database == "postgresql":
            with pytest.raises(UntakenError, match="restore-not-empty"):
                restore_workspace(done.path, tmp_path / "new", os.environ["UNTAKEN_STORE"])
        assert seen(workspace) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.zip", "w"]


Members = dict[str, bytes]


class Forged(NamedTuple):
    desc: str
    forge: Callable[[Members], None]
    code: str = "backup-damaged"


def _renamed(old: str, new: str) -> Callable[[Members], None]:
    """Gives a member another name, in the manifest too."""

    def forge(members: Members) -> None:
        name = next(n for n in members if n.startswith(old))
        members[new] = members.pop(name)
        members["manifest.json"] = members["manifest.json"].replace(name.encode(), new.encode())

    return forge


def _row(table: str, **values: object) -> Callable[[Members], None]:
    """Changes the first row of a table, with the right digest in the manifest."""

    def forge(members: Members) -> None:
        import hashlib

        name = f"tables/{table}.jsonl"
        first, *rest = members[name].splitlines()
        changed = json.dumps(json.loads(first) | values).encode()
        members[name] = b"\n".join([changed, *rest]) + b"\n"
        manifest = json.loads(members["manifest.json"])
        entry = next(e for e in manifest["entries"] if e["path"] == name)
        entry |= {"bytes": len(members[name]), "sha256": hashlib.sha256(members[name]).hexdigest()}
        members["manifest.json"] = json.dumps(manifest).encode()

    return forge


def _without(start: str) -> Callable[[Members], None]:
    def forge(members: Members) -> None:
        del members[next(name for name in members if name.startswith(start))]

    return forge


def _manifest(**values: object) -> Callable[[Members], None]:
    def forge(members: Members) -> None:
        members["manifest.json"] = json.dumps(json.loads(members["manifest.json"]) | values).encode()

    return forge


FORGED = [
    Forged("a path out of the folder", _renamed("files/ledgers/", "files/../../outside.jsonl")),
    Forged("an absolute path", _renamed("files/ledgers/", "/etc/outside")),
    Forged("a hidden file", _renamed("files/policy", "files/.workspace-id")),
    Forged("a database", _renamed("files/policy", "files/untaken.sqlite3")),
    Forged("a row that points elsewhere", _row("files", path="../../outside")),
    Forged("a moment that is none", _row("files", added_at="yesterday")),
    Forged("a number for words", _row("files", name=7)),
    Forged("findings that are none", _row("files", findings="[1]")),
    Forged("a number too large", _row("files", bytes=2**70)),
    Forged("a column too many", _row("heads", more="x")),
    Forged("a member that is not listed", lambda m: m.update({"files/ledgers/" + "0" * 64 + ".jsonl": b""})),
    Forged("a member that is gone", _without("files/graphs")),
    Forged("other bytes", lambda m: m.update({n: b"x" + b[1:] for n, b in m.items() if "ledgers/" in n})),
    Forged("more bytes", lambda m: m.update({n: b + b"\n" for n, b in m.items() if "ledgers/" in n})),
    Forged("no workspace manifest", _without("manifest.json")),
    Forged("nonsense", lambda m: m.update({"manifest.json": b"[" * 1000})),
    Forged("a newer version's", _manifest(revision="9999"), "workspace-newer"),
    Forged("another document", _manifest(schema="untaken.score/1")),
]


@pytest.mark.database("sqlite")
@pytest.mark.parametrize("case", FORGED, ids=lambda c: c.desc)
def test_a_forged_backup_is_refused_and_leaves_nothing_behind(case: Forged, tmp_path: Path) -> None:
    with filled(tmp_path / "w") as workspace:
        done = workspace.backup(tmp_path / "b.zip")
    with zipfile.ZipFile(done.path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    case.forge(members)
    with zipfile.ZipFile(tmp_path / "forged.zip", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(UntakenError, match=case.code):
        restore_workspace(tmp_path / "forged.zip", tmp_path / "deep" / "again")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.zip", "deep", "forged.zip", "w"]
    assert list((tmp_path / "deep").iterdir()) == []


@pytest.mark.database("sqlite")
def test_a_backup_without_some_of_its_bytes_is_refused(tmp_path: Path) -> None:
    with filled(tmp_path / "w") as workspace:
        whole = workspace.backup(tmp_path / "b.zip").path.read_bytes()
    for at in range(0, len(whole), len(whole) // 40):
        (tmp_path / "less.zip").write_bytes(whole[:at] + whole[at + 100 :])
        with pytest.raises(UntakenError, match="backup-damaged"):
            restore_workspace(tmp_path / "less.zip", tmp_path / "again")
        assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_an_archive_that_was_cut_off_is_refused(share: float, tmp_path: Path) -> None:
    with filled(tmp_path / "w") as workspace:
        whole = workspace.backup(tmp_path / "b.zip").path.read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(UntakenError, match="backup-damaged"):
        restore_workspace(tmp_path / "cut.zip", tmp_path / "again")
    assert not (tmp_path / "again").exists()
