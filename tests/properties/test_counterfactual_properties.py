"""What holds for every run and every history."""

from __future__ import annotations

import pytest
from histories import past
from hypothesis import given
from hypothesis import strategies as st

from untaken.counterfactual import (
    Outcome,
    RunEvaluation,
    Scale,
    Terms,
    Weights,
    evaluate_run,
    insights_bytes,
    score,
    verdict_of,
)
from untaken.counterfactual.memory import PolicyMemory, Spans, ValueRange
from untaken.errors import Unscored
from untaken.ledger.run import Run

unit = st.floats(0, 1)
costs = st.none() | st.floats(0, 100)
steps = st.none() | st.integers(0, 50)


@st.composite
def weights(draw: st.DrawFn) -> Weights:
    low, high = sorted((draw(unit), draw(unit)))
    return Weights(success=low, cost=high - low, steps=1 - high)


@st.composite
def histories(draw: st.DrawFn) -> list[Run]:
    choices = st.lists(st.sampled_from(["a|b", "b|a|c", "c|a|a", "a|c@y"]), min_size=1, max_size=4)
    return [
        past(
            f"r{i}",
            *draw(choices),
            day=draw(st.integers(0, 3)),
            success=draw(st.booleans()),
            cost=draw(costs),
            steps=draw(st.integers(0, 50)),
        )
        for i in range(draw(st.integers(1, 7)))
    ]


def figures(evaluation: RunEvaluation) -> list[float]:
    values = [evaluation.actual_score]
    values += [b.score for d in evaluation.decisions for b in d.branches]
    return [v for v in values if not isinstance(v, Unscored)]


@given(unit, st.none() | unit, st.none() | unit, weights())
def test_a_score_is_between_zero_and_one(success, c, s, w) -> None:
    value = score(success, c, s, w)
    assert isinstance(value, Unscored) or -1e-9 <= value <= 1 + 1e-9


@given(unit, unit, unit, unit, weights())
def test_more_success_never_scores_less_and_more_cost_never_more(p, q, c, d, w) -> None:
    better, worse = max(p, q), min(p, q)
    assert score(better, c, d, w) >= score(worse, c, d, w)
    assert score(p, min(c, d), q, w) >= score(p, max(c, d), q, w)


@given(st.tuples(unit, costs, steps), st.tuples(unit, costs, steps))
def test_swapping_the_sides_turns_the_delta_round(first: tuple, second: tuple) -> None:
    scale = Scale(
        spans=Spans(cost=ValueRange(low=0, high=60), steps=ValueRange(low=1, high=20)), weights=Weights()
    )
    a, b = (Outcome(success=s, cost=c, steps=None if n is None else float(n)) for s, c, n in (first, second))
    terms = scale.terms(a, b)
    assert terms == scale.terms(b, a)
    there, back = scale.score(a, terms), scale.score(b, terms)
    turned = {
        "alternative_may_be_better": "actual_was_better",
        "actual_was_better": "alternative_may_be_better",
    }
    forth = verdict_of(there - back)
    assert verdict_of(back - there) == turned.get(forth, forth)


@given(histories())
def test_every_score_of_a_real_history_is_bounded(runs: list[Run]) -> None:
    memory = PolicyMemory.build(runs)
    for run in runs:
        evaluation = evaluate_run(run, memory)
        assert all(0 <= value <= 1 for value in figures(evaluation))
        for decision in evaluation.decisions:
            for branch in decision.branches:
                assert branch.known == (branch.n > 0) == (not isinstance(branch.delta, Unscored))


@given(histories().flatmap(lambda runs: st.tuples(st.just(runs), st.permutations(runs))))
def test_the_order_of_runs_changes_no_byte(pair: tuple[list[Run], list[Run]]) -> None:
    first, second = (PolicyMemory.build(runs) for runs in pair)
    for run in pair[0]:
        one, two = evaluate_run(run, first), evaluate_run(run, second)
        assert one == two
        assert insights_bytes(one) == insights_bytes(two)


@given(histories())
def test_a_runs_own_outcome_never_counts(runs: list[Run]) -> None:
    memory = PolicyMemory.build(runs)
    for run in runs:
        without = PolicyMemory.build(other for other in runs if other.run_id != run.run_id)
        assert evaluate_run(run, memory.snapshot()).decisions == evaluate_run(run, without).decisions


@given(histories(), st.integers(1, 5), st.sampled_from(["usd", "tokens"]))
def test_what_happens_later_changes_nothing(runs: list[Run], more: int, unit: str) -> None:
    later = [
        past(f"later{i}", "b", "c", day=100 + i, cost=1000.0, steps=999, cost_unit=unit) for i in range(more)
    ]
    before, after = PolicyMemory.build(runs), PolicyMemory.build([*runs, *later])
    for run in runs:
        one, two = evaluate_run(run, before), evaluate_run(run, after)
        assert (one.decisions, one.memory_digest) == (two.decisions, two.memory_digest)
        assert insights_bytes(one) == insights_bytes(two)


@given(histories())
def test_signals_follow_insights(runs: list[Run]) -> None:
    memory = PolicyMemory.build(runs)
    for run in runs:
        evaluation = evaluate_run(run, memory)
        points = {i.decision_point for i in evaluation.insights}
        negative = [s for s in evaluation.signals if s.direction == "negative"]
        positive = [s for s in evaluation.signals if s.direction == "positive"]
        assert sorted(s.decision_point for s in negative) == sorted(points)
        assert len(positive) == len(evaluation.insights) == evaluation.summary.alternative_may_be_better
        assert evaluation.summary.signals == len(evaluation.signals)


@given(unit, unit)
def test_terms_left_out_are_left_out_of_the_score(success: float, cost: float) -> None:
    scale = Scale(spans=Spans(cost=ValueRange(low=0, high=1), steps=None), weights=Weights())
    outcome = Outcome(success=success, cost=cost, steps=3.0)
    assert scale.score(outcome, Terms(cost=False, steps=False)) == pytest.approx(success, abs=1e-15)
