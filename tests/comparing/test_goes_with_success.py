"""Linked to success over all runs of a task: counts on both sides and an exact test."""

from __future__ import annotations

import pytest
from builders import RunBuilder, a_graph, a_run

from untaken.analysis.comparing import OutcomeSplit, align_runs
from untaken.analysis.corpus import score_runs
from untaken.errors import Unscored
from untaken.plans import GraphSet

GRAPH = a_graph(
    {"id": "read", "rules": [{"tool": "read"}], "check": {"tool_call": {"name": "read"}}},
    {"id": "greet", "rules": [{"tool": "greet"}], "check": {"tool_call": {"name": "greet"}}},
    {"id": "nice", "check": {"verdict": True}},
    {"id": "won", "check": {"outcome": True}},
)


def a(n: int, success: bool | None, *tools: str) -> RunBuilder:
    run = a_run(f"r{n}", task="t", task_repeat=n)
    for tool in tools:
        run.call(tool)
    return run.finish(success)


def splits(builders: list[RunBuilder], **asked: object) -> dict[str, OutcomeSplit]:
    runs = [one.run() for one in builders]
    graphs = GraphSet.of([GRAPH])
    found = align_runs("t", runs, score_runs(runs, graphs)[0], graphs, **asked)  # type: ignore[arg-type]
    return {split.key: split for split in found.outcome_splits}


def mixed() -> list[RunBuilder]:
    good = [a(n, True, "read", "greet").verdict("nice", True) for n in range(6)]
    return [*good, *(a(n, False, "greet") for n in range(6, 12)), a(12, None, "read")]


def test_what_separates_success_from_failure_comes_first_with_its_counts() -> None:
    found = splits(mixed())
    first = next(iter(found.values()))
    assert (first.key, first.done_in_successes, first.successes, first.done_in_failures, first.failures) == (
        *("read", 6, 6, 0, 6),
    )
    assert (first.difference, first.p) == (1.0, pytest.approx(2 / 924))
    assert first.p_holm == pytest.approx(2 * 2 / 924)  # of two that could be tested
    assert (found["greet"].difference, found["greet"].p) == (0.0, 1.0)
    assert [key for key, split in found.items() if split.clear] == ["read"]


def test_runs_without_an_outcome_do_not_count_and_unscored_sub_goals_are_counted_apart() -> None:
    found = splits(mixed())
    nice = found["nice"]
    assert (nice.successes, nice.failures, nice.unknown) == (6, 0, 6)
    assert isinstance(nice.p, Unscored)
    assert isinstance(nice.difference, Unscored)
    assert "won" not in found  # the outcome itself decides it
    runs = mixed()
    shown = [run.run().digest for run in (runs[0], runs[6])]
    assert splits(runs, shown=shown)["read"].successes == 6  # all runs of the task count


def test_without_a_failure_nothing_can_be_compared() -> None:
    found = splits([a(1, True, "read"), a(2, True)]).values()
    assert all(isinstance(p, Unscored) for split in found for p in (split.p, split.p_holm))
