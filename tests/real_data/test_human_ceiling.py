"""How far two people agree on what to blame: printed beside any automatic blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import blame
from untaken.failure_modes.agreement import steps_of
from untaken.failure_modes.root_causes import ceiling_words, root_cause_agreement, root_causes


def test_two_people_name_the_same_step_in_a_quarter_of_the_runs(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "RECORDS", real_data)
    (found,) = root_cause_agreement(blame.twice_labelled())
    assert (found.runs, found.same_step, found.near_step, found.same_sub_goal) == (24, 6, 8, 14)
    assert found.kappa == pytest.approx(0.35, abs=0.005)
    assert "in 6 of 24 runs (25%, 95% 11% to 47%), at most one step apart in 8 (33%" in ceiling_words([found])


def test_the_orchestrators_own_plan_and_ledger_give_attempts_but_seldom_the_blamed_step(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "RECORDS", real_data)
    runs = blame.twice_labelled()
    seen = [blame.Orchestrated.of(run) for run in runs]
    assert (sum(one.items for one in seen), sum(len(one.attempts) for one in seen)) == (253, 351)
    for person, labelled, hits in (("human:who-and-when", 30, 2), ("human:agentrx", 24, 2)):
        causes = [
            (one, steps_of(run), root_causes(run).get(person)) for run, one in zip(runs, seen, strict=True)
        ]
        named = [(one, steps[cause.event]) for one, steps, cause in causes if cause]
        right = [one.guesses()["open sub-goal, first try"] == step for one, step in named]
        assert (len(right), sum(right)) == (labelled, hits)
