"""What is read of the ledgers of a workspace: one run as it is now, and the state they are in."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from builders import a_run, run_of
from sqlalchemy import insert

from untaken.analysis.failure_modes import note_draft
from untaken.errors import UntakenError
from untaken.ledger import Draft, Run, Verdict
from untaken.workspace import Workspace
from untaken.workspace.tables import appends

pytestmark = pytest.mark.database("sqlite")  # what it keeps are files

BOTH = b"".join(a_run(name).call("look").finish(success=False).ledger() for name in ("r0", "r1"))


def write_about(store: Workspace, run: Run) -> None:
    store.append_events(run, [note_draft("first", author="human:ann")])
    store.append_events(run_of(store, "r0"), [note_draft("of another run", author="human:ann")])
    met = Draft(Verdict, {"sub_goal": "pay", "passed": True, "by": "human:bob"})
    store.append_events(run_of(store, "r1"), [met, note_draft("last", author="human:bob")])


@pytest.mark.parametrize(
    ("name", "content"),
    [("runs.jsonl", BOTH), ("runs.jsonl.gz", gzip.compress(BOTH)), ("x.jsonl", BOTH[:-1])],
)
def test_a_run_now_is_what_reading_all_ledgers_gives(workspace: Workspace, name: str, content: bytes) -> None:
    workspace.add(name, content)
    before = run_of(workspace, "r1")
    assert workspace.run_now(before) is before
    write_about(workspace, before)
    now, read = workspace.run_now(before), run_of(workspace, "r1")
    assert (now.events, now.integrity, now.appended_here) == (read.events, read.integrity, read.appended_here)
    assert now.digest == before.digest
    assert workspace.run_now(now) is now


def test_a_run_that_was_removed_is_unknown(workspace: Workspace) -> None:
    workspace.add("runs.jsonl", BOTH)
    run = run_of(workspace, "r1")
    workspace.remove(workspace.ledgers()[0].digest)
    with pytest.raises(UntakenError, match="no longer in this workspace"):
        workspace.run_now(run)


def filled(folder: Path) -> Workspace:
    store = Workspace(folder)
    for n in range(2):
        store.add(f"{n}.jsonl", a_run(f"r{n}").finish().ledger())
    return store


def judge(store: Workspace) -> None:
    run = store.read_runs()[0][0]
    store.append_events(run, [Draft(Verdict, {"sub_goal": "a", "passed": True, "by": "human:ann"})])


def change_a_byte(store: Workspace) -> None:
    path = store.ledgers()[0].path
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def add_another(store: Workspace) -> None:
    store.add("more.jsonl", a_run("more").finish().ledger())


def remove_one(store: Workspace) -> None:
    assert store.remove(store.ledgers()[0].digest)


def test_hashing_gives_the_state_that_reading_gives(tmp_path: Path) -> None:
    with filled(tmp_path) as store:
        judge(store)
        state = store.ledger_state
        assert state.now() is not None
        assert state.now() == state.of(store.read_files(), state.rows())


@pytest.mark.parametrize("change", [judge, change_a_byte, add_another, remove_one])
def test_whatever_changes_what_is_read_changes_the_state(change, tmp_path) -> None:
    with filled(tmp_path) as store:
        before, readings, rows = store.ledger_state.now(), store.read_files(), store.ledger_state.rows()
        change(store)
        after = store.ledger_state.now()
        assert None not in (before, after)
        assert after != before
        assert store.ledger_state.of(readings, rows) in (None, before), "earlier readings have no newer state"


def test_a_ledger_restored_gives_the_state_from_before_only_if_it_is_as_before(tmp_path: Path) -> None:
    with filled(tmp_path) as store:
        path = store.ledgers()[0].path
        data, before = path.read_bytes(), store.ledger_state.now()
        change_a_byte(store)
        assert store.ledger_state.now() != before
        path.write_bytes(data)
        assert store.ledger_state.now() == before


def test_there_is_no_state_while_something_is_appended_or_a_ledger_is_missing(tmp_path: Path) -> None:
    with filled(tmp_path) as store:
        first, second = store.ledgers()
        with store._engine.begin() as connection:
            row = {"file": first.digest, "run_id": "r0", "events_before": 1, "sha256_before": "a" * 64}
            row |= {"events_after": 2, "sha256_after": "b" * 64, "bytes_before": 1, "created_at": "2026"}
            connection.execute(insert(appends).values(**row))
        assert store.ledger_state.now() is None
        with store._engine.begin() as connection:
            connection.execute(appends.delete())
        assert store.ledger_state.now() is not None
        second.path.unlink()
        assert store.ledger_state.now() is None
        assert store.ledger_state.of(store.read_files(), store.ledger_state.rows()) is None
