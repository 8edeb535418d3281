"""Failure modes by agent, task, sub-goal, version and period, against successes; and their figures."""

from __future__ import annotations

import pytest
from analysed import a_read_run, read, the_read
from builders import a_graph, a_run

from components import figures
from untaken.analysis.failure_modes.contrast import contrast_modes
from untaken.analysis.failure_modes.pivot import pivot_modes
from untaken.analysis.failure_modes.reading import NO_VERSION, WHOLE_RUN, By, ReadRun
from untaken.analysis.failure_modes.saturation import saturation
from untaken.analysis.failure_modes.trend import mode_trend
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


NAMES = {"loop": "<b>Loop</b> %{x}", "wordy": "Wordy"}


def some_runs() -> tuple[ReadRun, ...]:
    runs = [
        a_read_run("r1", "loop", agent="ada", task="t1", day=1),
        a_read_run("r2", "loop", "wordy", agent="bob", task="t1", day=1),
        a_read_run("r3", agent="bob", task="t2", note=True, day=9),
        a_read_run("r4", "wordy", agent="bob", ok=True, task="t1", day=9),
    ]
    return the_read(runs)


@pytest.mark.parametrize("dark", [False, True])
def test_a_cell_says_its_counts_and_carries_its_mode_and_the_place_of_its_group(dark: bool) -> None:
    pivot = pivot_modes(some_runs(), "agent")
    (marks,) = figures.mode_matrix(pivot, NAMES, marked=("loop", "ada"), dark=dark).data
    assert list(marks.text) == ["1/2", "1/1", "1/2", "0/1"]
    carried = [one[0] for one in marks.customdata]  # the page takes the first of what a mark carries
    assert carried == ["loop 0", "loop 1", "wordy 0", "wordy 1"]
    assert pivot.groups == ("bob", "ada")


def test_names_of_modes_are_no_markup_in_any_figure() -> None:
    read = some_runs()
    drawn = [
        figures.mode_matrix(pivot_modes(read, "task"), NAMES),
        figures.mode_contrasts(contrast_modes(read), NAMES),
        figures.mode_over_time(mode_trend(read), "loop"),
        figures.saturation_curve(saturation(read, unread=0)),
    ]
    for figure in drawn:
        assert "<b>Loop" not in figure.to_json().replace("\\u003c", "<")


def test_one_mode_is_not_several_and_no_tick_is_at_half_of_one() -> None:
    read = the_read([a_read_run("r1", "loop", agent="ada", task="t1", day=1)])
    one = figures.saturation_curve(saturation(read, unread=0))
    assert one.layout.annotations[0].text == "1 mode in 1 run"
    assert (one.layout.xaxis.dtick, one.layout.yaxis.dtick) == (1, 1)


def test_the_course_has_a_mark_for_each_period_with_its_counts() -> None:
    trend = mode_trend(some_runs())
    (line,) = figures.mode_over_time(trend, "loop").data
    assert trend.unit == "day"
    assert (list(line.x), list(line.y)) == (["2026-01-02", "2026-01-10"], [1.0, 0.0])
    assert [words.strip() for words in line.text] == ["2/2", "0/1"]


SPANS = [(0, 0, "day"), (0, 13, "day"), (0, 14, "week"), (0, 91, "week"), (0, 98, "month"), (0, 599, "year")]
SPANS += [(0.95, 14.05, "week")]
"""A period counts however little of it is between the first run and the last."""


@pytest.mark.parametrize(("first", "last", "unit"), SPANS)
def test_periods_are_the_finest_of_which_there_are_at_most_14(first: float, last: float, unit: str) -> None:
    runs = [a_read_run("r1", "loop", task="a", day=first), a_read_run("r2", "loop", task="b", day=last)]
    undated = a_read_run("r3", "loop", day=-26 * 365)  # in no period
    trend = mode_trend(the_read([*runs, undated]))
    assert (trend.unit, trend.undated) == (unit, 1)
