"""One run against history: arithmetic by hand, what is refused, and what an evaluation leaves behind."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from builders import a_run
from histories import moment, on_day, past, seen

from untaken.counterfactual import (
    RunEvaluation,
    Weights,
    collect_signals,
    evaluate_run,
    insight_events,
    insights_bytes,
    summarise,
)
from untaken.counterfactual.memory import PolicyMemory
from untaken.errors import Unscored, UntakenError
from untaken.ledger import LedgerWriter, append_events, event_type, read_ledger
from untaken.ledger import events as e
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


HISTORY = PolicyMemory(
    [
        seen("low", "frame", cost=1.0, steps=2.0),
        seen("high", "frame", cost=3.0, steps=6.0),
        seen("r1", "b", cost=1.0, steps=2.0),
        seen("r2", "c", cost=1.5, steps=2.0),
        seen("r3", "d", cost=3.0, steps=6.0, success=0.0),
    ]
)


def failed(run_id: str = "now", *choices: str):
    return past(run_id, *(choices or ("a|b|d|c", "b|d", "a|c")), day=9, success=False, cost=3.0, steps=6)


def test_a_decision_point_gives_one_negative_signal_and_a_positive_one_for_each_alternative() -> None:
    signals = evaluate_run(failed(), HISTORY).signals
    assert [(s.decision_point, s.skill, s.direction, s.outcome) for s in signals] == [
        (1, "a", "negative", 0.7),
        (1, "b", "positive", 0.6),
        (1, "c", "positive", 0.6),
        (3, "a", "negative", 0.7),
        (3, "c", "positive", 0.6),
    ]
    assert len({s.key for s in signals}) == len(signals)
    assert {s.context_hash for s in signals} == {"ctx"}


def test_of_two_runs_under_one_id_the_signals_of_the_one_that_ended_first_count() -> None:
    first, second = failed("now"), past("now", "a|b", "a|c", day=12, success=False, cost=3.0, steps=6)
    one, other = (evaluate_run(run, HISTORY) for run in (first, second))
    assert one.signals
    assert other.signals
    wanted = tuple(sorted(one.signals, key=lambda signal: signal.key))
    assert collect_signals([one, other]) == collect_signals([other, one]) == wanted


def test_keys_of_signals_cannot_be_forged_by_names() -> None:
    memory = PolicyMemory([*HISTORY.log, seen("x1", "z/0000002/positive/y"), seen("x2", "y")])
    one = evaluate_run(failed("r", "a|z/0000002/positive/y", "a|y"), memory).signals
    other = evaluate_run(failed("r/0000001/positive/z", "a|y", "a|y"), memory).signals
    assert {s.key for s in one}.isdisjoint(s.key for s in other)


def test_the_bytes_of_insights_are_canonical_and_repeatable() -> None:
    evaluation = evaluate_run(failed(), HISTORY)
    data = insights_bytes(evaluation)
    assert data == insights_bytes(evaluate_run(failed(), PolicyMemory(HISTORY.log[::-1])))
    assert data.startswith(b'[{"advantage":')
    first = json.loads(data)[0]
    assert list(first) == sorted(first)
    assert (first["decision_point"], first["selected"], first["alternative"], first["delta"]) == (
        1,
        "a",
        "b",
        1,
    )
    assert insights_bytes(evaluate_run(failed("x", "a|b"), HISTORY)) == b"[]"


def ticking():
    now = [datetime(2026, 3, 1, tzinfo=UTC)]

    def clock() -> datetime:
        now[0] += timedelta(seconds=1)
        return now[0]

    return clock


def write_failed_run(path: Path) -> None:
    with LedgerWriter(path, clock=ticking()) as ledger:
        run = ledger.start(run_id="now", agent="x", task_id="t")
        run.write(e.SkillSelection, selected="a", alternatives=["b", "d"], context_hash="ctx")
        run.write(e.SkillSelection, selected="a", alternatives=["c"], context_hash="ctx")
        run.write(e.RunFinished, success=False, cost=3.0, steps=6)


def test_appended_insights_stay_in_an_intact_ledger_and_are_not_appended_twice(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_failed_run(path)
    (run,) = read_ledger(path)
    evaluation = evaluate_run(run, HISTORY)
    append_events(path, run.run_id, insight_events(run, evaluation), clock=ticking())

    (again,) = read_ledger(path)
    assert again.integrity.verdict == "INTACT"
    assert [event_type(event) for event in again.events[-3:]] == [
        "COUNTERFACTUAL_INSIGHT",
        "COUNTERFACTUAL_INSIGHT",
        "EVALUATION_SUMMARY",
    ]
    insight, summary = again.events[-3], again.events[-1]
    assert isinstance(insight, e.CounterfactualInsight)
    assert (insight.decision_point, insight.selected, insight.alternative, insight.delta) == (
        1,
        "a",
        "b",
        1.0,
    )
    assert isinstance(summary, e.EvaluationSummary)
    assert summary.summary["alternative_may_be_better"] == 2

    second = evaluate_run(again, HISTORY)
    assert insights_bytes(second) == insights_bytes(evaluation)
    assert insight_events(again, second) == ()


def test_the_same_ledger_and_memory_give_the_same_bytes_whenever_they_are_evaluated(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    for path in (first, second):
        write_failed_run(path)
        (run,) = read_ledger(path)
        append_events(path, run.run_id, insight_events(run, evaluate_run(run, HISTORY)))  # by the real clock
    assert first.read_bytes() == second.read_bytes()
    (run,) = read_ledger(first)
    assert {event.ts for event in run.events[-3:]} == {run.finished.ts}


def test_a_run_without_insights_still_records_that_it_was_evaluated() -> None:
    run = past("now", "a|d", "a|d", day=9, success=True, cost=1.0, steps=2)
    (draft,) = insight_events(run, evaluate_run(run, HISTORY))
    assert draft.event is e.EvaluationSummary
    assert draft.fields["summary"]["actual_was_better"] == 2
