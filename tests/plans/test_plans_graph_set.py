"""Many graphs: a bad file never blocks the others, and a task is never matched by guess."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import a_graph

from untaken.errors import Unscored
from untaken.plans import GraphSet, PlanGraph, escape_glob, load_graphs, save_graph


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_graph(a_graph("a", graph_id="refund", tasks=["refund-*"]), tmp_path / "refund.plan.yaml")
    save_graph(a_graph("b", graph_id="flight", tasks=["flight-*"]), tmp_path / "flight.plan.json")
    deeper = tmp_path / "more"
    deeper.mkdir()
    (tmp_path / "trip.yaml").write_text("id: trip\nsub_goals: [{id: a}]")
    (tmp_path / "steps.csv").write_text("from,to\na,b\n")
    (deeper / "tea.mmd").write_text("flowchart TD\n boil --> brew\n")
    (tmp_path / "broken.plan.yaml").write_text("id: x\nsub_goals: [{id: a, deps: [a]}]")
    (tmp_path / "notes.txt").write_text("no graph")
    (tmp_path / "loss.json").write_text('{"sub_goals": 3}')
    (tmp_path / "compose.yaml").write_text("services: {}")
    (tmp_path / "prices.csv").write_text("item,price\n")
    return tmp_path


def test_a_folder_is_searched_in_depth_and_bad_files_are_findings(folder: Path) -> None:
    graphs = load_graphs(folder)
    assert [graph.id for graph in graphs.graphs] == ["flight", "tea", "refund", "steps", "trip"]
    errors = [f for f in graphs.findings if f.severity == "error"]
    assert [(f.code, Path(f.where.file or "").name, f.where.line) for f in errors] == [
        ("graph-self-dependency", "broken.plan.yaml", 2)
    ]


def graph(graph_id: str, *tasks: str, version: int = 1, title: str = "") -> PlanGraph:
    return a_graph("a", graph_id=graph_id, tasks=list(tasks), version=version, title=title)


def test_the_task_finds_its_graph() -> None:
    graphs = GraphSet.of([graph("refund", "refund-*"), graph("flight", "flight-?", "trip")])
    assert graphs.for_task("refund-7") == (graphs.get("refund"), [])
    assert graphs.for_task("trip") == (graphs.get("flight"), [])


def test_a_task_without_a_graph_is_unscored() -> None:
    assert GraphSet.of([graph("refund", "refund-*")]).for_task("tea") == (
        Unscored("no plan graph for its task: 'tea'"),
        [],
    )


def test_a_task_that_two_graphs_match_is_a_finding_and_unscored() -> None:
    graphs = GraphSet.of([graph("a", "refund-*"), graph("b", "*-1")])
    found, findings = graphs.for_task("refund-1")
    assert isinstance(found, Unscored)
    assert [finding.code for finding in findings] == ["task-matched-twice"]
    assert "'a', 'b'" in findings[0].message
    assert graphs.for_task("refund-2")[0] == graphs.get("a")


def test_the_run_names_its_graph() -> None:
    graphs = GraphSet.of([graph("a", "refund-*"), graph("b", "*-1")])
    assert graphs.for_task("refund-1", "b") == (graphs.get("b"), [])


def test_a_graph_that_is_not_here_is_not_replaced_by_another() -> None:
    found, findings = GraphSet.of([graph("a", "refund-*")]).for_task("refund-1", "other")
    assert isinstance(found, Unscored)
    assert [finding.code for finding in findings] == ["run-graph-unknown"]


@pytest.mark.parametrize("task", ["[mobile_data]user_off[PERSONA:None]", "a*b", "plain", "[!a]?"])
def test_any_task_id_can_be_named_exactly(task: str) -> None:
    for pattern in (escape_glob(task), task):
        assert GraphSet.of([graph("a", pattern)]).for_task(task)[0] == graph("a", pattern)


TWICE = [
    ("the same graph", graph("a", "x"), graph("a", "x"), "note", 1),
    ("a newer version", graph("a", "x"), graph("a", "x", version=2), "warning", 2),
    ("an older version", graph("a", "x", version=2), graph("a", "x"), "warning", 2),
    ("the same version, other content", graph("a", "x"), graph("a", "x", title="t"), "error", None),
]


@pytest.mark.parametrize(("desc", "first", "second", "severity", "version"), TWICE)
def test_an_id_given_twice(desc, first, second, severity, version) -> None:
    graphs = GraphSet.of([first, second])
    assert [(f.code, f.severity) for f in graphs.findings] == [("graph-id-twice", severity)], desc
    used, _ = graphs.for_task("x", "a")
    assert (used.version if isinstance(used, PlanGraph) else None) == version
    assert isinstance(used, PlanGraph | Unscored)
    assert graphs.ambiguous == (frozenset() if version else frozenset({"a"}))


def test_a_lower_version_settles_no_quarrel_of_higher_ones() -> None:
    rivals = graph("a", "x", version=2), graph("a", "x", version=2, title="t")
    graphs = GraphSet.of([*rivals, graph("a", "x")])
    assert (graphs.graphs, graphs.ambiguous) == ((), frozenset({"a"}))


def test_the_only_graph_serves_every_run_when_it_names_no_tasks() -> None:
    alone = GraphSet.of([graph("a")])
    assert alone.for_task("anything") == (alone.graphs[0], [])
    assert isinstance(GraphSet.of([graph("a"), graph("b")]).for_task("anything")[0], Unscored)
    assert isinstance(GraphSet.of([graph("a", "x")]).for_task("anything")[0], Unscored)
    assert isinstance(alone.for_task("anything", "another")[0], Unscored)


@pytest.mark.parametrize("schema", ["agree", "passport", "graph-audit", "versions"])
def test_what_a_command_wrote_beside_the_plans_is_none(folder: Path, schema: str) -> None:
    """A passport or a document kept in the same folder has lists of sub-goals or nodes, too."""
    before = load_graphs(folder)
    document = {"schema": f"untaken.{schema}/1", "sub_goals": [{"graph": "g"}], "nodes": []}
    (folder / f"{schema}.json").write_text(json.dumps(document, indent=2), "utf-8")
    assert load_graphs(folder) == before
    plan = {"schema": "untaken.plan/1", "id": "own", "sub_goals": [{"id": "a"}]}
    (folder / "own.json").write_text(json.dumps(plan), "utf-8")
    assert len(load_graphs(folder).graphs) == len(before.graphs) + 1
