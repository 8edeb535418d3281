"""Advantages and their intervals: how often they hold the truth, and that copies are one unit (§2a)."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import pytest
from builders import a_run
from histories import on_day, seen
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.coverage import Tally, Truth, compared, history
from untaken.counterfactual import Scale, Weights
from untaken.counterfactual.advantage import around, compare
from untaken.counterfactual.histories import FOUND, Scales, Used, history_of
from untaken.counterfactual.memory import (
    PolicyMemory,
    Spans,
    ValueRange,
    cost_interval,
    steps_interval,
    success_interval,
)
from untaken.counterfactual.off_policy import Estimates, contrast, logged_choices, off_policy
from untaken.errors import Unscored
from untaken.ledger import Run, SkillSelection

SCALE = Scale(spans=Spans(cost=ValueRange(low=0, high=1), steps=ValueRange(low=0, high=1)), weights=Weights())


FIGURES = st.one_of(st.none(), st.sampled_from([0.0, 1e-300, 0.5, 1.0, 1e300]), st.floats(0, 10))
OUTCOMES = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.sampled_from([0.0, 0.3, 1.0]), FIGURES, FIGURES),
    min_size=1,
    max_size=24,
)
SHARES = st.sampled_from(
    [(0.5, 0.3, 0.2), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.5, 0.5), (1e-12, 0.0, 1.0)]
)


@given(outcomes=OUTCOMES, shares=SHARES)
def test_whatever_the_histories_an_interval_holds_its_advantage_and_stays_in_range(outcomes, shares) -> None:
    log = [
        seen(f"{skill}{run}", skill, success=won, cost=cost, steps=steps, key=str(i))
        for i, (skill, run, won, cost, steps) in enumerate(outcomes)
    ]
    snapshot = PolicyMemory(log).snapshot()
    weights = Weights(success=shares[0], cost=shares[1], steps=shares[2])
    scale = Scale(spans=snapshot.spans(), weights=weights)
    alternative, selected = snapshot.record("b", "ctx"), snapshot.record("a", "ctx")
    if alternative is None:
        return
    found = compare(alternative, selected, scale, 0.1)
    if not isinstance(found.low, Unscored):
        assert -1 - 1e-9 <= found.low <= found.advantage <= found.high <= 1 + 1e-9
        assert 0 <= found.p_better <= 1


TIMES = 200
UNIT = ValueRange(low=0, high=1)


class Case(NamedTuple):
    desc: str
    truth: Truth
    runs: tuple[int, int]


CASES = [
    Case("3 runs a side", Truth(), (3, 3)),
    Case("10 runs a side", Truth(), (10, 10)),
    Case("30 runs a side", Truth(), (30, 30)),
    Case("success is rare", Truth(success=0.1), (20, 20)),
    Case("failures cost more", Truth(success=0.7, dearer=0.4), (10, 10)),
    Case("many runs against few", Truth(success=0.3), (5, 20)),
    Case("choices repeated inside runs", Truth(dearer=0.4, repeats=4), (10, 10)),
]


def slack(share: float, times: int) -> float:
    """Three standard errors of the simulation."""
    return 3 * sqrt(share * (1 - share) / times)


@pytest.fixture(scope="module")
def equal() -> dict[str, Tally]:
    """Skills of one and the same truth, set against each other."""
    return {case.desc: compared(case.truth, case.truth, case.runs, TIMES, seed=7) for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.desc)
def test_two_equal_skills_differ_clearly_in_one_of_twenty_cases_at_most(case, equal) -> None:
    assert equal[case.desc].called / TIMES <= 0.05 + slack(0.05, TIMES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.desc)
def test_intervals_hold_the_truth_as_often_as_they_say(case: Case, equal: dict[str, Tally]) -> None:
    assert equal[case.desc].held / TIMES >= 0.95 - slack(0.95, TIMES)


def test_intervals_are_no_wider_than_they_need_to_be() -> None:
    better = compared(Truth(success=0.6), Truth(success=0.4), (30, 30), TIMES, seed=8)
    assert better.held / TIMES <= 0.97 + slack(0.97, TIMES)
    assert better.called / TIMES == pytest.approx(0.32, abs=slack(0.32, TIMES))


@pytest.mark.parametrize("truth", [Truth(), Truth(success=0.8, dearer=0.4)], ids=["even", "mostly successes"])
def test_the_interval_of_a_history_that_deltas_have_holds_the_truth_too(truth: Truth) -> None:
    random, held = np.random.default_rng(9), 0
    log = [one for where in map(str, range(TIMES)) for one in history("b", truth, 12, where, random)]
    snapshot = PolicyMemory(log).snapshot()
    for where in map(str, range(TIMES)):
        record = snapshot.record("b", where)
        assert record is not None
        known, scales = history_of(record, SCALE), Scales.of(SCALE.spans, SCALE.weights)
        used = Used.common(known.placed, known.placed)
        low, high, why = around(known, scales.scores(known.placed, used), scales, used)
        assert why[0] == FOUND
        held += bool(low[0] <= truth.score <= high[0])
    assert 0.93 - slack(0.93, TIMES) <= held / TIMES <= 0.97 + slack(0.97, TIMES)


SKILLS = "abc"
ODDS = {"a": 0.5, "b": 0.25, "c": 0.25}


def the_log(seed: int, times: int, *, runs: int = 8) -> list[Run]:
    """Runs that differ, each so many times, one after the other."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(runs):
        success, cost, steps = bool(random.random() < 0.5), float(random.integers(1, 9)), number % 3 + 1
        chosen = random.choice(list(SKILLS), int(random.integers(1, 4))).tolist()
        for copy in range(times):
            built = a_run(f"r{number}.{copy}", task_repeat=copy + 1, metadata={"seed": number})
            for skill in chosen:
                built.add(
                    SkillSelection,
                    selected=skill,
                    alternatives=list(SKILLS),
                    context_hash="ctx",
                    propensities=ODDS,
                )
            built.finish(success, cost=cost, steps=steps)
            found.append(on_day(built.run(), number + runs * copy))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_intervals_of_a_record_are_those_of_the_runs_once(seed: int) -> None:
    once, often = (PolicyMemory.build(the_log(seed, times)).snapshot() for times in (1, 4))
    for record in once.records():
        copied = often.record(record.skill, record.context_hash)
        assert (copied.n, copied.n_runs) == (4 * record.n, 4 * record.n_runs)
        assert copied.success_rate == pytest.approx(record.success_rate)
        for interval in (success_interval, cost_interval, steps_interval):
            assert interval(copied) == pytest.approx(interval(record)), record.skill


@pytest.mark.parametrize("seed", range(6))
def test_intervals_from_logged_odds_are_those_of_the_runs_once(seed: int) -> None:
    def estimates(times: int) -> dict[str, Estimates]:
        runs = the_log(seed, times)
        logged = logged_choices(runs, PolicyMemory.build(runs).snapshot())
        found = {skill: each for (_, skill), each in off_policy(logged).items()}
        return found | {"b - a": contrast(logged, "ctx", selected="a", alternative="b")}

    once, often = estimates(1), estimates(4)
    assert once.keys() == often.keys()
    for name, one in once.items():
        figures = "effective largest_share snips snips_low snips_high dr dr_low dr_high"
        for figure in figures.split():
            assert getattr(often[name], figure) == pytest.approx(getattr(one, figure)), (name, figure)
