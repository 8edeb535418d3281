"""A crash at every disk call of queueing and applying leaves the old files or the new; again completes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from histories import moment, seen
from test_memory_signals import a_signal

from untaken.counterfactual.memory import (
    PolicyMemory,
    apply_signals,
    fold_in,
    queue_path,
    queue_signals,
    read_queue,
    rebuild_memory,
    verify_memory,
)
from untaken.ledger import disk

REAL = {"write": os.write, "fsync": os.fsync, "rename": os.replace, "unlink": os.unlink}
SIGNALS = [a_signal(n) for n in range(20)]
LATER = moment(100)


class Crash(BaseException):
    """The process is gone."""


def crash_at(call: int, torn: float, work: Callable[[], object], patch: pytest.MonkeyPatch) -> bool:
    """Do the work on a disk of which this call and all after it fail; whether it came to that."""
    calls = 0

    def failing(name: str) -> Callable[..., Any]:
        def instead(*given: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls < call:
                return REAL[name](*given)
            if calls == call and name == "write" and torn:
                REAL[name](given[0], given[1][: int(len(given[1]) * torn)])
            raise Crash

        return instead

    with patch.context() as inside:
        for name in REAL:
            inside.setattr(disk, name, failing(name))
        try:
            work()
        except Crash:
            return True
    return False


def a_memory(folder: Path) -> Path:
    path = folder / "x.memory.jsonl"
    PolicyMemory([seen("r1"), seen("r2", success=0.0)]).save(path)
    return path


def states(work: Callable[[Path], object], prepare: Callable[[Path], object], folder: Path) -> set[bytes]:
    """The bytes of memory and queue before the work and after it, undisturbed."""
    path = a_memory(folder)
    prepare(path)
    before = content(path)
    work(path)
    assert content(path) != before
    return {before, content(path)}


def content(path: Path) -> bytes:
    queue = queue_path(path)
    return path.read_bytes() + b"\n" + (queue.read_bytes() if queue.exists() else b"")


def queue(path: Path) -> object:
    return queue_signals(path, SIGNALS)


def apply(path: Path) -> object:
    return apply_signals(path, everything=True, at=LATER)


def fold(path: Path) -> object:
    return fold_in(path, SIGNALS, clock=lambda: LATER)


def rebuild(path: Path) -> object:
    return rebuild_memory(path, [])


WORK = {"queue": (queue, lambda _: None), "apply": (apply, queue), "fold": (fold, lambda _: None)}
WORK["rebuild"] = (rebuild, fold)


@pytest.mark.parametrize("torn", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", WORK)
def test_wherever_a_crash_comes_there_is_the_old_file_or_the_new_one_and_again_completes(
    name: str, torn: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, prepare = WORK[name]
    (tmp_path / "whole").mkdir()
    wanted = states(work, prepare, tmp_path / "whole")
    for call in range(1, 50):
        folder = tmp_path / str(call)
        folder.mkdir()
        path = a_memory(folder)
        prepare(path)
        crashed = crash_at(call, torn, lambda path=path: work(path), monkeypatch)
        assert content(path) in wanted
        work(path)
        assert content(path) in wanted
        assert len(read_queue(path)) in (0, len(SIGNALS))
        assert verify_memory(path)[1] == ()
        if not crashed:
            break
    assert call > 4


FOREVER = """
import sys
from datetime import UTC, datetime
from histories import moment
from test_memory_signals import a_signal
from untaken.counterfactual.memory import fold_in
for n in range(10**6):
    fold_in(sys.argv[1], [a_signal(n)], clock=lambda: moment(100))
    print(n, flush=True)
"""


def test_a_killed_process_loses_no_signal_that_was_applied(tmp_path: Path) -> None:
    path = tmp_path / "policy.memory.jsonl"
    tests = Path(__file__).parents[1]
    known = os.environ | {"PYTHONPATH": os.pathsep.join([str(tests), str(tests / "memory")])}
    for _ in range(3):
        command = [sys.executable, "-c", FOREVER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=known) as agent:
            assert agent.stdout
            agent.stdout.readline()
            time.sleep(0.05)
            agent.kill()
            done = int(agent.stdout.read().split(b"\n")[-2])
        assert len(PolicyMemory.load(path)) >= done + 1
        assert verify_memory(path)[1] == ()
