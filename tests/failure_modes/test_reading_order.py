"""Which run to read next, and how much is still unseen."""

from __future__ import annotations

import pytest
from analysed import NO_GRAPH, a_read_run, the_read
from builders import a_graph, a_run
from hypothesis import given
from hypothesis import strategies as st

from untaken.analysis.failure_modes.reading_order import (
    judge_disagreements,
    random_draw,
    random_order,
    reading_order,
)
from untaken.analysis.failure_modes.saturation import saturation
from untaken.analysis.failure_modes.shapes import error_kind, run_shape, shapes_of
from untaken.scoring import score_run
from untaken.stats import Unseen

KINDS = {
    "Error: order #W123-45 not found": "error: order # not found",
    "Timeout after 30s at 2026-01-02T10:00:00Z\nTraceback …": "timeout after # at #",
    "\n\n  No such file: /home/ann/x/y.txt": "no such file: #",
    "user 'Ann Lee' is unknown": "user # is unknown",
    "id 6f1ed002ab5595859014ebf0951522d9 is gone": "id # is gone",
    '{"error": "order 17 not found"}': '{"error": "order # not found"}',
    "": "",
}


@pytest.mark.parametrize("text", KINDS)
def test_ids_and_numbers_are_no_part_of_the_kind_of_an_error(text: str) -> None:
    assert error_kind(text) == KINDS[text]


def test_a_shape_is_the_states_of_sub_goals_and_the_errors_between_in_order_of_time() -> None:
    checks = {name: {"tool_call": {"name": name, "match": "subset"}} for name in ("find", "pay", "close")}
    graph = a_graph(*({"id": name, "check": check} for name, check in checks.items()))
    built = a_run("r1").call("find").observe("no order 12", ok=False, call_id="c1")
    built.call("find").observe("no order 13", ok=False, call_id="c2").call("find", ok=True)
    run = built.call("pay", ok=False).finish(success=False).run()
    assert run_shape(run, score_run(run, graph)) == (
        "find: completed",
        "error: find: no order #",
        "pay: attempted",
        "error: pay: ",
        "close: skipped",
        "failed",
    )


def test_runs_that_differ_in_ids_alone_have_one_shape_and_a_flood_of_errors_has_a_small_one() -> None:
    made = (a_run(f"r{n}", task=f"t{n}").call("find").observe(f"no order {n}", ok=False) for n in range(3))
    assert len({run_shape(one.finish(success=False).run(), NO_GRAPH) for one in made}) == 1
    builder = a_run("r1")
    for n in range(500):
        builder.call("look").observe(f"error {chr(97 + n % 26)}", ok=False)
    run = builder.finish(success=False).run()
    assert len(shapes_of([run], {run.digest: NO_GRAPH})[run.digest]) <= 201


def test_one_run_of_each_unseen_shape_comes_first_then_disagreements_then_the_rest() -> None:
    shapes = {name: (name[0],) for name in ("a1", "b1", "b2", "c1", "c2")}
    differ = {"c2": ["pay"], "c1": []}
    found = reading_order(list(shapes), shapes | {"seen": ("c",)}, read=["seen"], disagreements=differ)
    assert [(one.run, one.why) for one in found] == [
        ("b1", "unseen shape"),
        ("a1", "unseen shape"),
        ("c2", "judge and people disagree"),
        ("b2", "another of a shape"),
        ("c1", "another of a shape"),
    ]
    assert found[0].alike == 2


def test_why_a_run_comes_first_says_how_many_are_like_it_and_disagreements_are_counted() -> None:
    for alike, words in ((1, ""), (2, "; 1 other like it"), (1_235, "; 1,234 others like it")):
        shapes = {f"r{n}": () for n in range(alike)}
        assert reading_order(list(shapes), shapes)[0].words == f"no run like it was read{words}"
    known, differ = dict.fromkeys(["read", "one", "two"], ()), {"one": ["a"], "two": ["a", "b"]}
    found = reading_order(["one", "two"], known, read=["read"], disagreements=differ)
    words = [f"judge and people disagree on {n}" for n in ("2 sub-goals", "1 sub-goal")]
    assert [one.words for one in found] == words  # the most first


def test_a_judge_and_a_person_who_differ_make_a_run_worth_reading() -> None:
    def judged(name: str, *, judge: bool) -> object:
        return a_run(name).finish().verdict("pay", True).verdict("pay", judge, by="judge:m").run()

    parted, agreed = judged("r1", judge=False), judged("r2", judge=True)
    assert judge_disagreements([parted, agreed]) == {parted.digest: ("pay",)}  # type: ignore[list-item, attr-defined]


@given(st.sets(st.text(min_size=1, max_size=4), min_size=1, max_size=30), st.data())
def test_a_draw_holds_no_run_twice_and_reading_along_it_goes_on_where_it_stopped(runs, data) -> None:
    order = random_order(runs)
    assert sorted(order) == sorted(runs)
    stopped = data.draw(st.integers(0, len(order)))
    by_hand = order[stopped + 1 :][-1:]  # no part of the random draw
    draw = random_draw(runs, [*order[:stopped], *by_hand])
    assert draw.read == order[:stopped]
    assert draw.following == (order[stopped] if stopped < len(order) else None)
    assert draw.outside == len(by_hand)


def test_every_run_is_drawn_first_about_as_often() -> None:
    firsts = [random_order("abcd", seed=str(seed))[0] for seed in range(400)]
    assert all(70 <= firsts.count(run) <= 130 for run in "abcd")


def test_the_curve_of_modes_ends_with_all_failed_runs_that_were_read() -> None:
    runs = [a_read_run("r1", "loop", task="t1"), a_read_run("r2", "loop", "wrong order", task="t2")]
    runs += [a_read_run("r3", task="t3", note=True), a_read_run("s1", "chatty", ok=True, task="t4")]
    found = saturation(the_read(runs), unread=7)
    assert (found.unread, found.successes, [read for read, _ in found.curve]) == (7, 1, [0, 1, 2, 3])
    assert [modes for _, modes in found.curve] == pytest.approx([0, 1, 5 / 3, 2])


def test_a_mode_counts_once_a_task_and_more_runs_of_the_tasks_are_another_question() -> None:
    runs = [
        a_read_run(f"r{task}{repeat}", f"mode {task}", task=f"t{task}")
        for task in range(8)
        for repeat in "abc"
    ]
    found = saturation(the_read(runs), unread=5)
    assert (found.unseen.samples, found.unseen.once, found.unseen.share) == (8, 8, 1.0)
    assert isinstance(found.again, Unseen)
    assert (found.again.samples, found.again.share) == (24, 0.0)
    assert "At least 95% is seen" not in found.words


def test_95_percent_is_said_to_be_seen_only_where_the_upper_end_says_so() -> None:
    few, many = (
        saturation(the_read(a_read_run(f"r{at}", "a", "b", task=f"t{at}") for at in range(tasks)), unread=5)
        for tasks in (6, 120)
    )
    assert few.unseen.share == many.unseen.share == 0
    assert "At least 95% is seen." not in few.words
    assert "At least 95% is seen." in many.words
    none = "No failed run has a failure mode yet. Read one and name what failed."
    assert [saturation((), unread=n).words for n in (3, 0)] == [none, "No run here failed."]
