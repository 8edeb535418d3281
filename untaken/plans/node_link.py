"""Plan graphs as networkx node-link JSON (``networkx.node_link_data`` / ``node_link_graph``).

An arrow runs from a dependency to what needs it. Written files keep everything a plan graph holds.
"""

from __future__ import annotations

from typing import Any

import msgspec

from untaken.errors import Finding, UntakenError, Where
from untaken.plans.plan_graph import PlanGraph, SubGoal
from untaken.plans.strict_document import Document

_GRAPH_FIELDS = frozenset(PlanGraph.__struct_fields__) - {"sub_goals"}
_NODE_FIELDS = frozenset(SubGoal.__struct_fields__) - {"deps"}


def is_node_link(value: Any) -> bool:
    """True for a JSON document that has the shape of node-link data."""
    return isinstance(value, dict) and "nodes" in value and ("edges" in value or "links" in value)


def write_node_link(graph: PlanGraph) -> str:
    """JSON that ``networkx.node_link_graph(json.loads(text), edges="edges")`` accepts."""
    plain = msgspec.to_builtins(graph)
    nodes = plain.pop("sub_goals")
    links = [{"source": dep, "target": node["id"]} for node in nodes for dep in node.pop("deps", ())]
    document = {
        "directed": True,
        "multigraph": False,
        "graph": {"schema": graph.schema, **plain},
        "nodes": nodes,
        "edges": links,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def read_node_link(document: Document, graph_id: str) -> tuple[Document, list[Finding]]:
    """The graph document of node-link data; ``label`` or ``name`` is used as title, other attributes are
    named in a finding and left out.

    Raises:
        UntakenError: ``plan-node-link``.
    """
    value, name = document.value, document.name
    if not is_node_link(value):
        raise _fault(name, "node-link JSON has the keys nodes and edges (or links)")
    if value.get("directed") is False:
        raise _fault(name, "the graph is undirected: dependencies need a direction")
    ignored: dict[str, None] = {}
    nodes: dict[str, dict[str, Any]] = {}
    for node in _mappings(value["nodes"], "nodes", name):
        sub_goal = _sub_goal(node, ignored, name)
        if sub_goal["id"] in nodes:
            raise _fault(name, f"two nodes have the id {sub_goal['id']!r}")
        nodes[sub_goal["id"]] = sub_goal
    for link in _mappings(value.get("edges", value.get("links")), "edges", name):
        source, target = (_id(link.get(end), name) for end in ("source", "target"))
        if target not in nodes or source not in nodes:
            raise _fault(name, f"the edge {source!r} → {target!r} names a node that does not exist")
        nodes[target]["deps"].setdefault(source)  # a multigraph may repeat an edge
    for sub_goal in nodes.values():
        sub_goal["deps"] = list(sub_goal["deps"])
    attributes = value.get("graph") if isinstance(value.get("graph"), dict) else {}
    fields = {key: item for key, item in attributes.items() if key in _GRAPH_FIELDS}
    graph = {"id": graph_id, **fields, "sub_goals": list(nodes.values())}
    return Document(graph, name, {}), _ignored(ignored, name)


def _sub_goal(node: dict[str, Any], ignored: dict[str, None], name: str) -> dict[str, Any]:
    fields = {key: item for key, item in node.items() if key in _NODE_FIELDS}
    title = next((node[key] for key in ("title", "label", "name") if isinstance(node.get(key), str)), "")
    ignored.update(dict.fromkeys(node.keys() - _NODE_FIELDS - {"label", "name"}))  # these may be the title
    return {**fields, "id": _id(node.get("id"), name), "title": title, "deps": {}}


def _id(value: Any, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):  # in Python `true` is a number
        raise _fault(name, f"a node's id must be a text or a whole number, not {str(value)[:40]}")
    return str(value)


def _mappings(value: Any, key: str, name: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _fault(name, f"`{key}` must be a list of mappings")
    return value


def _ignored(ignored: dict[str, None], name: str) -> list[Finding]:
    if not ignored:
        return []
    shown = ", ".join(sorted(ignored)[:10])
    message = f"node attributes without a meaning in a plan graph were left out: {shown}"
    return [Finding(code="plan-attributes-ignored", message=message, where=Where(file=name), severity="note")]


def _fault(name: str, message: str) -> UntakenError:
    return UntakenError("plan-node-link", message, where=Where(file=name))
