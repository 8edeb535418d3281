"""How much of the engine lies between a ledger and what is shown of it: few files, few classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from entered import entered

from untaken import PolicyMemory, evaluate_run, load_graph, rank_agents, read_ledger, score_run
from untaken.views.plan_drawing import draw

SAMPLES = Path(__file__).parents[2] / "sample_runs"
GRAPH = SAMPLES / "graphs" / "refund-desk.plan.yaml"
LEDGERS = sorted((SAMPLES / "ledgers").glob("*.jsonl"))


def coloured_nodes() -> list[str]:
    """A ledger and its plan graph, the score of a run, and the status that each box is drawn in."""
    graph = load_graph(GRAPH)
    return [box.status for box in draw(graph, score_run(read_ledger(LEDGERS[0])[0], graph)).boxes]


def deltas() -> list[object]:
    """A ledger, a policy memory of its runs, and what the paths not taken of a run would have changed."""
    runs = read_ledger(LEDGERS[0])
    made = evaluate_run(runs[-1], PolicyMemory.build(runs))
    return [branch.delta for decision in made.decisions for branch in decision.branches]


def ranks() -> list[str]:
    """Several ledgers, the scores of their runs, and the agents in order."""
    graph = load_graph(GRAPH)
    scores = [score_run(run, graph) for ledger in LEDGERS for run in read_ledger(ledger)]
    return [ranked.agent for ranked in rank_agents(scores).metrics["success_rate"]]


# They only ever go down; the aims are 25 files and 15 classes.
WALKS: list[tuple[Callable[[], list], int, int]] = [
    (coloured_nodes, 36, 22),
    (deltas, 34, 42),
    (ranks, 43, 27),
]


@pytest.mark.parametrize(("walk", "files", "classes"), WALKS, ids=[walk.__name__ for walk, _, _ in WALKS])
def test_a_walk_enters_few_files_and_classes(walk: Callable[[], list], files: int, classes: int) -> None:
    assert walk(), "it leads somewhere"
    entered_files, entered_classes = entered(walk)  # what is read once for all was read by the first
    assert len(entered_files) <= files, sorted(entered_files)
    assert len(entered_classes) <= classes, sorted(entered_classes)
