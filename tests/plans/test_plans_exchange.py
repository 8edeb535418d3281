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
from untaken.plans import edges, export_graph, parse_graph, read_graph

REFUND = a_graph(
    {"id": "intent", "title": "Identify intent"},
    {
        "id": "order",
        "deps": ["intent"],
        "check": {"tool_call": {"name": "search"}},
        "rules": [{"tool": "s*"}],
    },
    {"id": "refund", "deps": ["order", "intent"], "critical": True, "metadata": {"weight": 1.0}},
    "alone",
    graph_id="refund",
    version=4,
    title="Refund desk",
    metadata={"source": "hand"},
)


def shape(graph: Any) -> list[tuple[str, str, bool, list[str]]]:
    return [(node.id, node.title, node.critical, node.deps) for node in graph.sub_goals]


def test_csv_keeps_sub_goals_and_dependencies() -> None:
    written = export_graph(REFUND, "csv")
    assert written.splitlines()[:2] == ["source,target,title,critical", ",intent,Identify intent,"]
    assert shape(parse_graph(written, name="refund.csv")) == shape(REFUND)


def test_a_bare_edge_list_is_enough() -> None:
    graph = parse_graph("from,to\r\nintent,order\r\norder,refund\r\n", name="refund.csv")
    assert [(node.id, node.deps) for node in graph.sub_goals] == [
        ("intent", []),
        ("order", ["intent"]),
        ("refund", ["order"]),
    ]


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "＝1",
    "'=1",
    "''",
    "'",
    '=HYPERLINK("x","y")',
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula_and_all_come_back(text: str) -> None:
    graph = a_graph({"id": text, "title": text}, {"id": "b", "deps": [text]})
    written = export_graph(graph, "csv")
    for row in csv.reader(io.StringIO(written, newline="")):
        assert not any(cell.strip().startswith(("=", "+", "-", "@", "＝")) for cell in row)
    assert shape(parse_graph(written, name="g.csv")) == shape(graph)


CSV_REFUSED = [
    {"desc": "empty", "text": "", "line": 1, "says": "empty"},
    {"desc": "no header", "text": "a,b\nc,d\n", "line": 1, "says": "source,target"},
    {"desc": "unknown column", "text": "source,target,weight\na,b,1\n", "line": 1, "says": "source,target"},
    {"desc": "a column twice", "text": "source,target,target\na,b,c\n", "line": 1, "says": "source,target"},
    {"desc": "too many cells", "text": "source,target\na,b,c\n", "line": 2, "says": "3 cells"},
    {"desc": "no target", "text": "source,target\na,\n", "line": 2, "says": "target"},
    {
        "desc": "critical is not a truth value",
        "text": "source,target,critical\n,b,maybe\n",
        "line": 2,
        "says": "maybe",
    },
    {"desc": "quote not closed", "text": 'source,target\na,"b\n', "line": 2, "says": "not valid CSV"},
    {
        "desc": "cell too large",
        "text": "source,target\na," + "x" * 200_000,
        "line": 2,
        "says": "not valid CSV",
    },
]


@pytest.mark.parametrize("case", CSV_REFUSED, ids=lambda case: case["desc"])
def test_csv_is_refused_with_its_line(case: dict[str, Any]) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(case["text"], name="g.csv")
    assert (caught.value.code, caught.value.where.line) == ("plan-csv", case["line"])
    assert case["says"] in caught.value.message


def test_node_link_keeps_everything() -> None:
    assert parse_graph(export_graph(REFUND, "node-link"), name="other.json") == REFUND


def test_networkx_reads_what_is_written() -> None:
    graph = networkx.node_link_graph(json.loads(export_graph(REFUND, "node-link")), edges="edges")
    assert graph.is_directed()
    assert set(graph.edges) == set(edges(REFUND))
    assert graph.nodes["refund"]["critical"] is True


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
    {"desc": "undirected", "value": {"directed": False, "nodes": [], "links": []}, "says": "undirected"},
    {"desc": "nodes are no list", "value": {"nodes": {}, "links": []}, "says": "`nodes`"},
    {"desc": "edges are no mappings", "value": {"nodes": [], "edges": [["a", "b"]]}, "says": "`edges`"},
    {"desc": "no id", "value": {"nodes": [{}], "edges": []}, "says": "id"},
    {"desc": "an id twice", "value": {"nodes": [{"id": "1"}, {"id": 1}], "edges": []}, "says": "two nodes"},
    {
        "desc": "edge to nowhere",
        "value": {"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 2}]},
        "says": "'2'",
    },
    {"desc": "edge without end", "value": {"nodes": [{"id": 1}], "edges": [{"source": 1}]}, "says": "id"},
]


@pytest.mark.parametrize("case", NODE_LINK_REFUSED, ids=lambda case: case["desc"])
def test_node_link_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(UntakenError) as caught:
        parse_graph(json.dumps(case["value"]), name="g.json")
    assert caught.value.code == "plan-node-link"
    assert case["says"] in caught.value.message
