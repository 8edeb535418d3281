"""A run's insights and their summary are one transaction: all of them are in its ledger, or none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from histories import seen
from test_ledger_crashes import points

from untaken.cli import main
from untaken.counterfactual import collect_signals, evaluate_run, insight_events
from untaken.counterfactual.memory import PolicyMemory, queue_signals, read_queue
from untaken.ledger import LedgerWriter, append_events, event_type, read_ledger
from untaken.ledger import events as e

HISTORY = [
    seen("low", "frame", cost=1.0, steps=2.0),
    seen("high", "frame", cost=3.0, steps=6.0),
    seen("r1", "b", cost=1.0, steps=2.0),
    seen("r2", "c", cost=1.5, steps=2.0),
]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BOTH = [["RUN_FINISHED"], ["RUN_FINISHED", *["COUNTERFACTUAL_INSIGHT"] * 3, "EVALUATION_SUMMARY"]]


def write_failed_run(path: Path) -> None:
    with LedgerWriter(path, clock=lambda: NOON) as ledger:
        run = ledger.start(run_id="now", agent="x", task_id="t")
        run.write(e.SkillSelection, selected="a", alternatives=["b", "c"], context_hash="ctx")
        run.write(e.SkillSelection, selected="a", alternatives=["c"], context_hash="ctx")
        run.write(e.RunFinished, success=False, cost=3.0, steps=6)


def evaluate_and_append(path: Path, memory: Path) -> None:
    """What `untaken counterfactual --memory FILE --append` does, in its order."""
    (run,) = read_ledger(path)
    evaluation = evaluate_run(run, PolicyMemory.load(memory))
    if drafts := insight_events(run, evaluation):
        queue_signals(memory, collect_signals([evaluation]))
        append_events(path, run.run_id, drafts)


def test_wherever_a_crash_comes_all_insights_are_there_or_none_and_again_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen_tails = set()

    def work(folder: Path) -> Callable[[], object]:
        write_failed_run(folder / "a.jsonl")
        PolicyMemory(HISTORY).save(folder / "x.memory.jsonl")
        return lambda: evaluate_and_append(folder / "a.jsonl", folder / "x.memory.jsonl")

    for path in points(work, tmp_path, monkeypatch, (0.0, 0.5)):
        memory = path.with_name("x.memory.jsonl")
        (run,) = read_ledger(path, strict=False)[0]
        tail = [event_type(event) for event in run.events[3:]]
        assert (run.integrity.verdict, tail in BOTH) == ("INTACT", True)
        assert len(read_queue(memory)) in ((0, 5) if tail == BOTH[0] else (5,))
        seen_tails.add(len(tail))
        for _ in range(2):
            evaluate_and_append(path, memory)
            (run,) = read_ledger(path)
            assert [event_type(event) for event in run.events[3:]] == BOTH[1]
            assert run.integrity.verdict == "INTACT"
            assert len(read_queue(memory)) == 5
    assert seen_tails == {1, 5}


def test_wherever_a_crash_comes_all_verdicts_are_there_or_none(tmp_path, monkeypatch, capsys) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")
    from judges import recorded, write_desk

    store = recorded(tmp_path, write_desk(tmp_path / "template"))
    tails = set()

    def work(folder: Path) -> Callable[[], object]:
        words = f"judge {write_desk(folder)} --graphs {folder} --replies {store} --model stand-in"
        return lambda: main([*words.split(), "--offline", "--append"])

    for ledger in points(work, tmp_path, monkeypatch, (0.5,)):
        (run,) = read_ledger(ledger, strict=False)[0]
        tail = [event_type(event) for event in run.events[6:]]
        assert (run.integrity.verdict, tail in ([], ["VERDICT", "VERDICT"])) == ("INTACT", True)
        tails.add(len(tail))
    assert tails == {0, 2}
    capsys.readouterr()
