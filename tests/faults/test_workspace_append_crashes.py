"""A crash at every disk and database call of an append to a workspace: all its events are there, or none."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import a_run
from sqlalchemy import Engine, event
from test_ledger_crashes import CALLS, NOTES, Crash, FailingDisk

from untaken.ledger import Draft, Head, ReviewNote, disk
from untaken.workspace import Workspace

RUN = a_run("r1").call("x").finish()
LEDGER = RUN.ledger() + a_run("r2").finish().ledger()
BEFORE, AFTER = len(RUN.lines), len(RUN.lines) + len(NOTES)


class FailingStore(FailingDisk):
    """Fails the N-th disk or database call, and every one after it."""

    def _failing(self, name: str, real: Any) -> Any:
        return super()._failing(name, getattr(disk, name))

    def statement(self, *_: Any) -> None:
        """Counts a statement; the failing one never reaches the database."""
        self.calls += 1
        if self.calls >= self._fail_at:
            raise Crash


def crash(workspace: Workspace, fail_at: int, torn: float, patch: pytest.MonkeyPatch) -> bool:
    """Append on what fails; false when it ended before the failing call."""
    run = workspace.read_runs()[0][0]
    with patch.context() as inside:
        failing = FailingStore(fail_at, torn, Crash, inside)
        event.listen(Engine, "before_cursor_execute", failing.statement)
        try:
            workspace.append_events(run, NOTES)
        except Crash:
            return True
        finally:
            event.remove(Engine, "before_cursor_execute", failing.statement)
    return False


def state(workspace: Workspace) -> tuple[int, dict[str, Head]]:
    """How many notes the run has; nothing may be broken, noticed or missing."""
    runs, findings = workspace.read_runs()
    assert ([(run.run_id, run.integrity.verdict) for run in runs], findings) == (
        [("r1", "INTACT"), ("r2", "INTACT")],
        [],
    )
    return len(runs[0].of(ReviewNote)), workspace.heads()


@pytest.mark.parametrize(
    ("torn", "data"),
    [(0.0, LEDGER), (0.5, gzip.compress(LEDGER))],
    ids=["nothing written", "half written, compressed"],
)
def test_wherever_a_crash_comes_all_events_are_there_or_none(
    torn: float, data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    assert set(CALLS) <= set(dir(disk))
    seen = set()
    with Workspace(tmp_path / "before") as workspace:
        workspace.add("a.jsonl", data)
    step = 1 if request.config.getoption("--slow") else 3
    for fail_at in range(1, 200, step):
        folder = shutil.copytree(tmp_path / "before", tmp_path / str(fail_at))
        with Workspace(folder) as workspace:
            crashed = crash(workspace, fail_at, torn, monkeypatch)
            meanwhile, _ = state(workspace)  # a reader before anybody recovers
        with Workspace(folder) as workspace:
            notes, heads = state(workspace)
            assert notes in (meanwhile, len(NOTES))
            assert notes in (0, len(NOTES))
            assert heads["r1"].events == BEFORE + notes
            workspace.append_events(workspace.read_runs()[0][0], NOTES)
            assert state(workspace)[0] == len(NOTES), "what was completed is not written again"
        seen.add(notes)
        if not crashed:
            break
    assert fail_at > 25
    assert seen == {0, len(NOTES)}


def test_a_full_disk_costs_no_run_and_the_next_append_goes_on(tmp_path, monkeypatch) -> None:
    with Workspace(tmp_path) as workspace:
        workspace.add("a.jsonl", LEDGER)
        run = workspace.read_runs()[0][0]
        for fail_at in range(1, 12):
            fresh = [
                Draft(ReviewNote, {"author": "ann", "text": f"{fail_at} {n}"}) for n in range(len(NOTES))
            ]
            with monkeypatch.context() as inside:
                FailingDisk(fail_at, 0.5, lambda: OSError("no space left"), inside)
                with pytest.raises(OSError, match="no space"):
                    workspace.append_events(run, fresh)
            assert state(workspace)[0] % len(NOTES) == 0
        before = state(workspace)[0]
        workspace.append_events(run, NOTES)
        assert state(workspace)[0] - before in (len(NOTES), 2 * len(NOTES))  # the last one may be completed
