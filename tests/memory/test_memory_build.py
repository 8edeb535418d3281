"""What runs put into policy memory, what a snapshot says of a (skill, context), and its intervals."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from builders import a_run
from histories import on_day, past, seen
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from untaken import limits
from untaken.counterfactual.memory import (
    RUNS_NAMED,
    Observed,
    PolicyMemory,
    Record,
    ValueRange,
    cost_interval,
    steps_interval,
    success_interval,
)
from untaken.errors import Unscored, UntakenError
from untaken.ledger import RunFinished, SkillSelection

LEFT_OUT = [
    ("unfinished", a_run("r").select("a", "b").run(), "memory-run-unfinished"),
    ("truncated", past("r", "a", day=0, verdict="TRUNCATED"), "memory-run-broken"),
    ("altered", past("r", "a", day=0, verdict="ALTERED"), "memory-run-broken"),
    ("malformed", past("r", "a", day=0, verdict="MALFORMED"), "memory-run-broken"),
    ("success unknown", past("r", "a", day=0, success=None), "memory-run-unscored"),
    ("no decision", past("r", day=0), "memory-run-without-decisions"),
]


@pytest.mark.parametrize(("desc", "run", "want"), LEFT_OUT, ids=[case[0] for case in LEFT_OUT])
def test_a_run_without_evidence_is_left_out_and_named(desc, run, want) -> None:
    memory = PolicyMemory.build([run, past("good", "a", day=1)])
    assert {o.run_id for o in memory.log} == {"good"}
    assert [f.code for f in memory.findings] == [want]
    assert "1 run " in memory.findings[0].message


def test_a_selection_after_the_finish_is_no_decision_point() -> None:
    late = on_day(a_run("r").select("a").finish(True, cost=1.0).select("b").run(), 0)
    assert [o.skill for o in PolicyMemory.build([late]).log] == ["a"]


def test_of_two_runs_under_one_id_the_earlier_counts_in_any_order() -> None:
    early, late, later = past("r1", "a", day=0), past("r1", "b", day=1), past("r1", "c", day=2)
    for runs in ([early, late, later], [later, early, late, early], [late, later, early]):
        memory = PolicyMemory.build(runs)
        assert [o.skill for o in memory.log] == ["a"]
        assert [(f.code, f.message[:6]) for f in memory.findings] == [("memory-run-id-twice", "2 runs")]


def test_an_unpriced_cost_is_absent_not_zero() -> None:
    unpriced = past("r1", "a", day=0, cost=0.0, cost_unit="unpriced")
    absent = past("r2", "a", day=1, cost=None)
    assert {o.cost for o in PolicyMemory.build([unpriced, absent]).log} == {None}


def test_costs_in_another_unit_are_left_out_and_named() -> None:
    runs = [
        past("r1", "a", day=0, cost=3.0),
        past("r2", "a", day=1, cost=4.0),
        past("r3", "a", day=2, cost=9000.0, cost_unit="tokens"),
    ]
    memory = PolicyMemory.build(runs)
    assert [o.cost for o in memory.log] == [3.0, 4.0, None]
    assert [f.code for f in memory.findings] == ["memory-cost-unit-left-out"]
    assert memory.snapshot().cost_unit == "usd"
    assert PolicyMemory.build(runs[2:]).snapshot().cost_unit == "tokens"


def test_runs_priced_otherwise_later_on_change_nothing_that_was_known() -> None:
    early = [past(f"r{i}", "a", day=i, cost=3.0, cost_unit="eur") for i in range(2)]
    late = [past(f"s{i}", "a", day=10 + i, cost=9.0, cost_unit="usd") for i in range(4)]
    before, after = (PolicyMemory.build(runs) for runs in (early, [*late, *early]))
    assert after.log[:2] == before.log
    assert after.snapshot().cost_unit == "eur"


@pytest.mark.parametrize("cost", [None, 0, -0.0, 5e-324, 2, 0.1, 1.7e308])
@pytest.mark.parametrize("steps", [None, 0, 2**63 - 1])
def test_the_most_that_a_ledger_can_say_is_built_as_its_file_reads_back(cost, steps, tmp_path) -> None:
    longest = "🜁" * limits.NAME_CHARS
    run = a_run(longest, agent=longest, task="\x00")
    run.add(
        SkillSelection, selected=longest, alternatives=["b"], context_hash="x", context_layers=("x", longest)
    )
    run.add(RunFinished, success=True, cost=cost, steps=steps, cost_unit="🜁")
    built = PolicyMemory.build([on_day(run.run(), 0.5)])
    built.save(tmp_path / "x.memory.jsonl")
    loaded = PolicyMemory.load(tmp_path / "x.memory.jsonl")
    assert loaded.log == built.log
    assert loaded.snapshot().digest == built.snapshot().digest
    with pytest.raises(UntakenError, match="among costs") if cost is not None else nullcontext():
        built.append(seen("other", cost=1.0, cost_unit="points"))


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


def record(log: list[Observed]) -> Record:
    (found,) = PolicyMemory(log).snapshot().records()
    return found


def of(successes: int, failures: int, **fields: object) -> Record:
    outcomes = [1.0] * successes + [0.0] * failures
    return record([seen(f"r{n}", success=x, **fields) for n, x in enumerate(outcomes)])  # type: ignore[arg-type]


@pytest.mark.parametrize(("successes", "failures"), [(1, 1), (3, 7), (50, 2)])
def test_the_success_rate_has_the_tails_of_its_posterior(successes: int, failures: int) -> None:
    low, high = success_interval(of(successes, failures))
    want = stats.beta(0.5 + successes, 0.5 + failures).interval(0.95)
    assert (low, high) == pytest.approx(want, abs=1e-12)


def test_where_nothing_or_everything_succeeded_the_interval_reaches_the_end() -> None:
    assert success_interval(of(0, 5))[0] == 0.0
    assert success_interval(of(5, 0))[1] == 1.0
    assert 0 < success_interval(of(0, 5))[1] < 1


def test_repeats_inside_a_run_do_not_narrow_it() -> None:
    repeats = [seen("r1", success=1.0, key=f"k{n}") for n in range(50)]
    assert success_interval(record(repeats)) == pytest.approx(success_interval(of(1, 0)))


def test_a_mean_has_students_interval_and_none_from_one_run() -> None:
    costs = [0.1, 0.4, 0.2, 0.9]
    found = record([seen(f"r{n}", cost=cost, steps=3.0) for n, cost in enumerate(costs)])
    want = stats.ttest_1samp(costs, 0.0).confidence_interval()
    assert cost_interval(found) == pytest.approx((max(0.0, want.low), want.high))
    assert steps_interval(found) == (3.0, 3.0)
    assert isinstance(cost_interval(record([seen("r1")])), Unscored)
    assert "no outcome has a cost" in cost_interval(record([seen("r1", cost=None)])).reason


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1e6)), min_size=1)
)
def test_an_interval_holds_its_estimate(log: list[tuple[int, float, float]]) -> None:
    found = record([seen(f"r{run}", success=x, cost=c, key=f"k{i}") for i, (run, x, c) in enumerate(log)])
    low, high = success_interval(found)
    assert 0 <= low <= found.success_rate <= high <= 1
    if not isinstance(interval := cost_interval(found), Unscored):
        assert 0 <= interval[0] <= found.avg_cost <= interval[1]
