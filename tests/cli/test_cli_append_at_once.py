"""Every verb that appends, in two real processes at once: what they find is written once.

The test holds the ledger's lock until both processes have read the ledger and said what they found, so that
each of them is about to append the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import filelock
import pytest
from builders import RunBuilder, a_graph, a_run
from histories import past

from untaken.counterfactual.memory import PolicyMemory, read_queue
from untaken.ledger import as_mapping, event_type, heads_path, read_ledger, save_heads
from untaken.workspace import Workspace

ROOTS = os.pathsep.join([str(Path(__file__).parents[1]), str(Path(__file__).parents[2])])


def begun(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": ROOTS, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(processes: list[subprocess.Popen[str]]) -> list[str]:
    """What each printed last; none may have failed."""
    found = [(*process.communicate(timeout=60), process.returncode) for process in processes]
    assert [code for *_, code in found] == [0, 0], found
    return [out for out, *_ in found]


def both_append(ledger: Path, words: list[str], found: str) -> list[str]:
    """Runs a command twice at once; `found` is in the line after which it appends."""
    with filelock.FileLock(ledger.with_name(f".{ledger.name}.lock")):
        processes = [begun("-m", "untaken", *words) for _ in range(2)]
        for process in processes:
            assert process.stdout
            assert any(found in line for line in process.stdout), process.communicate()
    return ended(processes)


def about(ledger: Path, written: set[str]) -> list[str]:
    """What was written about the one run, without its place in the ledger; the run is intact."""
    (run,) = read_ledger(ledger)
    assert run.integrity.verdict == "INTACT"
    events = [as_mapping(event) for event in run.events]
    place = {"seq", "prev", "ts"}
    return [str({k: v for k, v in e.items() if k not in place}) for e in events if e["type"] in written]


def a_late_run(folder: Path) -> tuple[Path, Path]:
    """A run with alternatives that history prefers; its ledger, anchored, and the memory."""
    run = RunBuilder("late").select("slow", "fast", context="ctx").select("slow", "fast", context="ctx")
    ledger, memory = folder / "late.jsonl", folder / "m.memory.jsonl"
    write_anchored(ledger, run.finish(False))
    history = [past(f"r{n}", "fast", day=-10 + n, success=True) for n in range(4)]
    history += [past(f"s{n}", "slow", day=-5 + n, success=False) for n in range(4)]
    PolicyMemory.build(history).save(memory)
    return ledger, memory


def write_anchored(ledger: Path, run: RunBuilder) -> None:
    ledger.write_bytes(run.ledger())
    save_heads(heads_path(ledger), {run.run_id: run.head})


def test_two_evaluations_at_once_write_each_insight_and_signal_once(tmp_path: Path) -> None:
    ledger, memory = a_late_run(tmp_path)
    words = ["counterfactual", str(ledger), "--memory", str(memory), "--append"]
    said = both_append(ledger, words, "association")
    insights = about(ledger, {"COUNTERFACTUAL_INSIGHT", "EVALUATION_SUMMARY"})
    assert len(insights) == len(set(insights)) == 3
    assert sorted(out.split(" events appended")[0].split()[-1] for out in said) == ["0", "3"]
    assert len(read_queue(memory)) == 4
    for process in ended([begun("-m", "untaken", "memory", "apply", str(memory), "--all") for _ in range(2)]):
        assert "applied" in process
    assert sum(observed.kind == "weak" for observed in PolicyMemory.load(memory).log) == 4


def test_two_processes_that_queue_the_same_signals_queue_each_once(tmp_path: Path) -> None:
    ledger, memory = a_late_run(tmp_path)
    ended([begun("-m", "untaken", "memory", "queue", str(memory), str(ledger)) for _ in range(2)])
    assert len(read_queue(memory)) == 4


def verdicts_wanted(folder: Path) -> tuple[Path, list[str], str, set[str], int]:
    from judges import recorded, write_desk

    ledger = write_desk(folder)
    recorded(folder, ledger)
    return ledger, [], "questions", {"VERDICT"}, 2


def mappings_wanted(folder: Path) -> tuple[Path, list[str], str, set[str], int]:
    from judges import model_that, write_desk

    from untaken.judging import judge_mapping
    from untaken.judging.asking import ModelAccess, ReplyStore

    graph = a_graph({"id": "look", "rules": [{"tool": "search"}]}, {"id": "read"}, graph_id="desk")
    ledger = write_desk(folder, a_run("desk").call("open").call("search").finish(True), graph)
    model = model_that(lambda _, code: {"code": code, "actions": [{"seq": 1, "number": 2}]})
    with ModelAccess(model, ReplyStore(folder / "replies")) as access:
        judge_mapping(read_ledger(ledger)[0], graph, access)
    return ledger, ["--map"], "unmapped action", {"ACTION_MAPPING"}, 1


@pytest.mark.parametrize("wanted", [verdicts_wanted, mappings_wanted])
def test_two_judges_at_once_write_each_verdict_once(wanted, tmp_path) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra untaken[judge] is not installed")
    ledger, more, found, kinds, count = wanted(tmp_path)
    words = ["judge", str(ledger), "--graphs", str(tmp_path), "--replies", str(tmp_path / "replies")]
    both_append(ledger, [*words, "--model", "stand-in", "--offline", "--append", *more], found)
    said = about(ledger, kinds)
    assert len(said) == len(set(said)) == count


REVIEWER = """
import sys
from untaken.ledger import Draft, ReviewNote, Verdict
from untaken.workspace import Workspace
with Workspace(sys.argv[1]) as workspace:
    (run,) = workspace.read_runs()[0]
    print("read", flush=True)
    verdict = {"sub_goal": "look", "passed": True, "by": "human:ann"}
    note = {"author": "ann", "text": "why?"}
    workspace.append_events(run, [Draft(Verdict, verdict), Draft(ReviewNote, note)])
"""


def test_a_review_sent_twice_at_once_is_written_once(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        added = workspace.add("a.jsonl", a_run("r").call("look").finish().ledger())
    with filelock.FileLock(tmp_path / "ledgers" / f".{added.digest}.appending.lock"):
        reviewers = [begun("-c", REVIEWER, str(tmp_path)) for _ in range(2)]
        assert all(reviewer.stdout and reviewer.stdout.readline() == "read\n" for reviewer in reviewers)
    ended(reviewers)
    with Workspace(tmp_path) as workspace:
        (run,) = workspace.read_runs()[0]
        assert run.integrity.verdict == "INTACT"
        assert [event_type(event) for event in run.events[3:]] == ["VERDICT", "REVIEW_NOTE"]
