"""Loss of power at every disk call: what was not waited for is gone, or is there, in any mixture.

A disk keeps what was synced; of the rest it keeps what it pleases. The calls of a writer are counted, the
power fails at each in turn, and the folder is then put together in every way in which that can leave it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISDIR
from typing import Any

import pytest
from builders import a_run

from untaken.ledger import (
    Draft,
    LedgerWriter,
    Message,
    ReviewNote,
    append_events,
    disk,
    heads_path,
    recover,
    save_heads,
    verify_ledger,
)

Patch = pytest.MonkeyPatch

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOTES = [Draft(ReviewNote, {"author": "ann", "text": "n" * size}, NOON) for size in (3, 300)]
NEVER = 10_000


class PowerLoss(BaseException):
    """Nothing runs any more."""


class Platter:
    """A folder on a disk that promises to keep only what was synced; its power fails at a call."""

    def __init__(self, folder: Path, fail_at: int, patch: Patch) -> None:
        self.folder = folder
        self.calls = 0
        self._fail_at = fail_at
        self._contents: dict[int, bytes] = {}
        self._names: dict[str, int] = {}
        for path in folder.iterdir():
            self._names[path.name] = path.stat().st_ino
            self._contents[path.stat().st_ino] = path.read_bytes()
        for name, real in REAL.items():
            patch.setattr(disk, name, self._failing(name, real))

    def _failing(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls += 1
            if self.calls >= self._fail_at:
                if name == "write" and self.calls == self._fail_at:
                    descriptor, data = arguments
                    real(descriptor, data[: len(data) // 2])
                raise PowerLoss
            done = real(*arguments)
            if name == "fsync":
                self._keep(arguments[0])
            return done

        return call

    def _keep(self, descriptor: int) -> None:
        synced = os.fstat(descriptor)
        here = {path.name: path.stat().st_ino for path in self.folder.iterdir()}
        if S_ISDIR(synced.st_mode):
            self._names = here
        else:
            (name,) = (name for name, inode in here.items() if inode == synced.st_ino)
            self._contents[synced.st_ino] = (self.folder / name).read_bytes()

    def remains(self, into: Path) -> Iterator[Path]:
        """Every folder that may be found when the power is back; the lock file is no matter."""
        here = {p.name: p.stat().st_ino for p in self.folder.iterdir() if not p.name.endswith(".lock")}
        now = {here[name]: (self.folder / name).read_bytes() for name in here}
        for index, names in enumerate((here, self._names)):
            lagging = sorted(n for n, i in names.items() if i in now and now[i] != self._contents.get(i, b""))
            for kept in itertools.product((True, False), repeat=len(lagging)):
                found = into / f"{index}-{''.join(map(str, map(int, kept)))}"
                found.mkdir(parents=True)
                for name, inode in names.items():
                    lost = name in lagging and not kept[lagging.index(name)]
                    synced = self._contents.get(inode, b"")
                    (found / name).write_bytes(synced if lost else now.get(inode, synced))
                yield found


REAL: dict[str, Callable[..., Any]] = {
    "write": os.write, "fsync": os.fsync, "truncate": os.ftruncate, "rename": os.replace, "unlink": os.unlink,
}  # fmt: skip


def remains(
    work: Callable[[Path], object],
    tmp_path: Path,
    patch: Patch,
    prepare: Callable[[Path], object],
) -> Iterator[tuple[int, Path]]:
    """Each folder that a loss of power may leave, at each disk call of `work`, with the call's number."""
    for fail_at in itertools.count(1):
        folder = tmp_path / str(fail_at)
        folder.mkdir()
        prepare(folder)
        with patch.context() as inside:
            platter = Platter(folder, fail_at, inside)
            with suppress(PowerLoss):
                work(folder / "a.jsonl")
        for found in platter.remains(tmp_path / f"{fail_at}-found"):
            yield fail_at, found / "a.jsonl"
        if platter.calls < fail_at:
            assert fail_at > 5
            return


Acknowledged = list[int]
Agent = Callable[[Path, Acknowledged], None]


def sound(path: Path, acknowledged: Acknowledged) -> None:
    with LedgerWriter(path, clock=lambda: NOON, fsync="always") as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t")
        acknowledged[-1] += 1
        for n in range(3):
            if n == 2:
                ledger.checkpoint()
            run.write(Message, role="user", content="x" * 50)
            acknowledged[-1] += 1


def acknowledges_first(path: Path, acknowledged: Acknowledged) -> None:
    """A broken writer: it says that an event is safe before it writes it."""
    with LedgerWriter(path, clock=lambda: NOON, fsync="always") as ledger:
        acknowledged[-1] += 2
        run = ledger.start(run_id="r", agent="a", task_id="t")
        run.write(Message, role="user", content="x" * 50)


def writes_twice(path: Path, acknowledged: Acknowledged) -> None:
    """A broken writer: it repeats what it is not sure of."""
    with LedgerWriter(path, clock=lambda: NOON, fsync="always") as ledger:
        run = ledger.start(run_id="r", agent="a", task_id="t")
        for _ in range(2):
            run.write(Message, role="user", content="x" * 50)
            run.write(Message, role="user", content="x" * 50)
        acknowledged[-1] += 2


def never_syncs(path: Path, acknowledged: Acknowledged) -> None:
    """A broken writer: it waits for no disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "fsync", lambda _descriptor: None)
        sound(path, acknowledged)


def survives(agent: Agent, tmp_path: Path, patch: Patch) -> None:
    """Nothing acknowledged is lost and nothing is there twice, wherever the power fails."""
    acknowledged: Acknowledged = []

    def work(path: Path) -> None:
        acknowledged.append(0)
        agent(path, acknowledged)

    for fail_at, path in remains(work, tmp_path, patch, lambda _: None):
        found = verify_ledger(path) if path.exists() and path.stat().st_size else []
        events = sum(verdict.head.events for verdict in found if verdict.head)
        assert acknowledged[-1] <= events <= acknowledged[-1] + 1, (fail_at, path.parent.name)
        with LedgerWriter(path, clock=lambda: NOON) as ledger:
            if ledger_holds := bool(events):
                ledger.write(Message, "r", role="user", content="on we go")
            else:
                ledger.start(run_id="r", agent="a", task_id="t")
        assert [(f.verdict, f.head and f.head.events) for f in verify_ledger(path)] == [
            ("INTACT", events + 1 if ledger_holds else 1)
        ]


def test_with_fsync_always_the_power_may_fail_anywhere_and_no_acknowledged_event_is_lost(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    survives(sound, tmp_path, monkeypatch)


@pytest.mark.parametrize("broken", [acknowledges_first, writes_twice, never_syncs], ids=lambda f: f.__name__)
def test_the_harness_catches_a_broken_writer(broken: Agent, tmp_path: Path, monkeypatch: Patch) -> None:
    with pytest.raises(AssertionError):
        survives(broken, tmp_path, monkeypatch)


def finished_ledger(folder: Path) -> None:
    run, other = a_run("r1").call("x").finish(), a_run("r2").finish()
    (folder / "a.jsonl").write_bytes(run.ledger() + other.ledger())
    save_heads(heads_path(folder / "a.jsonl"), {"r1": run.head, "r2": other.head})


def test_events_appended_to_a_finished_run_never_make_it_look_tampered_with_after_a_power_loss(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    append = lambda path: append_events(path, "r1", NOTES)  # noqa: E731
    for fail_at, path in remains(append, tmp_path, monkeypatch, finished_ledger):
        before = {f.run_id: (f.verdict, f.head and f.head.events) for f in verify_ledger(path)}
        assert before["r2"] == ("INTACT", 2)
        assert before["r1"] in (("INTACT", 3), ("INTACT", 5)), (fail_at, path.parent.name)
        recover(path)
        assert {f.run_id: (f.verdict, f.head and f.head.events) for f in verify_ledger(path)} == before


@pytest.mark.parametrize("fsync", ["always", "close"])
def test_when_a_ledger_is_closed_the_power_may_fail(fsync: Any, tmp_path: Path, monkeypatch: Patch) -> None:
    with monkeypatch.context() as inside:
        platter = Platter(tmp_path, NEVER, inside)
        with LedgerWriter(tmp_path / "a.jsonl", fsync=fsync) as ledger:
            ledger.start(run_id="r", agent="a", task_id="t").write(Message, role="user", content="x")
    for found in platter.remains(tmp_path / "found"):
        assert [(f.verdict, f.head and f.head.events) for f in verify_ledger(found / "a.jsonl")] == [
            ("INTACT", 2)
        ]
