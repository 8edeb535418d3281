"""The report holds what people wrote about runs where it is asked to, and nothing of it elsewhere."""

from __future__ import annotations

import desk
import pytest
from html_pages import Parsed

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.failure_modes import Taxonomy, assignment_draft, create_mode, note_draft
from untaken.ledger import Draft, Run
from untaken.views.html import html_report
from untaken.workspace import Workspace

NOTE = "The amount is that of <b>another</b> order."


@pytest.fixture
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Corpus, Taxonomy]:
    taxonomy, mode = create_mode(
        Taxonomy(), "Wrong amount", definition="Another amount is paid.", by="human:kim"
    )
    with Workspace(tmp_path_factory.mktemp("at")) as store:
        store.add("desk.plan.yaml", desk.GRAPH)
        for run in (desk.failing(20), desk.careful(10)):
            store.add(f"{run.run_id}.jsonl", run.ledger())
        failed = next(run for run in store.read_runs()[0] if run.success is False)
        for draft in (note_draft(NOTE, author="human:kim"), assignment_draft(mode.id, by="human:kim")):
            _append(store, failed, draft)
        corpus = evaluate_corpus(store.read_runs()[0], store.graph_set(), resamples=200)
    return corpus, taxonomy


def _append(store: Workspace, run: Run, draft: Draft) -> None:
    store.append_events(run, [draft])


def test_notes_are_left_out_unless_they_are_asked_for(written: tuple[Corpus, Taxonomy]) -> None:
    words = Parsed(html_report(written[0])).words
    assert "The amount is that of" not in words
    assert "kim" not in words


@pytest.mark.parametrize(
    "said",
    [
        "Wrong amount",
        "1 of 1",
        "Another amount is paid.",
        "Note by kim",
        NOTE,
        "Why",
        "Expected",
        "Got",
        "1 run read by a person, 1 of them failed",
    ],
)
def test_the_report_says_what_people_found(said: str, written: tuple[Corpus, Taxonomy]) -> None:
    corpus, taxonomy = written
    assert said in Parsed(html_report(corpus, notes=taxonomy)).words


def test_an_item_to_fix_has_an_example_of_what_was_expected_and_what_was_there(
    written: tuple[Corpus, Taxonomy],
) -> None:
    assert "For example, failing-20: '" in Parsed(html_report(written[0])).words
