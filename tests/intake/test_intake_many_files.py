"""Many small files at once: each costs the same whatever is there, and few transactions hold them."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from builders import a_run
from sqlalchemy import Engine, event

from untaken.ledger import Draft, ReviewNote
from untaken.workspace import Workspace, batches, syncing
from untaken.workspace.content import digest_of
from untaken.workspace.intake import UploadResult, take_in


def ledger(number: int) -> tuple[str, bytes]:
    return f"{number}.jsonl", a_run(f"r{number}").call("x").finish().ledger()


def trace(number: int) -> tuple[str, bytes]:
    messages = [{"role": "user", "content": f"ticket {number}"}, {"role": "assistant", "content": "done"}]
    return f"{number}.json", json.dumps({"messages": messages}).encode()


def calls_of(work: Callable[[], object], *of: object) -> int:
    """Calls that a piece of work makes, of all functions or these: a busy machine makes as many."""
    calls = 0

    def count(frame: FrameType, what: str, argument: object) -> None:
        nonlocal calls
        calls += what in ("call", "c_call") and (not of or argument in of)

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_half_a_file_that_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    given = [ledger(n) for n in range(3)]
    with Workspace(tmp_path) as workspace:
        for _, data in given:
            (tmp_path / "ledgers" / f"{digest_of(data)}.jsonl").write_bytes(data[:99])
        take_in(workspace, given)
        runs, findings = workspace.read_runs()
    assert ({run.run_id for run in runs}, findings) == ({"r0", "r1", "r2"}, [])


@pytest.mark.parametrize("make", [ledger, trace])
def test_a_file_costs_the_same_however_many_are_there(make, tmp_path) -> None:
    with Workspace(tmp_path) as workspace:
        take_in(workspace, [make(n) for n in range(5)])
        few = calls_of(lambda: take_in(workspace, [make(5)]))
        take_in(workspace, [make(n) for n in range(6, 156)])
        many = calls_of(lambda: take_in(workspace, [make(156)]))
    assert many < 1.2 * few


def statements_of(work: Callable[[], object]) -> list[str]:
    """The database statements of a piece of work."""
    begun: list[str] = []

    def note(*arguments: object) -> None:
        begun.append(str(arguments[2]))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        work()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return begun


@pytest.mark.parametrize("make", [ledger, trace])
def test_new_files_of_one_transaction_need_no_statements_of_their_own(make, tmp_path) -> None:
    with Workspace(tmp_path) as workspace:
        few = statements_of(lambda: take_in(workspace, [make(n) for n in range(2)]))
        many = statements_of(lambda: take_in(workspace, [make(n) for n in range(2, 42)]))
        assert len(many) == len(few)
        assert len(workspace.heads()) == 42


def test_files_that_are_known_or_share_a_run_are_compared_when_many_come_at_once(tmp_path: Path) -> None:
    other = a_run("r1").call("something else").finish().ledger()
    with Workspace(tmp_path) as workspace:
        take_in(workspace, [ledger(0), trace(0)])
        rows = take_in(
            workspace, [ledger(0), ledger(1), ("other.jsonl", other), ledger(1), trace(0), trace(1), trace(1)]
        )
        assert [row.new for row in rows] == [False, True, True, False, False, True, False]
        verdicts = [found.verdict for row in rows for found in row.integrity]
        assert verdicts == ["INTACT", "UNANCHORED", "ALTERED", "INTACT"]
        assert workspace.diagnose().healthy


def test_small_files_share_a_transaction_and_a_large_one_has_its_own(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(batches, "BATCH_FILES", 20)
    large = a_run("large").say("x" * batches.BATCH_BYTES).finish().ledger()
    files = [*(ledger(n) for n in range(30)), ("large.jsonl", large), *(ledger(n) for n in range(30, 60))]
    with Workspace(tmp_path) as workspace:
        rows: list[UploadResult] = []
        begun = statements_of(lambda: rows.extend(take_in(workspace, files)))
        assert [row.name for row in rows] == [name for name, _ in files]
        assert all(row.new and row.runs == 1 for row in rows)
        assert len(workspace.files()) == len(files)
    assert begun.count("BEGIN IMMEDIATE") == 2 + 1 + 2


def test_a_fault_in_one_file_undoes_nothing_of_the_others_in_its_transaction(tmp_path: Path) -> None:
    twice = b"schema: untaken.plan/1\nid: a\nid: b\n"
    files = [ledger(1), ("bad.plan.yaml", twice), ("torn.jsonl", ledger(2)[1][:40]), ledger(3)]
    with Workspace(tmp_path) as workspace:
        rows = take_in(workspace, files)
        assert [row.runs for row in rows] == [1, 0, 0, 1]
        assert workspace.heads().keys() >= {"r1", "r3"}
        assert workspace.diagnose().healthy


class Cancelled(Exception):
    pass


def test_cancelled_work_keeps_whole_transactions_only(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(batches, "BATCH_FILES", 3)
    files = [ledger(n) for n in range(6)]

    def progress(_done: int, _total: int, name: str) -> None:
        if name == "4.jsonl" and any((tmp_path / "ledgers").iterdir()):
            raise Cancelled

    with Workspace(tmp_path) as workspace:
        with pytest.raises(Cancelled):
            take_in(workspace, files, progress=progress)
        assert set(workspace.heads()) == {"r0", "r1", "r2"}
        assert [row.new for row in take_in(workspace, files)] == [False] * 3 + [True] * 3


def test_a_copy_of_a_ledger_that_was_appended_to_here_is_still_known(tmp_path: Path) -> None:
    name, data = ledger(1)
    with Workspace(tmp_path) as workspace:
        workspace.add(name, data)
        (run,), _ = workspace.read_runs()
        workspace.append_events(run, [Draft(ReviewNote, {"author": "ann", "text": "seen"})])
        (stored,) = workspace.ledgers()
        (row,) = take_in(workspace, [("copy.jsonl", stored.path.read_bytes())])
        assert not row.new
        assert len(workspace.ledgers()) == 1


@pytest.mark.parametrize("make", [ledger, trace])
def test_files_of_an_upload_that_a_full_disk_undoes_are_removed(make, tmp_path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Workspace(tmp_path) as workspace:
        take_in(workspace, [make(0)])
        before = sorted(tmp_path.rglob("*.*"))
        with monkeypatch.context() as patch:
            patch.setattr(syncing, "_sync", full)
            with pytest.raises(OSError, match="No space"):
                take_in(workspace, [make(n) for n in range(5)])
        assert sorted(tmp_path.rglob("*.*")) == before
        assert [row.new for row in take_in(workspace, [make(n) for n in range(5)])] == [False] + [True] * 4
