"""Plan graphs as a CSV edge list.

Columns ``source,target,title,critical``. A row with a source is a dependency (`target` needs `source`); a row
without one declares the sub-goal `target`. Cells that a spreadsheet would run as a formula are preceded by an
apostrophe, which reading takes off again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from untaken.csv_export import csv_line, restored
from untaken.errors import UntakenError, Where
from untaken.plans.plan_graph import PlanGraph
from untaken.plans.strict_document import Document, Path

_SOURCE, _TARGET = ("source", "from"), ("target", "to")
_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"", "false", "0", "no"})


def write_edge_list(graph: PlanGraph) -> str:
    """All sub-goals, then all dependencies, in graph order."""
    rows: list[tuple[str, str, str, str]] = [("source", "target", "title", "critical")]
    rows += [("", node.id, node.title, "true" if node.critical else "") for node in graph.sub_goals]
    rows += [(dep, node.id, "", "") for node in graph.sub_goals for dep in node.deps]
    return "".join(map(csv_line, rows))


def read_edge_list(text: str, name: str, graph_id: str) -> Document:
    """The graph document of an edge list; ``from,to`` are accepted for ``source,target``, other columns are
    not.

    Raises:
        UntakenError: ``plan-csv``.
    """
    nodes: dict[str, dict[str, Any]] = {}
    lines: dict[Path, int] = {(): 1}
    for line, row in _rows(text, name):
        source, target = row["source"], row["target"]
        if not target:
            raise _fault(name, line, "a row needs a target")
        for sub_goal in filter(None, (source, target)):
            if sub_goal not in nodes:
                lines["sub_goals", len(nodes)] = line
                nodes[sub_goal] = {"id": sub_goal, "deps": []}
        if source:
            nodes[target]["deps"].append(source)
        if row.get("title"):
            nodes[target]["title"] = row["title"]
        critical = row.get("critical", "")
        if critical.strip().lower() not in _TRUE | _FALSE:
            raise _fault(name, line, f"critical must be true or false, not {critical[:40]!r}")
        if critical.strip().lower() in _TRUE:
            nodes[target]["critical"] = True
    return Document({"id": graph_id, "sub_goals": list(nodes.values())}, name, lines)


def _rows(text: str, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    # Line breaks inside quotes stay what they are.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns: list[str] = []
    try:
        for cells in reader:
            if not columns:
                columns = _columns(cells, name)
            elif cells:
                if len(cells) > len(columns):
                    raise _fault(
                        name, reader.line_num, f"a row has {len(cells)} cells under {len(columns)} columns"
                    )
                # A spreadsheet may leave out the empty cells at the end of a row.
                padded = [*map(restored, cells), *[""] * (len(columns) - len(cells))]
                yield reader.line_num, dict(zip(columns, padded, strict=True))
    except csv.Error as error:
        raise _fault(name, reader.line_num, f"not valid CSV: {error}") from None
    if not columns:
        raise _fault(name, 1, "the file is empty")


def _columns(cells: list[str], name: str) -> list[str]:
    renamed = {_SOURCE[1]: _SOURCE[0], _TARGET[1]: _TARGET[0]}
    columns = [renamed.get(cell.strip().lower(), cell.strip().lower()) for cell in cells]
    allowed = {"source", "target", "title", "critical"}
    if not {"source", "target"} <= set(columns) or len(set(columns)) < len(columns) or set(columns) - allowed:
        raise _fault(name, 1, "the first row must name the columns: source,target and perhaps title,critical")
    return columns


def _fault(name: str, line: int, message: str) -> UntakenError:
    return UntakenError("plan-csv", message, where=Where(file=name, line=line))
