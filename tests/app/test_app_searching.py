"""Search: what holds all words, each with the address that leads there."""

from __future__ import annotations

import desk
import pytest

from components.shared.navigation import PAGES
from components.shared.searching import MOST, everything_with, pages_with, runs_with, sub_goals_with
from untaken.views import searching
from untaken.views.searching import texts_with


@pytest.mark.parametrize(
    ("words", "agents"),
    [
        (["careful"], {"careful"}),
        (["refund-2", "lucky"], {"lucky"}),
        (["REFUND-2".casefold()], {"careful", "lucky", "failing"}),
        (["nobody"], set()),
        (["careful", "lucky"], set()),
    ],
)
def test_a_run_is_found_by_all_words_of_its_agent_task_and_id(words: list[str], agents: set[str]) -> None:
    corpus = desk.corpus()
    found = runs_with(corpus, words)
    assert {corpus.runs[address["run"]].agent for _, _, address in found} == agents
    assert len(found) <= MOST


def test_a_sub_goal_is_found_by_its_title_and_leads_to_its_graph() -> None:
    corpus = desk.corpus()
    graph = corpus.graphs.graphs[0]
    for node in graph.sub_goals:
        (first, *_) = sub_goals_with(corpus, (node.title or node.id).casefold().split())
        assert first[2]["graph"] == graph.id
    assert sub_goals_with(corpus, ["no such words"]) == []


def test_without_words_every_page_is_offered_and_with_words_those_of_that_title() -> None:
    assert [label for _, label, _ in pages_with([])] == [f"Page · {title}" for _, title in PAGES]
    assert [page for page, _, _ in pages_with(["fail", "mode"])] == ["pages/failure_modes.py"]
    assert everything_with(desk.corpus(), []) == (pages_with([]), True)


def test_a_run_is_found_by_what_was_said_or_called_in_it() -> None:
    corpus = desk.corpus()
    hits, whole = texts_with(corpus.runs.values(), ["dance"], most=5)
    assert ([corpus.runs[hit.digest].run_id for hit in hits], whole) == (["stray"], True)
    found, _ = everything_with(corpus, ["dance"])
    assert [address for _, label, address in found if label.startswith("Text")] == [{"run": hits[0].digest}]
    assert texts_with(corpus.runs.values(), ["dance", "never said"], most=5) == ([], True)


def test_a_search_of_texts_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = desk.corpus().runs.values()
    hits, whole = texts_with(runs, ["search"], most=2)
    assert (len(hits), whole) == (2, False)
    monkeypatch.setattr(searching, "CHARS_LOOKED_AT", 10)
    assert texts_with(runs, ["dance"], most=5) == ([], False)
