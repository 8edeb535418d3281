"""Edges, ancestors, reduction and digest."""

from __future__ import annotations

from builders import a_graph
from msgspec.structs import replace

from untaken.plans import graph_digest

DIAMOND = [
    "intent",
    {"id": "order", "deps": ["intent"]},
    {"id": "policy", "deps": ["intent"]},
    {"id": "refund", "deps": ["order", "policy", "intent"]},
]


def test_digest_changes_with_any_content_and_with_nothing_else() -> None:
    graph = a_graph(*DIAMOND)
    assert graph_digest(graph) == graph_digest(a_graph(*DIAMOND))
    assert graph_digest(graph) != graph_digest(replace(graph, title="other"))
    assert graph_digest(graph) != graph_digest(replace(graph, metadata={"a": 1}))
    assert graph_digest(replace(graph, metadata={"a": 1, "b": 2})) == graph_digest(
        replace(graph, metadata={"b": 2, "a": 1})
    )


def test_a_graph_that_an_earlier_version_could_write_keeps_its_digest() -> None:
    """Judges' replies are kept under it."""
    call = {"tool_call": {"name": "search"}}
    graph = a_graph({"id": "a", "check": call, "rules": [{"tool": "x"}]})
    assert graph_digest(graph).startswith("c133500e7e54eea5")
