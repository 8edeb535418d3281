"""Copies are one unit: a log that holds every run several times says no more than one that has each once.

Counts of runs and outcomes, rates and means show all of them (§2a).
"""

from __future__ import annotations

import numpy as np
import pytest
from builders import a_run
from histories import on_day

from untaken.counterfactual.memory import PolicyMemory, cost_interval, steps_interval, success_interval
from untaken.counterfactual.off_policy import Estimates, contrast, logged_choices, off_policy
from untaken.errors import Unscored
from untaken.ledger import Run, SkillSelection

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
        for figure in (
            "effective",
            "largest_share",
            "snips",
            "snips_low",
            "snips_high",
            "dr",
            "dr_low",
            "dr_high",
        ):
            assert getattr(often[name], figure) == pytest.approx(getattr(one, figure)), (name, figure)


def test_copies_of_one_run_have_no_spread() -> None:
    copies = PolicyMemory.build(the_log(0, 4, runs=1)).snapshot()
    for record in copies.records():
        assert (record.n_runs, record.spread.n) == (4, 1)
        assert isinstance(cost_interval(record), Unscored)
