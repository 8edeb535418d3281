"""Diagnostics: a placebo that finds nothing, and single runs that carry too much."""
# ruff: noqa: E501  (tables of cases)

from __future__ import annotations

import numpy as np
import pytest
from histories import past, seen

from untaken.counterfactual import Weights, diagnose, evaluate_run, influence, placebo
from untaken.counterfactual.memory import Observed, PolicyMemory
from untaken.errors import Unscored
from untaken.ledger import Run

SUCCESS_ONLY = Weights(success=1.0, cost=0.0, steps=0.0)


def corpus(runs: int = 60, *, better: float = 0.9, worse: float = 0.2, seed: int = 5) -> list[Run]:
    """Runs of two decisions; b is far better than a, c is chosen by nobody."""
    random = np.random.default_rng(seed)
    found = []
    for day in range(runs):
        skill, other = ("a", "b") if random.random() < 0.5 else ("b", "a")
        won = bool(random.random() < (better if skill == "b" else worse))
        choice, cost = f"{skill}|{other}|c", 1.0 + day % 3
        found.append(past(f"r{day:02}", choice, choice, day=day, success=won, cost=cost, steps=day % 5))
    return found


def test_a_placebo_finds_nothing_where_the_comparisons_themselves_find_much() -> None:
    runs = corpus()
    memory = PolicyMemory.build(runs)
    compared = [b for r in runs for d in evaluate_run(r, memory).decisions for b in d.branches]
    real = [b for b in compared if not isinstance(b.low, Unscored)]
    assert sum(b.support == "supported" for b in real) > 0.6 * len(real)
    found = placebo(runs, memory)
    assert found.advantage_low <= 0 <= found.advantage_high
    assert found.delta_low <= 0 <= found.delta_high
    assert found.supported_low <= 0.05
    assert found.comparisons > 9 * len(real)


def arm(skill: str, won: int, lost: int) -> list[Observed]:
    return [seen(f"{skill}{i}", skill, success=float(i < won), day=i) for i in range(won + lost)]


CASES = [
    ("nothing hangs on one run", arm("a", 2, 18) + arm("b", 18, 2), "supported", ()),
    ("three runs, of which each is needed", arm("a", 1, 19) + arm("b", 3, 0), "supported", ("b0", "b1", "b2")),
    ("what is not supported cannot be lost", arm("a", 5, 5) + arm("b", 5, 5), "weak", ())
]  # fmt: skip


@pytest.mark.parametrize(("desc", "log", "support", "lost"), CASES, ids=[case[0] for case in CASES])
def test_runs_without_which_support_is_lost_are_named(desc, log, support, lost) -> None:
    found = influence(PolicyMemory(log), "ctx", selected="a", alternative="b", weights=SUCCESS_ONLY)
    assert (found.support, found.lost_without) == (support, lost)
    assert found.runs == len(found.without) == len(log)


def test_leaving_a_run_out_is_the_comparison_of_a_memory_that_never_saw_it() -> None:
    log = [*arm("a", 3, 5), *arm("b", 5, 2), seen("odd", "b", success=0.0, cost=9.0, steps=7)]
    found = influence(PolicyMemory(log), "ctx", selected="a", alternative="b")
    for one in found.without:
        fresh = influence(
            PolicyMemory(o for o in log if o.run_id != one.run_id), "ctx", selected="a", alternative="b"
        )
        assert (one.advantage, one.low, one.high) == (fresh.advantage, fresh.low, fresh.high)
    assert found.moved_by == "odd"
    assert found.advantage_without == next(w.advantage for w in found.without if w.run_id == "odd")


def test_a_diagnosis_looks_at_each_supported_pair_once_in_the_better_direction() -> None:
    runs = corpus()
    memory = PolicyMemory.build(runs)
    found = diagnose(runs, memory, [evaluate_run(run, memory) for run in runs], rounds=2)
    assert [(one.selected, one.alternative) for one in found.influence] == [("a", "b")]
    assert found.influence[0].advantage > 0
    assert found.contrasts == ()
