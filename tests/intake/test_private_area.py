"""A private area opens for its owner alone; sharing it is the same upload, with what was written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import desk
import pytest

from untaken.ledger import Draft, ReviewNote, Verdict
from untaken.workspace import Workspace
from untaken.workspace.intake_process import take_in_apart
from untaken.workspace.private_area import NOT_SHARED, PrivateArea, PrivateAreas

LEDGER = desk.careful(1).ledger() + desk.failing(2).ledger()


@pytest.fixture(scope="module")
def areas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateAreas]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("areas")))
        made = PrivateAreas()
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with Workspace(tmp_path_factory.mktemp("shared")) as workspace:
        workspace.add("desk.plan.yaml", desk.GRAPH)
        yield workspace


@pytest.fixture(scope="module")
def area(areas: PrivateAreas, shared: Workspace, tmp_path_factory: pytest.TempPathFactory) -> PrivateArea:
    """With one uploaded ledger of two runs, and a picture; the last tests write in it and share it."""
    found = areas.find(areas.create("", shared), "")
    ledger = tmp_path_factory.mktemp("files") / "runs.jsonl"
    ledger.write_bytes(LEDGER)
    found.take_in([("runs.jsonl", ledger), ("photo.png", Path(__file__))])
    return found


@pytest.mark.parametrize(
    ("desc", "change", "owner"),
    [
        ("another token", lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"), "ann"),
        ("none", lambda _: "", "ann"),
        ("a path", lambda token: f"../{token}", "ann"),
        ("half a character", lambda _: "\ud800", "ann"),
        ("somebody else who is signed in", lambda token: token, "bob"),
        ("nobody who is signed in", lambda token: token, ""),
    ],
)
def test_only_its_token_opens_an_area_and_only_for_its_owner(desc, change, owner, areas, shared) -> None:
    token = areas.create("ann", shared)
    assert areas.find(token, "ann") is not None
    assert areas.find(change(token), owner) is None, desc
    assert not any(token in str(path) for path in areas.folder.rglob("*"))


def test_files_go_to_the_area_alone_and_are_scored_with_the_plan_graphs_in_force(area, shared) -> None:
    before = shared.digest()
    with area.open() as private:
        assert {run.run_id for run in private.read_runs()[0]} == {"careful-1", "failing-2"}
        assert [graph.id for graph in private.graph_set().graphs] == ["desk"]
    assert shared.digest() == before
    assert [one.name for one in area.uploads()] == ["runs.jsonl", "photo.png"]


def test_nobody_else_on_the_machine_reads_an_area(area: PrivateArea) -> None:
    if os.name != "posix":
        pytest.skip("file modes are POSIX")
    modes = {
        path: stat.S_IMODE(path.stat().st_mode) for path in (area.folder.parent, *area.folder.rglob("*"))
    }
    assert {str(path): oct(mode) for path, mode in modes.items() if mode & 0o077} == {}


def test_an_area_keeps_its_database_in_itself_whatever_database_the_server_uses(area, monkeypatch) -> None:
    monkeypatch.setenv("UNTAKEN_STORE", "postgresql://nobody:x@127.0.0.1:1/none")
    with area.open() as private:
        assert len(private.ledgers()) == 1


def test_shared_runs_are_those_of_a_plain_upload_with_what_was_written_about_them(
    area: PrivateArea, shared: Workspace, tmp_path: Path
) -> None:
    with area.open() as private:
        run = next(run for run in private.read_runs()[0] if run.run_id == "careful-1")
        note = {"author": "human:ann", "text": "looks fine"}
        verdict = {"sub_goal": "inform", "passed": True, "by": "human:ann"}
        private.append_events(run, [Draft(ReviewNote, note), Draft(Verdict, verdict)])
        saved = private.save_graph(
            desk.GRAPH.replace(b"title: ", b"title: My ", 1), author="human:ann", message="", based_on=1
        )
        assert saved.version
    rows = area.share(shared)
    with Workspace(tmp_path / "plain") as plain:
        plain.add("desk.plan.yaml", desk.GRAPH)
        (tmp_path / "runs.jsonl").write_bytes(LEDGER)
        files = [("runs.jsonl", tmp_path / "runs.jsonl"), ("photo.png", Path(__file__))]
        assert rows[:2] == take_in_apart(plain, files)
        assert {run.digest for run in plain.read_runs()[0]} == {run.digest for run in shared.read_runs()[0]}
    again = next(run for run in shared.read_runs()[0] if run.run_id == "careful-1")
    assert [(e.author, e.text) for e in again.of(ReviewNote)] == [("human:ann", "looks fine")]
    given = again.of(Verdict)[-1]
    assert (given.sub_goal, given.passed, given.by) == ("inform", True, "human:ann")
    assert given.seq in again.appended_here
    assert again.integrity.verdict == "INTACT"
    assert "My " in shared.graph_set().graphs[0].title
    count = len(again.events)
    area.share(shared)  # once more: what is there already is not written again
    assert len(next(run for run in shared.read_runs()[0] if run.run_id == "careful-1").events) == count


def test_a_run_that_does_not_arrive_is_named(area: PrivateArea, tmp_path: Path) -> None:
    with Workspace(tmp_path) as other:
        other.add("other.jsonl", desk.careful(1, task="refund-9").ledger())  # the same run id, another run
        left = [row.name for row in area.share(other) for f in row.findings if f.code == NOT_SHARED]
    assert left == ["careful-1"]
