"""Failure modes by agent, task, sub-goal and version, and against successful runs."""

from __future__ import annotations

import pytest
from analysed import a_read_run, read, the_read
from builders import a_graph, a_run

from untaken.analysis.failure_modes.pivot import pivot_modes
from untaken.analysis.failure_modes.reading import NO_VERSION, WHOLE_RUN, By
from untaken.ledger import ModeAssignment

GROUPS: dict[By, tuple[str, ...]] = {
    "version": ("1.4", NO_VERSION),
    "model": ("m1", "no model"),
}


@pytest.mark.parametrize("by", GROUPS)
def test_runs_are_grouped_by_what_their_ledger_says(by: By) -> None:
    first = a_read_run("r1", "loop", agent="ada", task="t1", model="m1", metadata={"version": "1.4"})
    pivot = pivot_modes(the_read([first, a_read_run("r2", agent="bob", task="t2", note=True)]), by)
    assert pivot.groups == GROUPS[by]
    assert [cell.count for cell in pivot.cells] == [1, 0]
    assert pivot.cells[0].runs == (first.digest,)


def test_what_is_marked_as_reviewed_was_read() -> None:
    runs = [a_read_run("r1", "loop"), a_read_run("unread")]
    assert pivot_modes(the_read(runs, reviewed=[runs[1].digest]), "agent").totals[0].n == 2


def test_a_mode_at_an_event_belongs_to_the_sub_goal_that_the_event_serves() -> None:
    graph = a_graph("find", "pay", "close")
    builder = (
        a_run("r1").call("search", "find", ok=True).call("charge", "pay", ok=False).finish(success=False)
    )
    for mode, at in (("at the search", 1), ("at its answer", 2), ("at the charge", 3), ("before all", 0)):
        builder.add(ModeAssignment, mode=mode, by="human:ann", event=at)
    builder.add(ModeAssignment, mode="named", by="human:ann", sub_goal="close")
    builder.add(ModeAssignment, mode="gone", by="human:ann", sub_goal="not in the graph")
    (one,) = the_read([read(builder)], graph)
    assert one.modes == {
        ("at the search", "find"),
        ("at its answer", "find"),
        ("at the charge", "pay"),
        ("before all", WHOLE_RUN),
        ("named", "close"),
        ("gone", WHOLE_RUN),
    }
    assert pivot_modes([one], "sub_goal").groups == ("close", "find", "pay", WHOLE_RUN)
