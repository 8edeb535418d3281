"""A crash at every disk call of the workspace: a version or a backup is there whole, or not at all."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import a_run

from untaken.ledger import Draft, Verdict, disk
from untaken.plans import PlanGraph, parse_graph
from untaken.workspace import Incoming, KeptTrace, Workspace
from untaken.workspace.restoring import restore_workspace
from untaken.workspace.versions import Saved

TEXT = b"schema: untaken.plan/1\nid: desk\nsub_goals:\n- {id: look, check: {outcome: true}}\n"
CALLS = {os: ("fsync", "replace", "open"), disk: ("fsync", "rename")}


class Crash(BaseException):
    """The process is gone."""


def graph(title: str) -> PlanGraph:
    return msgspec.structs.replace(parse_graph(TEXT, name="desk.plan.yaml"), title=title)


class FailingDisk:
    """Fails the N-th call of the disk and every one after it."""

    def __init__(self, fail_at: int, patch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.fail_at = fail_at
        for room, names in CALLS.items():
            for name in names:
                patch.setattr(room, name, self.failing(getattr(room, name)))

    def failing(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls >= self.fail_at:
                raise Crash
            return real(*arguments, **named)

        return call


def crashes(work: Callable[[], object], patch: pytest.MonkeyPatch) -> Iterator[int]:
    """Runs `work` with the first, second … call of the disk failing, until none fails."""
    for fail_at in count(1):
        with patch.context() as failed:
            FailingDisk(fail_at, failed)
            try:
                return work()
            except Crash:
                pass
        yield fail_at


def test_a_version_is_saved_whole_or_not_at_all_wherever_a_crash_comes(tmp_path, monkeypatch) -> None:
    with Workspace(tmp_path / "w") as workspace:
        workspace.save_graph(graph("one"), author="ann", message="", based_on=None)

        def work() -> None:
            saved = workspace.save_graph(graph("two"), author="ben", message="", based_on=1)
            assert isinstance(saved, Saved)

        points = 0
        for points in crashes(work, monkeypatch):  # noqa: B007
            assert [v.version for v in workspace.graph_history("desk")] == [1]
            assert [(g.version, g.title) for g in workspace.graph_set().graphs] == [(1, "one")]
            assert workspace.diagnose().healthy
        assert points >= 3
        assert [(g.version, g.title) for g in workspace.graph_set().graphs] == [(2, "two")]
        assert workspace.graph_version("desk", 1) == graph("one")


def test_a_backup_is_there_whole_or_not_at_all_wherever_a_crash_comes(tmp_path, monkeypatch) -> None:
    target = tmp_path / "b.zip"
    with Workspace(tmp_path / "w") as workspace:
        workspace.save_graph(graph("one"), author="ann", message="", based_on=None)
        before = workspace.digest()
        points = 0
        for points in crashes(lambda: workspace.backup(target), monkeypatch):  # noqa: B007
            if target.exists():  # the crash came after its name was given
                with zipfile.ZipFile(target) as archive:
                    assert archive.testzip() is None
                target.unlink()
            assert workspace.digest() == before
        assert points >= 2
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    restore_workspace(target, tmp_path / "again")
    with Workspace(tmp_path / "again") as again:
        assert (again.digest(), again.diagnose().healthy) == (before, True)


def test_a_restore_leaves_nothing_behind_wherever_a_crash_comes(tmp_path, monkeypatch) -> None:
    with Workspace(tmp_path / "w") as workspace:
        workspace.save_graph(graph("one"), author="ann", message="", based_on=None)
        archive, want = workspace.backup(tmp_path / "b.zip").path, workspace.digest()
    again = tmp_path / "again"
    for _ in crashes(lambda: restore_workspace(archive, again), monkeypatch):
        if again.exists():  # the crash came after its name was given
            break
        assert {path.name for path in tmp_path.iterdir() if path.name[0] != "."} == {"b.zip", "w"}
    with Workspace(again) as restored:
        assert restored.digest() == want


pytestmark = pytest.mark.database("sqlite")
PASSED = Draft(Verdict, {"sub_goal": "polite", "passed": True, "by": "human:ann"})


def seen(store: Workspace) -> list[tuple[str, str, int]]:
    """Of each run: its verdict of integrity, and how many verdicts were given here."""
    return [(run.run_id, run.integrity.verdict, len(run.appended_here)) for run in store.read_runs()[0]]


def test_a_trace_is_removed_with_its_ledger_or_not_at_all_wherever_a_crash_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(tmp_path / "w") as store:
        given = [Incoming(name=f"{n}.jsonl", data=a_run(n).finish().ledger(), origin="chat") for n in "abc"]
        added = store.add_all(given)
        traces = [(one.name, one.name.encode(), [one.digest]) for one in added]
        store.keep_traces([KeptTrace(name=n, data=d, kind="chat", results=made) for n, d, made in traces])
        for run in store.read_runs()[0]:
            store.append_events(run, [PASSED])
        before = [(name, "INTACT", 1) for name in "abc"]
        assert seen(store) == before
        second = store.sources("chat")[1].digest
        points = 0
        for points in crashes(lambda: store.remove(second), monkeypatch):  # noqa: B007
            if seen(store) != before:  # the crash came after it was done
                break
            assert store.diagnose().healthy
        assert points >= 3
        assert seen(store) == [("a", "INTACT", 1), ("c", "INTACT", 1)]
        assert store.diagnose().healthy
        store.restore(second)
        assert sorted(seen(store)) == before
