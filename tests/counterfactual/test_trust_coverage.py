"""Coverage of the intervals on simulated logs with known truth: a small `benchmarks/coverage.py`."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.coverage import Tally, Truth, compared, history
from untaken.counterfactual import Scale, Weights
from untaken.counterfactual.advantage import around
from untaken.counterfactual.histories import FOUND, Scales, Used, history_of
from untaken.counterfactual.memory import PolicyMemory, Spans, ValueRange

TIMES = 200
UNIT = ValueRange(low=0, high=1)
SCALE = Scale(spans=Spans(cost=UNIT, steps=UNIT), weights=Weights())


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
