"""Repeats of a task are no new evidence for the verifier: its units are tasks."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from untaken.judging.criteria import (
    Criterion,
    CriterionCheck,
    Quantified,
    QuantifierRun,
    Value,
    verify_criteria,
)

SCALE = ["0", "1", "2", "3"]
CRITERIA = tuple(
    Criterion(name=name, description="", accepted_values=SCALE) for name in ("up", "noise", "twin")
)


def a_corpus(seed: int, tasks: int) -> QuantifierRun:
    """Runs of two agents on each task: some succeed, one criterion goes with it, one by itself."""
    random, items = Random(seed), []
    for n in range(tasks * 2):
        success = random.random() < 0.5
        up = min(3, random.randrange(3) + success)
        levels = {"up": up, "noise": random.randrange(4), "twin": up}
        values = {name: Value(text=SCALE[level], level=level) for name, level in levels.items()}
        items.append(
            Quantified(
                subject=f"r{n}", success=success, task_id=f"t{n // 2}", agent=f"a{n % 2}", values=values
            )
        )
    return QuantifierRun(
        name="one", by="ledger", seed=0, criteria=CRITERIA, items=tuple(items), deterministic=True
    )


def worse(whole: QuantifierRun) -> QuantifierRun:
    """The same runs, of every second task each a level lower."""

    def lower(item: Quantified, place: int) -> Quantified:
        if place % 4 > 1:
            return item
        found = {
            name: max(0, value.level - 1) for name, value in item.values.items() if value.level is not None
        }
        return replace(item, values={name: Value(text=SCALE[at], level=at) for name, at in found.items()})

    return replace(whole, items=tuple(lower(item, place) for place, item in enumerate(whole.items)))


def repeated(whole: QuantifierRun, times: int) -> QuantifierRun:
    """Each run so many times, as repeats of its task."""
    copies = [replace(item, subject=f"{item.subject}-{k}") for item in whole.items for k in range(times)]
    return replace(whole, items=tuple(copies))


def checks(whole: QuantifierRun, disturbed: QuantifierRun) -> tuple[CriterionCheck, ...]:
    return verify_criteria([whole], disturbed={"shuffle": [disturbed]}).criteria


@pytest.mark.parametrize("tasks", [3, 6, 12, 30])
@pytest.mark.parametrize("seed", range(5))
def test_repeats_of_runs_change_no_verdict_and_no_interval(seed: int, tasks: int) -> None:
    whole = a_corpus(seed, tasks)
    once = checks(whole, worse(whole))
    often = checks(repeated(whole, 4), repeated(worse(whole), 4))
    assert [one.discrimination for one in often] == [one.discrimination for one in once]
    assert [(one.keep, one.redundant_with) for one in often] == [
        (one.keep, one.redundant_with) for one in once
    ]
