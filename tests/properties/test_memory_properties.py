"""Policy memory against a plain fold in exact fractions."""

from __future__ import annotations

from fractions import Fraction

from histories import moment, past, seen, weak
from hypothesis import given
from hypothesis import strategies as st

from untaken.counterfactual.memory import Observed, PolicyMemory, ValueRange
from untaken.errors import Unscored
from untaken.ledger.run import Run

figures = st.none() | st.floats(0, 1e6) | st.sampled_from([0.0, 0.1, 0.2, 1e-300, 1e300])


@st.composite
def logs(draw: st.DrawFn) -> list[Observed]:
    log: list[Observed] = []
    for i in range(draw(st.integers(0, 14))):
        run, skill = draw(st.sampled_from(["r1", "r2", "r3", "r4"])), draw(st.sampled_from("ab"))
        day, key = draw(st.sampled_from([0, 1, 1, 2])), f"k{i}"
        if draw(st.integers(0, 3)) == 0:
            log.append(weak(run, skill, draw(st.sampled_from([0.6, 0.7])), day=day, key=key))
        else:
            success, cost, steps = draw(st.sampled_from([0.0, 1.0])), draw(figures), draw(figures)
            log.append(seen(run, skill, day=day, key=key, success=success, cost=cost, steps=steps))
    return log


def mean(values: list[float]) -> float | None:
    return float(sum(map(Fraction, values)) / len(values)) if values else None


def number(value: float | Unscored) -> float | None:
    return None if isinstance(value, Unscored) else value


def by_hand(log: list[Observed], skill: str, day: int, without: str | None) -> tuple[object, ...] | None:
    known = [o for o in log if o.ts <= moment(day) and o.run_id != without and o.skill == skill]
    outcomes = [o for o in known if o.kind == "outcome"]
    if not outcomes:
        return None
    speculation = [o for o in known if o.kind == "weak"]
    costs = [o.cost for o in outcomes if o.cost is not None]
    steps = [o.steps for o in outcomes if o.steps is not None]
    weight = min(Fraction(1, 4) * len(speculation), Fraction(1, 2) * len(outcomes))
    guess = sum(Fraction(o.success) for o in speculation) / len(speculation) if speculation else 0
    rate = (sum(Fraction(o.success) for o in outcomes) + weight * guess) / (len(outcomes) + weight)
    return len(outcomes), float(rate), mean(costs), mean(steps), len({o.run_id for o in outcomes})


@given(
    logs(), st.sampled_from("ab"), st.sampled_from([-1, 0, 1, 2]), st.sampled_from([None, "r1", "r2", "r9"])
)
def test_a_record_is_the_fold_written_out_plainly(log, skill, day, without) -> None:
    want = by_hand(log, skill, day, without)
    record = PolicyMemory(log).snapshot(moment(day)).record(skill, "ctx", without_run=without)
    if record is None or want is None:
        assert record is want
        return
    got = (record.n, record.success_rate, number(record.avg_cost), number(record.avg_steps), record.n_runs)
    assert got[0] == want[0]
    assert got[4] == want[4]
    assert abs(got[1] - want[1]) < 1e-15
    # An exact sum rounded once is the nearest double, down to figures whose bits lie below 2⁻¹²⁸.
    for have, fraction in zip(got[2:4], want[2:4], strict=True):
        assert have == fraction or abs(have - fraction) < 1e-38


@given(logs(), st.sampled_from([None, "r1", "r2", "r3"]), st.sampled_from([0, 1, 2]))
def test_spans_are_the_extremes_written_out_plainly(log, without, day) -> None:
    spans = PolicyMemory(log).snapshot(moment(day)).spans(without_run=without)
    known = [o for o in log if o.ts <= moment(day) and o.run_id != without and o.kind == "outcome"]
    for span, values in ((spans.cost, [o.cost for o in known]), (spans.steps, [o.steps for o in known])):
        present = [v for v in values if v is not None]
        assert span == (ValueRange(low=min(present), high=max(present)) if present else None)


@given(logs().flatmap(lambda log: st.tuples(st.just(log), st.permutations(log))))
def test_the_order_of_the_log_makes_no_difference(pair: tuple[list[Observed], list[Observed]]) -> None:
    first, second = (PolicyMemory(log).snapshot() for log in pair)
    assert first.digest == second.digest
    assert list(first.records()) == list(second.records())


@given(logs(), st.sampled_from(["r1", "r2", "r3", "r4"]))
def test_leaving_a_run_out_is_exactly_never_having_seen_it(log: list[Observed], run: str) -> None:
    full, never = PolicyMemory(log).snapshot(), PolicyMemory([o for o in log if o.run_id != run]).snapshot()
    for skill in "ab":
        assert full.record(skill, "ctx", without_run=run) == never.record(skill, "ctx")
    assert full.spans(without_run=run) == never.spans()


@given(logs())
def test_speculation_never_weighs_more_than_half_the_observations(log: list[Observed]) -> None:
    for record in PolicyMemory(log).snapshot().records():
        assert 0 <= record.weak_weight <= record.n / 2
        assert 0 <= record.success_rate <= 1


@given(logs())
def test_appending_everything_again_changes_nothing(log: list[Observed]) -> None:
    memory = PolicyMemory(log)
    before = memory.snapshot().digest
    assert memory.extend(reversed(log)) == 0
    assert memory.snapshot().digest == before


@given(logs(), st.sampled_from([0, 1, 2]))
def test_a_snapshot_is_the_memory_that_holds_nothing_later(log: list[Observed], day: int) -> None:
    early = PolicyMemory([o for o in log if o.ts <= moment(day)]).snapshot()
    then = PolicyMemory(log).snapshot(moment(day))
    assert then.digest == early.digest
    assert list(then.records()) == list(early.records())
    assert (then.runs, then.spans()) == (early.runs, early.spans())


@st.composite
def finished(draw: st.DrawFn) -> tuple[Run, tuple[str, ...], bool | None, float | None]:
    """A run, with what it chose, its outcome where the ledger is whole, and its cost."""
    chosen = draw(st.lists(st.sampled_from(["a|b", "b", "a@late", "b|a@late"]), max_size=3))
    whole, success = draw(st.booleans()), draw(st.sampled_from([True, False, None]))
    cost = draw(st.none() | st.integers(0, 9))
    run = past(
        f"r{draw(st.integers(0, 10**9))}",
        *chosen,
        day=draw(st.integers(0, 3)),
        success=success,
        cost=cost,
        verdict="INTACT" if whole else draw(st.sampled_from(["ALTERED", "TRUNCATED"])),
    )
    return run, tuple(chosen), success if whole else None, cost


@given(st.lists(finished(), max_size=8, unique_by=lambda one: one[0].run_id), st.integers(0, 4))
def test_a_built_memory_has_an_outcome_for_each_choice_of_a_whole_finished_run(found, day: int) -> None:
    snapshot = PolicyMemory.build(run for run, *_ in found).snapshot(moment(day))
    for skill, context in (("a", "ctx"), ("b", "ctx"), ("a", "late"), ("b", "late")):
        rows = [
            (success, cost)
            for run, chosen, success, cost in found
            for one in chosen
            if success is not None and run.finished.ts <= moment(day)
            if (one.split("@")[0].split("|")[0], one.partition("@")[2] or "ctx") == (skill, context)
        ]
        record = snapshot.record(skill, context)
        assert (record.n if record else 0) == len(rows)
        if record:
            assert record.success_rate == float(Fraction(sum(success for success, _ in rows), len(rows)))
            assert number(record.avg_cost) == mean([float(cost) for _, cost in rows if cost is not None])
