"""What an evaluation leaves behind: insights in the ledger, weak signals for the queue."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from histories import past, seen

from untaken.counterfactual import collect_signals, evaluate_run, insight_events, insights_bytes
from untaken.counterfactual.memory import PolicyMemory
from untaken.ledger import LedgerWriter, append_events, event_type, read_ledger
from untaken.ledger import events as e

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
