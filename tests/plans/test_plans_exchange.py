"""CSV edge lists and networkx node-link JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import networkx
import pytest
from builders import a_graph

from untaken.errors import UntakenError
from untaken.plans import export_graph, parse_graph, read_graph


def shape(graph: Any) -> list[tuple[str, str, bool, list[str]]]:
    return [(node.id, node.title, node.critical, node.deps) for node in graph.sub_goals]


FORMULAS = [
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "'=1", "''", "'",
    '=HYPERLINK("x","y")',
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula_and_all_come_back(text: str) -> None:
    graph = a_graph({"id": text, "title": text}, {"id": "b", "deps": [text]})
    written = export_graph(graph, "csv")
    for row in csv.reader(io.StringIO(written, newline="")):
        assert not any(cell.strip().startswith(("=", "+", "-", "@", "＝")) for cell in row)
    assert shape(parse_graph(written, name="g.csv")) == shape(graph)


CSV_REFUSED = [
    ("empty", "", 1, "empty"),
    ("no header", "a,b\nc,d\n", 1, "source,target"),
    ("unknown column", "source,target,weight\na,b,1\n", 1, "source,target"),
    ("a column twice", "source,target,target\na,b,c\n", 1, "source,target"),
    ("too many cells", "source,target\na,b,c\n", 2, "3 cells"),
    ("no target", "source,target\na,\n", 2, "target"),
    ("critical is not a truth value", "source,target,critical\n,b,maybe\n", 2, "maybe"),
    ("quote not closed", 'source,target\na,"b\n', 2, "not valid CSV"),
    ("cell too large", "source,target\na," + "x" * 200_000, 2, "not valid CSV"),
]


@pytest.mark.parametrize(("desc", "text", "line", "says"), CSV_REFUSED)
def test_csv_is_refused_with_its_line(desc: str, text: Any, line: Any, says: str) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(text, name="g.csv")
    assert (caught.value.code, caught.value.where.line) == ("plan-csv", line)
    assert says in caught.value.message


@pytest.mark.parametrize("key", ["edges", "links"])
def test_what_networkx_writes_is_read(key: str) -> None:
    graph = networkx.DiGraph(name="whatever")
    graph.add_node(1, label="First", pos=[0, 1])
    graph.add_node("two", critical=True)
    graph.add_edge(1, "two", weight=3)
    read, findings = read_graph(json.dumps(networkx.node_link_data(graph, edges=key)), name="desk.json")
    assert (read.id, shape(read)) == ("desk", [("1", "First", False, []), ("two", "", True, ["1"])])
    assert "pos" in next(f.message for f in findings if f.code == "plan-attributes-ignored")


NODE_LINK_REFUSED = [
    ("undirected", {"directed": False, "nodes": [], "links": []}, "undirected"),
    ("nodes are no list", {"nodes": {}, "links": []}, "`nodes`"),
    ("edges are no mappings", {"nodes": [], "edges": [["a", "b"]]}, "`edges`"),
    ("no id", {"nodes": [{}], "edges": []}, "id"),
    ("an id twice", {"nodes": [{"id": "1"}, {"id": 1}], "edges": []}, "two nodes"),
    ("edge to nowhere", {"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 2}]}, "'2'"),
    ("edge without end", {"nodes": [{"id": 1}], "edges": [{"source": 1}]}, "id"),
]


@pytest.mark.parametrize(("desc", "value", "says"), NODE_LINK_REFUSED)
def test_node_link_is_refused(desc: str, value: Any, says: str) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(json.dumps(value), name="g.json")
    assert caught.value.code == "plan-node-link"
    assert says in caught.value.message


def test_node_link_json_is_indented_by_two_and_names_the_direction() -> None:
    assert export_graph(a_graph("a", {"id": "b", "deps": ["a"]}), "node-link").splitlines()[:3] == [
        "{",
        '  "directed": true,',
        '  "multigraph": false,',
    ]
