"""The demo holds what a team of two samples wrote about the sample runs."""

from __future__ import annotations

import pytest

from components.shared.demo import open_demo
from untaken.analysis.corpus import evaluate_corpus
from untaken.analysis.failure_modes import kept_taxonomy, modes_by_run
from untaken.analysis.failure_modes.issue_file import kept_issues
from untaken.judging.blind_reading import other_readers
from untaken.ledger import Run, Verdict
from untaken.views.issues import corpus_issues
from untaken.workspace import Workspace


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return open_demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def runs(demo: Workspace) -> list[Run]:
    return demo.read_runs()[0]


def test_every_author_of_the_demo_is_marked_as_a_sample(demo: Workspace, runs: list[Run]) -> None:
    authors = set().union(*(other_readers(run, None) for run in runs))
    assert authors == {"human:sample: Ann", "human:sample: Ben"}
    assert {version.author for version in demo.graph_history("refund-desk")} == {"sample: Ann", "sample: Ben"}


def test_the_two_disagree_and_settled_one_case(runs: list[Run]) -> None:
    said = [{verdict.passed for verdict in run.of(Verdict) if not verdict.settles} for run in runs]
    assert {True, False} in said
    assert sum(verdict.settles for run in runs for verdict in run.of(Verdict)) == 1


def test_modes_are_assigned_and_reviews_have_a_status(demo: Workspace, runs: list[Run]) -> None:
    found = modes_by_run(runs, kept_taxonomy(demo.path))
    assert len({mode for one in found.values() for mode in one.modes}) == 5
    assert {review.status for review in demo.reviews.every().values()} == {"explained", "in review", "fixed"}


def test_an_issue_called_fixed_has_reopened(demo: Workspace, runs: list[Run]) -> None:
    corpus = evaluate_corpus(runs, demo.graph_set(), resamples=0)
    tracked = corpus_issues(corpus, kept_issues(demo.path).issues, kept_taxonomy(demo.path))
    assert {one.issue.id: one.state for one in tracked} == {
        "refunded-twice": "reopened",
        "policy-not-read": "open",
    }


def test_opening_it_again_adds_nothing(demo: Workspace) -> None:
    before = demo.digest(), demo.activity()
    open_demo(demo.path).close()
    assert (demo.digest(), demo.activity()) == before
