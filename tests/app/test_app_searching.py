"""Search: what holds all words, each with the address that leads there."""

from __future__ import annotations

import desk
import pytest

from components.shared.searching import MOST, runs_with, sub_goals_with


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
