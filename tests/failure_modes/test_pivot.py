"""Failure modes by agent, task, sub-goal and version, and against successful runs."""

from __future__ import annotations

import pytest
from analysed import a_read_run, read, the_read
from builders import a_graph, a_run

from untaken.analysis.failure_modes.contrast import contrast_modes
from untaken.analysis.failure_modes.pivot import pivot_modes
from untaken.analysis.failure_modes.reading import NO_VERSION, WHOLE_RUN, By
from untaken.errors import Unscored, number
from untaken.ledger import ModeAssignment
from untaken.stats.rates import wilson


def test_a_cell_counts_each_failed_run_once_however_often_the_mode_was_seen_in_it() -> None:
    twice = a_run("r1", task="t1").call("look", ok=False).finish(success=False)
    twice.add(ModeAssignment, mode="loop", by="human:ann").add(ModeAssignment, mode="loop", by="human:bob")
    runs = [twice.run(), a_read_run("r2", task="t2", note=True), a_read_run("r3", "loop", ok=True)]
    (cell,) = pivot_modes(the_read(runs), "agent").cells
    assert (cell.mode, cell.group, cell.count, cell.n) == ("loop", "agent", 1, 2)
    assert cell.runs == (runs[0].digest,)
    assert (cell.low, cell.high) == pytest.approx(wilson(1, 2))


def test_a_run_that_nobody_read_is_in_no_rate() -> None:
    runs = [a_read_run("r1", "loop", task="t1"), a_read_run("unread", task="t2")]
    assert pivot_modes(the_read(runs), "agent").totals[0].n == 1
    reviewed = the_read(runs, reviewed=[runs[1].digest])
    assert pivot_modes(reviewed, "agent").totals[0].n == 2


def test_a_run_without_an_outcome_counts_as_a_failure_and_in_no_contrast() -> None:
    runs = the_read([a_read_run("r1", "loop", ok=None)])
    assert pivot_modes(runs, "task").failed == 1
    assert contrast_modes(runs) == ()


GROUPS: list[tuple[By, tuple[str, ...]]] = [
    ("agent", ("ada", "bob")),
    ("task", ("t1", "t2")),
    ("version", ("1.4", NO_VERSION)),
    ("model", ("m1", "no model")),
]


@pytest.mark.parametrize(("by", "want"), GROUPS)
def test_runs_are_grouped_by_what_their_ledger_says(by: By, want: tuple[str, ...]) -> None:
    runs = [
        a_read_run("r1", "loop", agent="ada", task="t1", model="m1", metadata={"version": "1.4"}),
        a_read_run("r2", agent="bob", task="t2", note=True),
    ]
    pivot = pivot_modes(the_read(runs), by)
    assert pivot.groups == want
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


def test_repeats_of_a_task_widen_the_interval() -> None:
    alike = [
        a_read_run(f"r{n}", *(["loop"] if n < 8 else []), note=True, task=f"t{n // 4}") for n in range(16)
    ]
    apart = [a_read_run(f"r{n}", *(["loop"] if n < 8 else []), note=True, task=f"t{n}") for n in range(16)]
    one, other = (pivot_modes(the_read(runs), "agent").cells[0] for runs in (alike, apart))
    assert (one.count, one.n) == (other.count, other.n)
    assert number(one.low) < number(other.low)
    assert number(one.high) > number(other.high)


def test_a_mode_that_occurs_as_often_in_successes_of_the_same_tasks_shows_no_difference() -> None:
    runs = [
        a_read_run(f"{task}-{ok}-{n}", "chatty", *([] if ok else ["wrong order"]), ok=ok, task=f"t{task}")
        for task in range(6)
        for ok in (True, False)
        for n in range(2)
    ]
    harmless, harmful = contrast_modes(the_read(runs))
    assert (harmless.mode, harmless.difference, harmless.p) == ("chatty", 0.0, 1.0)
    assert harmless.words == "no difference shown"
    assert (harmful.mode, harmful.difference) == ("wrong order", 1.0)
    assert (harmful.k1, harmful.n1, harmful.k0, harmful.n0, harmful.tasks) == (12, 12, 0, 12, 6)
    assert number(harmful.p) < 0.001
    assert harmful.words == "more often in failures"


def test_of_many_modes_one_that_differs_as_by_chance_shows_no_difference() -> None:
    others = ["chatty", "loop", "off-task", "slow"]
    failures = [a_read_run(f"f{n}", "wrong order", *others) for n in range(5)]
    runs = [*failures, *(a_read_run(f"s{n}", *others, ok=True) for n in range(3))]
    last = contrast_modes(the_read(runs))[-1]
    assert (last.mode, last.p, last.q) == ("wrong order", pytest.approx(1 / 56), pytest.approx(5 / 56))
    assert last.words == "no difference shown"


def test_a_mode_of_hard_tasks_is_not_taken_for_one_that_harms() -> None:
    """Pooled it is in 8 of 10 failures and 2 of 10 successes; inside each task it makes no difference."""
    hard = [a_read_run(f"h{n}", "slow", ok=n >= 8, task="hard") for n in range(10)]
    easy = [a_read_run(f"e{n}", ok=n >= 2, task="easy", note=True) for n in range(10)]
    (found,) = contrast_modes(the_read([*hard, *easy]))
    assert (found.in_failed, found.failed, found.in_successes, found.successes) == (8, 10, 2, 10)
    assert (found.difference, found.p) == (0.0, 1.0)


def test_without_a_task_of_both_outcomes_the_contrast_is_unscored() -> None:
    runs = [a_read_run("f", "loop", task="t1"), a_read_run("s", "loop", ok=True, task="t2")]
    (found,) = contrast_modes(the_read(runs))
    assert (found.in_failed, found.in_successes) == (1, 1)
    assert isinstance(found.difference, Unscored)
    assert isinstance(found.p, Unscored)
