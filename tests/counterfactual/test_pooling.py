"""The pooled advantage: nearer to the truth than one level alone, and no false certainty."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import sqrt
from random import Random

import pytest
from builders import a_run
from histories import on_day

from untaken.counterfactual import evaluate_run
from untaken.counterfactual.memory import Observed, Snapshot
from untaken.counterfactual.memory.history import History
from untaken.errors import Unscored
from untaken.ledger import SkillSelection

START = datetime(2026, 1, 1, tzinfo=UTC)
SKILLS = ("a", "b", "c")


def world(
    random: Random, *, skill: float, fine: float, runs: int
) -> tuple[Snapshot, dict[tuple[str, int], float]]:
    """A memory of runs in six fine situations of one coarse one, and the true rate of each skill in each."""
    coarse = {name: random.uniform(0.5 - skill, 0.5 + skill) for name in SKILLS}
    truth = {
        (name, at): min(0.95, max(0.05, coarse[name] + random.uniform(-fine, fine)))
        for name in SKILLS
        for at in range(6)
    }
    log = []
    for run in range(runs):
        name, at = random.choice(SKILLS), random.randrange(6)
        log.append(
            Observed(
                key=f"r{run}",
                kind="outcome",
                skill=name,
                context_hash=f"f{at}",
                context_layers=(f"f{at}", "all"),
                success=float(random.random() < truth[name, at]),
                cost=None,
                steps=None,
                weight=1.0,
                run_id=f"r{run}",
                ts=START + timedelta(hours=run),
            )
        )
    history = History(log)
    return Snapshot(history=history, as_of=None, cost_unit=None, observations=len(log)), truth


def compared(snapshot: Snapshot) -> list[tuple[float | None, float]]:
    """Raw advantage and pooled one of ``b`` over ``a``, in each fine situation."""
    run = a_run("now")
    for at in range(6):
        situation = {"context_hash": f"f{at}", "context_layers": (f"f{at}", "all")}
        run.add(SkillSelection, selected="a", alternatives=["b"], **situation)
    evaluation = evaluate_run(on_day(run.finish(True).run(), 99), snapshot)
    found = []
    for decision in evaluation.decisions:
        (branch,) = decision.branches
        raw = None if isinstance(branch.advantage, Unscored) else branch.advantage
        found.append((raw, branch.pooled))
    return found


@pytest.mark.parametrize("fine", [0.05, 0.2, 0.35])
def test_pooled_is_nearer_to_a_planted_truth_than_the_advantage_of_one_level(fine: float) -> None:
    random, raw_errors, pooled_errors = Random(4), list[float](), list[float]()
    for _ in range(40):
        snapshot, truth = world(random, skill=0.3, fine=fine, runs=120)
        for at, (raw, pooled) in enumerate(compared(snapshot)):
            if raw is not None:
                real = truth["b", at] - truth["a", at]
                raw_errors.append((raw - real) ** 2)
                pooled_errors.append((pooled - real) ** 2)
    assert len(raw_errors) > 200
    assert sqrt(sum(pooled_errors)) < 0.97 * sqrt(sum(raw_errors))
