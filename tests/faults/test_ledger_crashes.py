"""A crash at every disk call of a writer: nothing acknowledged is lost, nothing half-written is believed.

The calls are counted and each fails in turn, torn in the middle where it writes. After the crash every
further call fails too, as in a dead process; then the lock falls and the disk is looked at.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders import a_run

from untaken.errors import UntakenError
from untaken.ledger import (
    Draft,
    LedgerWriter,
    Message,
    ReviewNote,
    append_events,
    disk,
    heads_path,
    read_ledger,
    recover,
    save_heads,
    verify_ledger,
)
from untaken.ledger.journal import journal_path

Patch = pytest.MonkeyPatch

CALLS = ("write", "fsync", "truncate", "rename", "unlink")
DISK_CALLS_OF_AN_APPEND = 12
LINES_WRITTEN, HEADS_TO_BE_MOVED = 4, 7
"""Which of them is under way."""
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Crash(BaseException):
    """The process is gone."""


class FailingDisk:
    """Fails the N-th disk call and every one after it; a failing write writes `torn` of its bytes."""

    def __init__(self, fail_at: int, torn: float, error: Callable[[], BaseException], patch: Patch):
        self.calls = 0
        self._fail_at = fail_at
        self._torn = torn
        self._error = error
        for name in CALLS:
            patch.setattr(disk, name, self._failing(name, getattr(os, REAL[name])))

    def _failing(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls += 1
            if self.calls < self._fail_at:
                return real(*arguments)
            if name == "write" and self.calls == self._fail_at and self._torn:
                descriptor, data = arguments
                real(descriptor, data[: int(len(data) * self._torn)])
            raise self._error()

        return call


REAL = {"write": "write", "fsync": "fsync", "truncate": "ftruncate", "rename": "replace", "unlink": "unlink"}
NOTES = [Draft(ReviewNote, {"author": "ann", "text": "n" * size}, NOON) for size in (3, 300)]


def finished_ledger(folder: Path) -> Path:
    path = folder / "a.jsonl"
    run, other = a_run("r1").call("x").finish(), a_run("r2").finish()
    path.write_bytes(run.ledger() + other.ledger())
    save_heads(heads_path(path), {"r1": run.head, "r2": other.head})
    return path


def crash_in(work: Callable[[], object], fail_at: int, torn: float, patch: Patch) -> bool:
    """Run `work` on a failing disk; false when it ended before the failing call."""
    with patch.context() as inside:
        FailingDisk(fail_at, torn, Crash, inside)
        try:
            work()
        except Crash:
            return True
    return False


def points(
    work: Callable[[Path], Callable[[], object]],
    tmp_path: Path,
    patch: Patch,
    tears: Sequence[float] = (0.0, 0.5, 1.0),
) -> Iterator[Path]:
    """The folder after a crash at each disk call that `work` makes, torn writes in several ways."""
    for torn in tears:
        for fail_at in range(1, 500):
            folder = tmp_path / f"{torn}-{fail_at}"
            folder.mkdir()
            crashed = crash_in(work(folder), fail_at, torn, patch)
            yield folder / "a.jsonl"
            if not crashed:
                assert fail_at > 5
                break


def counted(path: Path) -> dict[str, tuple[str, int | None]]:
    """Of each run: its verdict, and its events."""
    return {f.run_id: (f.verdict, f.head and f.head.events) for f in verify_ledger(path)}


@pytest.mark.parametrize("fsync", ["always", "close", "never"])
def test_an_append_is_whole_or_absent_wherever_the_crash_comes(fsync, tmp_path, monkeypatch) -> None:
    def work(folder: Path) -> Callable[[], object]:
        path = finished_ledger(folder)
        return lambda: append_events(path, "r1", NOTES, fsync=fsync)

    for path in points(work, tmp_path, monkeypatch):
        before = counted(path)
        assert before["r2"] == ("INTACT", 2)
        assert before["r1"] in (("INTACT", 4 - 1), ("INTACT", 5)), path.parent.name
        recover(path)
        assert counted(path) == before
        assert not journal_path(path).exists()
        assert len(path.read_bytes().splitlines()) == before["r1"][1] + 2
        append_events(path, "r1", NOTES)
        assert {found.verdict for found in verify_ledger(path)} == {"INTACT"}


def test_a_living_agent_loses_no_acknowledged_event(tmp_path: Path, monkeypatch: Patch) -> None:
    acknowledged: dict[Path, int] = {}

    def work(folder: Path) -> Callable[[], object]:
        path = folder / "a.jsonl"
        acknowledged[path] = 0

        def run_agent() -> None:
            ledger = LedgerWriter(path, clock=lambda: NOON)
            run = ledger.start(run_id="r", agent="a", task_id="t")
            acknowledged[path] += 1
            for n in range(4):
                if n == 2:
                    ledger.checkpoint()
                run.write(Message, role="user", content="x" * 50)
                acknowledged[path] += 1
            ledger.close()

        return run_agent

    for path in points(work, tmp_path, monkeypatch):
        runs = read_ledger(path, strict=False)[0]
        count = len(runs[0].events) if runs else 0
        assert acknowledged[path] <= count <= acknowledged[path] + 1, path.parent.name
        assert all(run.integrity.verdict == "INTACT" for run in runs)
        with LedgerWriter(path, clock=lambda: NOON) as ledger:
            if count:
                ledger.write(Message, "r", role="user", content="on we go")
            else:
                ledger.start(run_id="r", agent="a", task_id="t")
        assert [(f.verdict, f.head and f.head.events) for f in verify_ledger(path)] == [("INTACT", count + 1)]


@pytest.mark.parametrize("first", range(1, DISK_CALLS_OF_AN_APPEND + 1))
def test_recovering_may_itself_be_interrupted_anywhere(first, tmp_path, monkeypatch) -> None:
    def work(folder: Path) -> Callable[[], object]:
        path = finished_ledger(folder)
        append = lambda: append_events(path, "r1", NOTES)  # noqa: E731
        assert crash_in(append, first, 0.5, monkeypatch)

        def recover_twice() -> None:
            recover(path)
            append_events(path, "r2", NOTES)

        return recover_twice

    for path in points(work, tmp_path, monkeypatch, (0.5,)):
        recover(path)
        assert {found.verdict for found in verify_ledger(path)} == {"INTACT"}, path.parent.name


def test_a_disk_error_is_passed_on_and_closes_the_writer(tmp_path: Path, monkeypatch: Patch) -> None:
    path = finished_ledger(tmp_path)
    ledger = LedgerWriter(path)
    with monkeypatch.context() as inside:
        FailingDisk(2, 0.5, lambda: OSError(28, "No space left on device"), inside)
        with pytest.raises(OSError, match="No space"):
            ledger.append("r1", NOTES)
    with pytest.raises(UntakenError) as caught:
        ledger.append("r1", NOTES)
    assert caught.value.code == "ledger-closed"
    ledger.close()
    assert {found.verdict for found in verify_ledger(path)} == {"INTACT"}
    assert [finding.code for finding in recover(path)] == ["ledger-append-undone"]
    append_events(path, "r1", NOTES)
    assert {found.verdict for found in verify_ledger(path)} == {"INTACT"}


def test_an_interrupted_append_is_named_by_readers_and_by_the_next_writer(tmp_path, monkeypatch) -> None:
    path = finished_ledger(tmp_path)
    assert crash_in(lambda: append_events(path, "r1", NOTES), LINES_WRITTEN, 0.5, monkeypatch)
    _, findings = read_ledger(path, strict=False)
    assert [finding.code for finding in findings] == ["ledger-interrupted-append"]
    with LedgerWriter(path) as ledger:
        assert [finding.code for finding in ledger.findings] == ["ledger-append-undone"]


@pytest.mark.parametrize("harm", ["no intent", "other lines"])
def test_a_ledger_longer_than_its_head_without_an_intent_is_altered(harm, tmp_path, monkeypatch) -> None:
    """An intent does not excuse other lines."""
    path = finished_ledger(tmp_path)
    assert crash_in(lambda: append_events(path, "r1", NOTES), HEADS_TO_BE_MOVED, 0.0, monkeypatch)
    assert verify_ledger(path)[0].verdict == "INTACT"
    if harm == "no intent":
        journal_path(path).unlink()
        found = verify_ledger(path)[0]
        assert (found.verdict, found.line) == ("ALTERED", 6)
        assert "continues after" in found.reason
    else:
        data = path.read_bytes()
        path.write_bytes(data[:-400] + data[-400:].replace(b"nnnn", b"yyyy", 1))
        assert verify_ledger(path)[0].verdict == "ALTERED"


TORN = {
    "no heads at all": (lambda data, heads: (data[:-30], {}), 2),
    "heads that do not count the torn line": (lambda data, heads: (data + data[-50:-20], heads), 3),
    "heads that count it": (lambda data, heads: (data[:-30], heads), None),
}


@pytest.mark.parametrize(("tear", "events"), TORN.values(), ids=TORN)
def test_a_torn_last_line_is_removed_and_named_where_nobody_counted_it_else_kept_and_refused(
    tear: Any, events: int | None, tmp_path: Path
) -> None:
    run = a_run("r").call("x").finish()
    path = tmp_path / "a.jsonl"
    data, heads = tear(run.ledger(), {"r": run.head})
    path.write_bytes(data)
    save_heads(heads_path(path), heads)
    if events is None:
        with pytest.raises(UntakenError) as caught:
            LedgerWriter(path)
        assert caught.value.code == "ledger-torn-line"
        assert path.read_bytes() == data
        return
    with LedgerWriter(path) as ledger:
        assert [finding.code for finding in ledger.findings] == ["ledger-torn-line"]
        assert ledger.head("r").events == events
    assert not verify_ledger(path)[0].broken


AGENT = """
import sys
from untaken.ledger import LedgerWriter, Message
ledger = LedgerWriter(sys.argv[1], fsync=sys.argv[2])
run = ledger.start(run_id=sys.argv[3], agent="a", task_id="t")
while True:
    event = run.write(Message, role="user", content="x" * 200)
    print(event.seq, flush=True)
    if event.seq % 7 == 0:
        ledger.checkpoint()
"""


def test_whenever_a_writing_process_is_killed_no_acknowledged_event_is_lost(tmp_path, request) -> None:
    """Kill after kill on one ledger, each process continuing what the one before it left behind."""
    path, acknowledged, moment = tmp_path / "a.jsonl", dict[str, int](), random.Random(25)
    for n in range(200 if request.config.getoption("--slow") else 15):
        run_id, policy = f"r{n}", ("always", "close", "never")[n % 3]
        command = [sys.executable, "-c", AGENT, str(path), policy, run_id]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as agent:
            assert agent.stdout
            agent.stdout.readline()
            time.sleep(moment.uniform(0, 0.02))
            agent.kill()
            acknowledged[run_id] = int((b"1\n" + agent.stdout.read()).split(b"\n")[-2])
        runs = {run.run_id: run for run in read_ledger(path)}
        assert {run.integrity.verdict for run in runs.values()} == {"INTACT"}
        written = {run_id: len(run.events) for run_id, run in runs.items()}
        assert all(written[run] in (seq + 1, seq + 2) for run, seq in acknowledged.items()), written
        recover(path)
        assert {run.run_id: run.events for run in read_ledger(path)} == {
            r.run_id: r.events for r in runs.values()
        }
