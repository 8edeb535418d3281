"""AgentRx: runs, successes and the labelled root causes, as computed elsewhere."""

from __future__ import annotations

from real_records import Converted

from untaken.ledger import ReviewNote, Verdict
from untaken.plans import PlanGraph
from untaken.scoring import RunScore
from untaken.scoring.seen_texts import SeenTexts
from untaken.scoring.unused import unused_values_of


def test_runs_successes_and_labels_are_all_there(converted, reference) -> None:
    """One label speaks of a task whose run is not among these."""
    runs, want = converted("agentrx", "agentrx").runs, reference["agentrx"]
    assert (len(runs), sum(run.success is True for run in runs)) == (want["runs"], want["successes"])
    tasks = {run.task_id.rpartition("-")[2]: run for run in runs}
    roots = {task: root for task, root in want["root_causes"].items() if task in tasks}
    assert len(roots) == want["labelled"] - 1
    for task, root in roots.items():
        (verdict,) = [e for e in tasks[task].events if isinstance(e, Verdict)]
        notes = [e for e in tasks[task].events if isinstance(e, ReviewNote)]
        assert verdict.sub_goal == f"work of {root['agent']}"
        assert (verdict.reason or "").startswith(root["category"])
        assert len(notes) == root["failures"] - 1


def test_the_only_values_that_no_run_was_shown_are_an_id_that_no_text_of_any_run_holds(converted) -> None:
    """Of 13 expected values that calls of failed runs did not use; the plan alone names it."""
    found = converted("agentrx", "agentrx")
    failed = {run.run_id: run for run in found.runs if run.success is False}
    values = [
        value
        for score in found.scores(failed.values())
        for node in score.nodes
        for value in unused_values_of(SeenTexts(failed[score.run_id]), _graph_of(found, score), node)
        if value.call is not None
    ]
    missing = {value.expected.strip('"') for value in values if value.missing}
    assert (len(values), sum(value.missing for value in values), len(missing)) == (13, 2, 1)
    texts = [text.text for run in found.runs for text in SeenTexts(run).texts]
    assert not any(value in text for value in missing for text in texts)


def _graph_of(found: Converted, score: RunScore) -> PlanGraph:
    graph = found.graphs.get(score.graph_id)
    assert graph is not None
    return graph
