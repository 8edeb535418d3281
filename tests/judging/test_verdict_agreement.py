"""Agreement of two authors: counts, share and κ by hand, intervals by their formulas."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pytest
from builders import RunBuilder, a_run

from untaken.errors import Unscored
from untaken.judging import verdict_agreement


def judged(task: str, *said: tuple[bool | None, bool | None], agent: str = "x") -> RunBuilder:
    """One run with a pair of opinions a sub-goal: a person's and a judge's."""
    run = a_run(f"{agent} on {task}", agent=agent, task=task).finish()
    for number, (human, judge) in enumerate(said):
        run.verdict(f"s{number}", human, "human:ann").verdict(f"s{number}", judge, "judge:m")
    return run


def table(both: int, only_a: int, only_b: int, neither: int) -> list[tuple[bool, bool]]:
    return (
        [(True, True)] * both
        + [(True, False)] * only_a
        + [(False, True)] * only_b
        + [(False, False)] * neither
    )


def single(pairs: Iterable[tuple[bool, bool]], **more: Any) -> Any:
    """Agreement where every pair is a task of its own."""
    return verdict_agreement([judged(f"t{i}", pair).run() for i, pair in enumerate(pairs)], **more)


def test_share_and_kappa_are_those_of_cohen() -> None:
    found = single(table(20, 5, 10, 15)).overall
    assert (found.n, found.both_met, found.only_a, found.only_b, found.both_not) == (50, 20, 5, 10, 15)
    assert found.agreement == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)


def test_of_independent_pairs_the_interval_is_wider_than_the_published_standard_error() -> None:
    """Fleiss, Cohen and Everitt (1969), for a square table of independent pairs."""
    found = single(table(40, 6, 9, 45)).overall
    n, p = 100, {(1, 1): 0.40, (1, 0): 0.06, (0, 1): 0.09, (0, 0): 0.45}
    rows = {i: p[i, 0] + p[i, 1] for i in (0, 1)}
    columns = {j: p[0, j] + p[1, j] for j in (0, 1)}
    chance = sum(rows[i] * columns[i] for i in (0, 1))
    kappa = (p[1, 1] + p[0, 0] - chance) / (1 - chance)
    same = sum(p[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    other = (1 - kappa) ** 2 * sum(p[i, j] * (columns[i] + rows[j]) ** 2 for i, j in ((0, 1), (1, 0)))
    error = math.sqrt((same + other - (kappa - chance * (1 - kappa)) ** 2) / n) / (1 - chance)
    assert found.kappa == pytest.approx(kappa)
    width = found.kappa_high - found.kappa_low
    assert width / (2 * 1.96 * error) == pytest.approx(1.3, abs=0.1)


@pytest.mark.parametrize(("only_a", "low"), [(0, 0.7), (1, 0.4), (2, 0.35)])
def test_one_disagreement_or_two_leave_kappa_an_interval(only_a: int, low: float) -> None:
    found = single(table(16 - only_a, only_a, 0, 14)).overall
    assert low < found.kappa_low < found.kappa < found.kappa_high + 1e-9


def test_pairs_of_one_task_are_not_taken_for_independent() -> None:
    alone = single(table(10, 2, 2, 10)).overall
    together = verdict_agreement(
        [judged(f"t{i}", *[pair] * 4).run() for i, pair in enumerate(table(10, 2, 2, 10))]
    ).overall
    assert (together.n, together.clusters) == (96, 24)
    assert together.high - together.low == pytest.approx(alone.high - alone.low, rel=0.1)


def test_full_agreement_is_no_certainty() -> None:
    found = single(table(6, 0, 0, 6)).overall
    assert (found.agreement, found.kappa, found.kappa_high) == (1.0, 1.0, 1.0)
    assert 0 < found.low < 1
    assert found.kappa_low < 1


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ([], "no sub-goal"),
        ([judged("t", (True, None))], "no sub-goal"),
        ([judged("t", (True, True)), judged("u", (True, True))], "chance"),
    ],
)
def test_kappa_is_unscored_where_there_is_nothing_to_tell(runs: list[RunBuilder], reason: str) -> None:
    found = verdict_agreement([run.run() for run in runs]).overall
    assert isinstance(found.kappa, Unscored)
    assert reason in found.kappa.reason


def test_one_task_has_no_interval_over_tasks_but_one_over_its_runs() -> None:
    runs = [judged("t", (True, i != 2), (False, False), agent=f"a{i}").run() for i in range(5)]
    found = verdict_agreement(runs)
    assert (found.cluster, found.overall.clusters) == ("run", 5)
    assert isinstance(found.overall.low, float)
    assert isinstance(found.agents[0].low, Unscored)


def test_the_latest_word_of_each_and_the_majority_of_several_count() -> None:
    run = judged("t", (True, True)).verdict("s0", False, "judge:m")
    run.verdict("s0", False, "human:bob").verdict("s0", False, "human:cy")
    (pair,) = verdict_agreement([run.run()]).pairs
    assert (pair.a, pair.b, pair.a_by) == (False, False, ("human:bob", "human:cy"))


def test_what_only_one_has_an_opinion_on_is_counted_and_broken_runs_are_not() -> None:
    run = judged("t", (True, True), (None, True)).verdict("alone", True, "human:ann")
    found = verdict_agreement([run.run(), judged("u", (True, True)).run("ALTERED")])
    assert (found.overall.n, found.left_out) == (1, 2)
