"""The example agent: short, and recording enough for everything there is to see."""

from __future__ import annotations

import subprocess
import sys

import pytest
from doc_pages import ROOT, blocks, page

from untaken import evaluate_corpus, load_graph, read_ledger
from untaken.analysis.corpus import Corpus
from untaken.errors import Unscored
from untaken.plans import GraphSet

AGENT = ROOT / "docs" / "example_agent.py"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """What the agent recorded, evaluated."""
    folder = tmp_path_factory.mktemp("help desk")
    subprocess.run([sys.executable, str(AGENT), str(folder)], check=True)
    graph = load_graph(AGENT.with_suffix(".plan.yaml"))
    return evaluate_corpus(read_ledger(folder / "help-desk.jsonl"), GraphSet.of([graph]))


def test_it_is_short_and_what_the_page_shows_of_it_is_in_it() -> None:
    text = AGENT.read_text("utf-8")
    (shown,) = (
        b.text for b in blocks(page("docs/your-own-runs.md")) if b.language == "python" and not b.title
    )
    assert len(text.splitlines()) < 80
    assert shown in text


def test_its_ledger_is_intact_and_every_run_scored(corpus: Corpus) -> None:
    assert len(corpus.runs) == 80
    assert {run.integrity.verdict for run in corpus.runs.values()} == {"INTACT"}
    assert not corpus.findings
    assert not any(isinstance(score.completion, Unscored) for score in corpus.scores.values())


def test_it_shows_failures_replans_and_recovery(corpus: Corpus) -> None:
    assert {score.diagnosis for score in corpus.scores.values()} >= {"clean", "violation"}
    assert any(score.transient_failures and score.replans for score in corpus.scores.values())
    assert any(score.recovered == 1.0 for score in corpus.scores.values())


def test_most_alternatives_have_history_and_some_have_support(corpus: Corpus) -> None:
    branches = [b for e in corpus.evaluations.values() for d in e.decisions for b in d.branches]
    assert sum(branch.known for branch in branches) > 0.9 * len(branches)
    assert {branch.support for branch in branches} == {"none", "weak", "supported"}


def test_each_of_its_choices_says_its_odds_and_its_situation(corpus: Corpus) -> None:
    for run in corpus.runs.values():
        for choice in run.selections:
            assert sum((choice.propensities or {}).values()) == pytest.approx(1)
            assert isinstance(choice.context, dict)
