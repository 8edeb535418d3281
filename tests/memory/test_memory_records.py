"""What a snapshot says of a (skill, context)."""

from __future__ import annotations

import pytest
from histories import seen

from untaken.counterfactual.memory import RUNS_NAMED, PolicyMemory, ValueRange


def test_a_figure_is_placed_inside_its_span() -> None:
    span = ValueRange(low=1.0, high=5.0)
    assert [span.normalise(value) for value in (0.0, 1.0, 2.0, 5.0, 9.0)] == [0.0, 0.0, 0.25, 1.0, 1.0]
    assert ValueRange(low=2.0, high=2.0).normalise(3.0) == 0.0


def test_a_record_names_the_latest_runs_and_counts_all() -> None:
    log = [seen(f"r{i:03d}", day=i) for i in range(100)]
    snapshot = PolicyMemory(log).snapshot()
    record = snapshot.record("a", "ctx", without_run="r099")
    assert (record.n_runs, len(record.runs), record.runs[-1]) == (99, RUNS_NAMED, "r098")


def test_spread_is_the_sample_deviation_and_correlation() -> None:
    log = [
        seen("r1", cost=1.0, steps=2.0),
        seen("r2", cost=2.0, steps=4.0),
        seen("r3", cost=3.0, steps=6.0, success=0.0),
    ]
    record = PolicyMemory(log).snapshot().record("a", "ctx")
    spread = record.spread
    assert (spread.n, spread.cost_sd, spread.steps_sd) == (3.0, pytest.approx(1.0), pytest.approx(2.0))
    assert spread.cost_steps == pytest.approx(1.0)
    assert spread.success_cost == pytest.approx(-(3**0.5) / 2)


def test_huge_costs_overflow_nothing() -> None:
    snapshot = PolicyMemory(
        [seen("r1", cost=1.7e308), seen("r2", cost=1.7e308), seen("r3", cost=0.0)]
    ).snapshot()
    record = snapshot.record("a", "ctx")
    assert record.avg_cost == pytest.approx(1.7e308 / 3 * 2)
    assert record.spread.cost_sd == pytest.approx(1.7e308 / 3**0.5)
