"""Columns over all runs say what one decision after another says: the same numbers to 1e-12."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec
import pytest
from builders import a_run
from histories import on_day
from hypothesis import example, given
from hypothesis import strategies as st
from one_by_one.decisions import Bench

from untaken.counterfactual import (
    THRESHOLD,
    Alternative,
    Insight,
    RunEvaluation,
    Weights,
    decisions,
    evaluate_run,
    evaluate_runs,
    strata,
    summarise,
)
from untaken.counterfactual.memory import Observed, PolicyMemory, Signal, Snapshot
from untaken.ledger import Run, SkillSelection

NEAR = 1e-12


def layered(context: str, layers: int) -> tuple[str, ...] | None:
    return (context, f"{context[0]}*", "all")[:layers] if layers > 1 else None


def a_corpus(random: Random, runs: int) -> list[Run]:
    """Runs that share skills and contexts, begin at odd moments, and lack some figures."""
    made = []
    for number in range(runs):
        builder = a_run(f"r{number}", agent=random.choice("mn"), task=random.choice("tuv"))
        for _ in range(random.randint(2, 5)):
            context, layers = random.choice(["x1", "x2", "y1"]), random.choice([1, 1, 1, 2, 3])
            builder.add(
                SkillSelection,
                selected=random.choice("abc"),
                alternatives=["a", "b", "c", "never"],
                context_hash=context,
                context_layers=layered(context, layers),
            )
        cost = random.choice([None, 0.1, 0.3, round(random.random(), 3), 1 / 3])
        run = builder.finish(random.random() < 0.6, cost=cost, steps=random.randint(1, 9)).run()
        made.append(on_day(run, random.choice([0, number / 7, number])))
    return made


def weak(memory: PolicyMemory, random: Random) -> list[Observed]:
    """Weak observations of some of the choices."""
    some = random.sample(memory.log, min(len(memory.log), 6))
    return [
        msgspec.structs.replace(
            o, key=f"weak/{o.key}", kind="weak", weight=0.25, cost=None, steps=None, success=0.7,
            cost_unit="usd", context_layers=msgspec.UNSET, task_id=msgspec.UNSET, agent=msgspec.UNSET
        )
        for o in some
    ]  # fmt: skip


def assert_same(runs: Sequence[Run], memory: PolicyMemory | Snapshot, weights: Weights) -> int:
    """Every field of every branch; how many were compared."""
    given, compared = memory.snapshot() if isinstance(memory, PolicyMemory) else memory, 0
    evaluations = evaluate_runs(runs, memory, weights=weights)
    for run in runs[-2:]:
        alone = evaluate_run(run, memory, weights=weights)
        assert evaluations[run.digest] == alone, "the same alone as among others"
    for run in runs:
        evaluation = evaluations[run.digest]
        assert evaluations.status(run.digest) == evaluation.status
        assert evaluations.summary(run.digest) == summarise([evaluation]), "counted without its objects"
        assert evaluations.decisions(run.digest) == evaluation.decisions
        assert evaluations.actual_score(run.digest) == evaluation.actual_score
        assert signalled(evaluations.signals(run.digest).signals) == by_hand(evaluation)
        if evaluation.status != "evaluated":
            continue
        bench = Bench.of(run, given.at(run.started.ts), weights, THRESHOLD)
        same_figure(evaluation.actual_score, bench.actual_score())
        for decision, selection in zip(evaluation.decisions, run.selections, strict=True):
            before = bench.decision(selection)
            assert decision.n_selected == before.n_selected
            for branch, expected in zip(decision.branches, before.branches, strict=True):
                same_branch(branch, expected)
                compared += 1
    return compared


def signalled(signals: Sequence[Signal]) -> list[tuple[object, ...]]:
    return [(s.decision_point, s.direction, s.skill, s.context_hash, s.supported, s.delta) for s in signals]


def by_hand(evaluation: RunEvaluation) -> list[tuple[object, ...]]:
    """The weak signals that follow from the objects of a run's decisions."""
    contexts = {decision.decision_point: decision.context_hash for decision in evaluation.decisions}
    behind: dict[tuple[int, str, str], list[Insight]] = {}
    for insight in evaluation.insights:
        for direction, skill in (("negative", insight.selected), ("positive", insight.alternative)):
            behind.setdefault((insight.decision_point, direction, skill), []).append(insight)
    return [
        (*key, contexts[key[0]], any(i.direction == "better" for i in some), max(i.delta for i in some))
        for key, some in behind.items()
    ]


def same_branch(found: Alternative, expected: Alternative) -> None:
    for field in set(Alternative.__struct_fields__) - {"parts"}:  # `test_parts` is about them
        same_figure(getattr(found, field), getattr(expected, field))


def same_figure(found: object, expected: object) -> None:
    if isinstance(expected, float):
        assert found == pytest.approx(expected, abs=NEAR, rel=NEAR)
    else:
        assert found == expected


@example(184, 5, False)  # every k predicts as well: rounding must not choose one
@example(463479, 8, False)  # success and what it saves cancel out: rounding is no spread
@given(st.integers(0, 2**32), st.integers(2, 40), st.booleans())
def test_any_corpus_gives_the_same_figures_as_one_decision_after_another(seed, size, speculated) -> None:
    random = Random(seed)
    runs = a_corpus(random, size)
    memory = PolicyMemory.build(runs)
    if speculated:
        memory.extend(weak(memory, random))
    parts = sorted((random.random(), random.random()))
    weights = random.choice(
        [Weights(), Weights(success=parts[0], cost=parts[1] - parts[0], steps=1 - parts[1])]
    )
    assert_same(runs, memory, weights)


def test_figures_beyond_a_double_squared_are_still_compared() -> None:
    runs = []
    for n in range(8):
        run = a_run(f"r{n}")
        for _ in range(2):
            run.add(SkillSelection, selected="ab"[n % 2], alternatives=["a", "b"], context_hash="x")
        runs.append(on_day(run.finish(n % 3 > 0, cost=1e200 * (n + 1), steps=3).run(), n))
    assert assert_same(runs, PolicyMemory.build(runs), Weights()) == 16


@pytest.mark.parametrize("at_once", [1, 2, 7])
def test_decisions_compared_a_few_at_a_time_are_those_compared_together(at_once, monkeypatch) -> None:
    runs = a_corpus(Random(3), 30)
    alone = a_run("without alternatives").select("a").select("b", "a", "c").finish(True).run()
    runs.append(on_day(alone, 40))
    memory = PolicyMemory.build(runs)
    together = dict(evaluate_runs(runs, memory))
    monkeypatch.setattr(decisions, "AT_ONCE", at_once)
    assert dict(evaluate_runs(runs, memory)) == together


@pytest.mark.parametrize("seed", range(6))
def test_what_is_not_worth_a_test_would_not_be_supported_by_it(seed, monkeypatch) -> None:
    runs = a_corpus(Random(seed), 60)
    memory = PolicyMemory.build(runs)
    screened = dict(evaluate_runs(runs, memory))
    monkeypatch.setattr(strata, "SCREEN", 0.0)
    assert dict(evaluate_runs(runs, memory)) == screened
