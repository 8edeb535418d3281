"""A gate that is looked at while runs are in flight errs in at most 5% of worlds, and still decides.

Few worlds, of a fixed seed; `benchmarks/gate_in_flight.py` tries more and the power.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.gate_in_flight import Found, Seats, worlds_of

WORLDS = 40
MOST = 0.15
"""5% and three standard errors of 40 worlds."""
HABIT_ERRS = {"at the bound 0.5"}


@pytest.mark.parametrize("name", ["at the bound 0.5", "at 0.5, each task 3 times", "0.7, bound 0.5"])
def test_slow_failures_pass_no_agent_at_the_bound_and_a_good_one_still_passes(name: str) -> None:
    world, false = worlds_of(Seats(workers=8, slower=10))[name]
    random = np.random.default_rng(3)
    found = Found.of([world(random) for _ in range(WORLDS)], habit=name in HABIT_ERRS)
    if false:
        assert max(found.passed, found.failed) <= MOST
    else:
        assert found.passed >= 0.9
        assert found.finished <= 60
    if name in HABIT_ERRS:
        assert found.habit_passed >= 0.3


def test_late_baselines_fail_no_agent_against_itself() -> None:
    world, _ = worlds_of(Seats(workers=8, slower=4))["against itself, late baselines"]
    random = np.random.default_rng(3)
    assert Found.of([world(random) for _ in range(WORLDS)], habit=False).failed <= MOST
