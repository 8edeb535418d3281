"""Imported graphs: a drawing changes what was drawn, and nothing that a drawing cannot express."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from untaken.plans import GraphFormat, export_graph, load_graph
from untaken.traces import filled, graphs_in

SAMPLES = sorted((Path(__file__).parents[2] / "sample_runs").rglob("*.plan.yaml"))
ENDINGS: dict[GraphFormat, str] = {"mermaid": ".mmd", "csv": ".csv", "yaml": ".yaml", "node-link": ".json"}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("format", ["mermaid", "csv"])
def test_a_drawing_that_was_exported_comes_back_as_the_graph_it_was(path: Path, format: GraphFormat) -> None:
    graph = load_graph(path)
    imported = graphs_in(f"g{ENDINGS[format]}", export_graph(graph, format).encode())
    assert imported.drawn
    assert imported.graphs[0] != graph
    assert replace(filled(imported.graphs[0], graph), id=graph.id, version=graph.version) == graph


def test_what_was_drawn_counts_and_what_is_new_or_gone_stays_so() -> None:
    old = graphs_in("old.plan.yaml", OLD).graphs[0]
    drawn = graphs_in("new.mmd", b"flowchart TD\n a[Look it up] --> c[Close]\n").graphs[0]
    merged = {goal.id: goal for goal in filled(drawn, old).sub_goals}
    assert list(merged) == ["a", "c"]
    assert (merged["a"].title, merged["a"].check) == ("Look it up", old.sub_goals[0].check)
    assert (merged["c"].deps, merged["c"].check, merged["c"].any_of) == (["a"], None, [])
    assert filled(drawn, old).tasks == ["t*"]


OLD = b"""schema: untaken.plan/1
id: old
tasks: ['t*']
sub_goals:
- {id: a, title: Look, check: {verdict: true}, rules: [{tool: look}]}
- {id: b, title: Pay, deps: [a], check: {verdict: true}}
- {id: c, title: Done, any_of: [b]}
"""
