"""A crash at every disk call while a ledger is taken out of its bundle: no run and no verdict is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_run
from test_workspace_crashes import crashes

from untaken.ledger import Draft, Verdict
from untaken.workspace import Incoming, KeptTrace, Workspace

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
        store.keep_traces(
            [
                KeptTrace(name=one.name, data=one.name.encode(), kind="chat", results=[one.digest])
                for one in added
            ]
        )
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
