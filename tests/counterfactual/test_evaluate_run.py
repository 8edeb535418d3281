"""One run against history: arithmetic by hand, and every row of the failure table."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from builders import a_run
from histories import moment, on_day, past, seen

from untaken.counterfactual import RunEvaluation, Weights, evaluate_run, summarise
from untaken.counterfactual.memory import PolicyMemory
from untaken.errors import Unscored, UntakenError
from untaken.ledger.events import MemoryReference
from untaken.ledger.run import Run

# Spans of the history: cost 1…3, steps 2…6.
FRAME = [seen("low", "frame", cost=1.0, steps=2.0), seen("high", "frame", cost=3.0, steps=6.0)]


def branch_of(evaluation: RunEvaluation, point: int = 0, alternative: int = 0):
    return evaluation.decisions[point].branches[alternative]


def now(
    *choices: str, success: bool = False, cost: float | None = 2.0, steps: int | None = 4, day: float = 9
) -> Run:
    return past("now", *(choices or ("a|b", "a|b")), day=day, success=success, cost=cost, steps=steps)


MIXED = [seen("r1", "b", cost=1.0, steps=2.0), seen("r2", "b", cost=3.0, steps=6.0, success=0.0)]
EDGES = [("one success in five", 6, 5, 0.1), ("half the steps lost", 4, 1, -0.1)]


@pytest.mark.parametrize(("desc", "steps", "runs", "delta"), EDGES, ids=[case[0] for case in EDGES])
def test_exactly_a_tenth_is_the_double_of_a_tenth_and_equivalent(desc, steps, runs, delta) -> None:
    history = [seen(f"r{i}", "b", cost=3.0, steps=6.0, success=float(i == 0 < runs - 1)) for i in range(runs)]
    branch = branch_of(evaluate_run(now(cost=3.0, steps=steps), PolicyMemory([*FRAME, *history])))
    assert (branch.delta, branch.verdict) == (delta, "equivalent")


def test_weights_and_threshold_are_configuration() -> None:
    memory = PolicyMemory([*FRAME, *MIXED])
    only_success = evaluate_run(now(), memory, weights=Weights(success=1.0, cost=0.0, steps=0.0))
    assert branch_of(only_success).delta == 0.5
    assert branch_of(evaluate_run(now(), memory, threshold=0.25)).verdict == "equivalent"
    for threshold in (-0.1, float("nan"), float("inf")):
        with pytest.raises(UntakenError, match="threshold-invalid"):
            evaluate_run(now(), memory, threshold=threshold)


def test_an_alternative_without_history_is_unknown_and_counted() -> None:
    evaluation = evaluate_run(now("a|b", "a|b@elsewhere", "a|c"), PolicyMemory([*FRAME, *MIXED]))
    assert [branch_of(evaluation, i).verdict for i in range(3)] == [
        "alternative_may_be_better",
        "unknown",
        "unknown",
    ]
    unknown = branch_of(evaluation, 1)
    assert (unknown.known, unknown.n, unknown.support) == (False, 0, "none")
    assert isinstance(unknown.delta, Unscored)
    assert isinstance(unknown.score, Unscored)
    assert (evaluation.summary.unknown, evaluation.summary.alternatives) == (2, 3)


REFUSED = [
    ("one selection", now("a|b"), "skipped", "insufficient_decision_points"),
    ("no selection", past("now", day=9), "skipped", "insufficient_decision_points"),
    (
        "the second selection comes after the finish",
        a_run("now").select("a", "b").finish(True).select("a", "b").run(),
        "skipped",
        "insufficient_decision_points"
    ),
    ("not finished", a_run("now").select("a", "b").select("a", "b").run(), "skipped", "run_not_finished"),
    ("success unknown", past("now", "a|b", "a|b", day=9, success=None), "skipped", "outcome_unscored"),
    ("truncated", replace(past("now", "a|b", "a|b", day=9, verdict="TRUNCATED")), "aborted", "DTL-STRAT-006"),
    ("altered", past("now", "a|b", "a|b", day=9, verdict="ALTERED"), "aborted", "DTL-STRAT-006"),
    ("malformed, and unfinished", a_run("now").select("a").run("MALFORMED"), "aborted", "DTL-STRAT-006")
]  # fmt: skip


@pytest.mark.parametrize(("desc", "run", "status", "code"), REFUSED, ids=[case[0] for case in REFUSED])
def test_a_run_that_cannot_be_judged_is_refused_with_its_code(desc, run, status, code) -> None:
    evaluation = evaluate_run(run, PolicyMemory([*FRAME, *MIXED]))
    assert (evaluation.status, evaluation.code) == (status, code)
    assert evaluation.reason
    assert isinstance(evaluation.actual_score, Unscored)
    assert (evaluation.decisions, evaluation.insights, evaluation.signals) == ((), (), ())
    assert [note.code for note in evaluation.notes] == [code]
    assert evaluation.summary.codes == ((code, 1),)


def test_later_outcomes_are_not_used_and_the_stale_memory_is_noted() -> None:
    later = [seen("future", "b", day=9.5, success=1.0, cost=0.0, steps=1.0)]
    fresh, stale = PolicyMemory([*FRAME, *MIXED]), PolicyMemory([*FRAME, *MIXED, *later])
    for memory in (stale, stale.snapshot(), stale.snapshot(moment(10))):
        evaluation = evaluate_run(now(), memory)
        assert evaluation.decisions == evaluate_run(now(), fresh).decisions
        assert evaluation.memory_digest == fresh.snapshot().digest
        assert [note.code for note in evaluation.notes] == ["memory-stale"]
    assert evaluate_run(now(), fresh).notes == ()


def test_left_out_cost_and_steps_are_noted() -> None:
    memory = PolicyMemory([*FRAME, *MIXED])
    evaluation = evaluate_run(past("now", "a|b", "a|b", day=9, cost=0.0, cost_unit="unpriced"), memory)
    assert [(n.code, n.message[:24]) for n in evaluation.notes] == [
        ("cost-left-out", "2 of 2 comparisons leave")
    ]
    run = now()
    assert run.finished is not None
    timeless = replace(run, events=(*run.events[:-1], msgspec.structs.replace(run.finished, steps=None)))
    assert [n.code for n in evaluate_run(timeless, memory).notes] == ["steps-left-out"]


def test_where_nothing_that_has_a_weight_is_known_the_delta_is_unscored() -> None:
    memory = PolicyMemory([*FRAME, *MIXED])
    run = past("now", "a|b", "a|b", day=9, cost=None)
    branch = branch_of(evaluate_run(run, memory, weights=Weights(success=0.0, cost=1.0, steps=0.0)))
    assert (branch.known, branch.verdict) == (True, "unknown")
    assert isinstance(branch.delta, Unscored)
    assert isinstance(branch.delta_low, Unscored)


def test_a_run_started_with_another_memory_says_so() -> None:
    memory = PolicyMemory([*FRAME, *MIXED])

    def started_with(digest: str) -> list[str]:
        reference = MemoryReference(as_of=moment(9), digest=digest)
        built = a_run("now", policy_memory=reference).select("a", "b").select("a", "b").finish(True)
        return [n.code for n in evaluate_run(on_day(built.run(), 9), memory).notes]

    assert started_with(memory.snapshot().digest) == []
    assert started_with("f" * 64) == ["memory-differs"]


def test_summaries_add_up() -> None:
    memory = PolicyMemory([*FRAME, *MIXED])
    runs = [now("a|b", "a|c"), now("a|b"), past("broken", "a", "b", day=9, verdict="ALTERED")]
    evaluations = [evaluate_run(run, memory) for run in runs]
    total = summarise(evaluations)
    assert (total.runs, total.evaluated, total.skipped, total.aborted) == (3, 1, 1, 1)
    assert total.codes == (("DTL-STRAT-006", 1), ("insufficient_decision_points", 1))
    assert (total.decisions, total.alternatives, total.alternative_may_be_better, total.unknown) == (
        2,
        2,
        1,
        1,
    )
    assert (total.mean_delta, total.max_delta, total.signals) == (0.25, 0.25, 2)
    assert summarise(evaluations[:1]) == evaluations[0].summary
    assert isinstance(summarise([]).mean_delta, Unscored)
