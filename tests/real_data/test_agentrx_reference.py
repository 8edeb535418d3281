"""AgentRx: runs, successes and the labelled root causes, as computed elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from real_records import Converted

from untaken.ledger import ReviewNote, Verdict


def test_runs_successes_and_labels_are_all_there(
    converted: Callable[[str, str], Converted], reference: dict[str, Any]
) -> None:
    """One label speaks of a task whose run is not among these."""
    runs, want = converted("agentrx", "agentrx").runs, reference["agentrx"]
    assert (len(runs), sum(run.success is True for run in runs)) == (want["runs"], want["successes"])
    tasks = {run.task_id.rpartition("-")[2]: run for run in runs}
    roots = {task: root for task, root in want["root_causes"].items() if task in tasks}
    assert len(roots) == want["labelled"] - 1
    for task, root in roots.items():
        (verdict,) = [e for e in tasks[task].events if isinstance(e, Verdict)]
        notes = [e for e in tasks[task].events if isinstance(e, ReviewNote)]
        assert verdict.sub_goal == f"work of {root['agent']}"
        assert (verdict.reason or "").startswith(root["category"])
        assert len(notes) == root["failures"] - 1
