"""Failure modes by agent, task, sub-goal and version, and against successful runs."""

from __future__ import annotations

import pytest
from analysed import a_read_run, read, the_read
from builders import a_graph, a_run

from untaken.analysis.failure_modes.contrast import contrast_modes
from untaken.analysis.failure_modes.pivot import pivot_modes
from untaken.analysis.failure_modes.reading import NO_VERSION, WHOLE_RUN, By
from untaken.ledger import ModeAssignment
from untaken.stats.rates import wilson


def test_a_cell_counts_each_failed_run_that_was_read_once_however_often_the_mode_was_seen_in_it() -> None:
    twice = a_run("r1", task="t1").call("look", ok=False).finish(success=False)
    twice.add(ModeAssignment, mode="loop", by="human:ann").add(ModeAssignment, mode="loop", by="human:bob")
    unread = a_read_run("unread", task="t3")
    runs = [twice.run(), a_read_run("r2", task="t2", note=True), a_read_run("r3", "loop", ok=True), unread]
    (cell,) = pivot_modes(the_read(runs), "agent").cells
    assert (cell.mode, cell.group, cell.count, cell.n) == ("loop", "agent", 1, 2)
    assert cell.runs == (runs[0].digest,)
    assert (cell.low, cell.high) == pytest.approx(wilson(1, 2))
    assert pivot_modes(the_read(runs, reviewed=[unread.digest]), "agent").totals[0].n == 3


GROUPS: dict[By, tuple[str, ...]] = {
    "agent": ("ada", "bob"),
    "task": ("t1", "t2"),
    "version": ("1.4", NO_VERSION),
    "model": ("m1", "no model"),
}


@pytest.mark.parametrize("by", GROUPS)
def test_runs_are_grouped_by_what_their_ledger_says(by: By) -> None:
    first = a_read_run("r1", "loop", agent="ada", task="t1", model="m1", metadata={"version": "1.4"})
    pivot = pivot_modes(the_read([first, a_read_run("r2", agent="bob", task="t2", note=True)]), by)
    assert pivot.groups == GROUPS[by]
    assert [cell.count for cell in pivot.cells] == [1, 0]


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


def test_of_many_modes_one_that_differs_as_by_chance_shows_no_difference() -> None:
    others = ["chatty", "loop", "off-task", "slow"]
    failures = [a_read_run(f"f{n}", "wrong order", *others) for n in range(5)]
    runs = [*failures, *(a_read_run(f"s{n}", *others, ok=True) for n in range(3))]
    *_, last = contrasts = contrast_modes(the_read(runs))
    assert (last.mode, last.p, last.q) == ("wrong order", pytest.approx(1 / 56), pytest.approx(5 / 56))
    assert (last.k1, last.n1, last.k0, last.n0, last.tasks) == (5, 5, 0, 3, 1)
    assert {one.words for one in contrasts} == {"no difference shown"}
