"""Many runs of one plan graph are scored as each would be alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from untaken.ledger import read_ledger
from untaken.plans import load_graphs
from untaken.scoring import MissingRule, score_run
from untaken.scoring.run_score import ScoreDetail
from untaken.scoring.scoring import score_together

SAMPLES = Path(__file__).parents[2] / "sample_runs"


@pytest.mark.parametrize("missing", ["fail", "drop"])
def test_a_graph_that_scored_many_runs_scores_each_like_one_that_scored_none(missing: MissingRule) -> None:
    """What follows from a pattern of results is remembered with the graph."""
    path = SAMPLES / "graphs" / "refund-desk.plan.yaml"
    runs = [run for ledger in sorted(SAMPLES.glob("ledgers/*.jsonl")) for run in read_ledger(ledger)][::3]
    (used,) = load_graphs(path).graphs
    for run in runs:
        score_run(run, used, missing=missing)
    for run in runs:
        (fresh,) = load_graphs(path).graphs
        assert score_run(run, used, missing=missing) == score_run(run, fresh, missing=missing)


@pytest.mark.parametrize("missing", ["fail", "drop"])
def test_a_detail_worked_out_with_the_score_is_the_one_worked_out_later(missing: MissingRule) -> None:
    (graph,) = load_graphs(SAMPLES / "graphs" / "refund-desk.plan.yaml").graphs
    runs = [run for ledger in sorted(SAMPLES.glob("ledgers/*.jsonl")) for run in read_ledger(ledger)][::3]
    at_once = list(score_together(runs, graph, missing=missing, detailed=True))
    assert all(isinstance(score.detail.held, ScoreDetail) for score in at_once)
    assert at_once == list(score_together(runs, graph, missing=missing))
