"""Reading and writing plan graphs, whatever the format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any, Literal, get_args

import msgspec

from untaken.errors import Finding, UntakenError, Where
from untaken.plans.edge_list import read_edge_list, write_edge_list
from untaken.plans.mermaid_reader import looks_like_mermaid, read_mermaid
from untaken.plans.mermaid_writer import write_mermaid
from untaken.plans.model import PlanGraph
from untaken.plans.node_link import is_node_link, read_node_link, write_node_link
from untaken.plans.strict_document import Document, decode, read_json, read_yaml
from untaken.plans.structure import graph_digest
from untaken.plans.validation import faults
from untaken.plans.yaml_text import graph_yaml

GraphFormat = Literal["yaml", "json", "mermaid", "node-link", "csv"]
GRAPH_FORMATS: tuple[GraphFormat, ...] = get_args(GraphFormat)
GRAPH_SUFFIXES = (".plan.yaml", ".plan.yml", ".plan.json", ".yaml", ".yml", ".json", ".mmd", ".mermaid", ".csv")
"""Endings of files that may hold a plan graph."""

_BY_SUFFIX: dict[str, GraphFormat] = {
    ".yaml": "yaml", ".yml": "yaml", ".mmd": "mermaid", ".mermaid": "mermaid", ".csv": "csv", ".md": "mermaid",
}  # fmt: skip
_PATH = re.compile(r"`\$?((?:\.[^.\[`]+|\[[^\]]*\])*)`")


def load_graph(path: str | os.PathLike[str]) -> PlanGraph:
    """The valid plan graph in a file; the format is told by its ending and content.

    Raises:
        UntakenError: the first thing wrong with it, with file and, for YAML, line.
        OSError: where the file cannot be read.
    """
    return parse_graph(Path(path).read_bytes(), name=str(path))


def parse_graph(data: str | bytes, *, name: str, format: GraphFormat | None = None) -> PlanGraph:
    """The valid plan graph in `data`; `name` is used in messages, and to tell the format where that is not given.

    Raises:
        UntakenError: the first thing wrong with it.
    """
    return read_graph(data, name=name, format=format)[0]


def read_graph(
    data: str | bytes, *, name: str, format: GraphFormat | None = None
) -> tuple[PlanGraph, list[Finding]]:
    """Like `parse_graph`, with what was noticed: parts of the file left out, and warnings about the graph.

    Raises:
        UntakenError: the first thing wrong with it.
    """
    text = decode(data, name)
    document, findings = _document(text, name, format or _told_by(name, text))
    return _valid(document, findings)


def save_graph(graph: PlanGraph, path: str | os.PathLike[str]) -> None:
    """Write `graph` to a ``.json`` file as JSON, to any other as YAML; equal graphs give equal bytes.

    Raises:
        UntakenError: ``plan-not-writable`` where reading the file would not give the same graph back.
    """
    target = Path(path)
    text = export_graph(graph, "json" if target.suffix == ".json" else "yaml")
    if graph_digest(_decoded(text, target)) != graph_digest(graph):
        raise UntakenError(
            "plan-not-writable", "the graph holds values that its file could not give back",
            where=Where(file=str(path)), hint="Use text, numbers, true/false, lists and mappings only.",
        )  # fmt: skip
    target.write_text(text, encoding="utf-8", newline="\n")


def export_graph(graph: PlanGraph, format: GraphFormat) -> str:
    """The graph as text. YAML, JSON and node-link keep everything; Mermaid and CSV keep the graph's id, version and
    title (Mermaid) and the sub-goals' ids, titles, dependencies and critical marks.

    Raises:
        UntakenError: ``plan-format-unknown``.
    """
    writers: dict[str, Callable[[PlanGraph], str]] = {
        "yaml": lambda g: graph_yaml(_plain(g)),
        "json": _json,
        "mermaid": write_mermaid,
        "node-link": write_node_link,
        "csv": write_edge_list,
    }
    if format not in writers:
        raise UntakenError(
            "plan-format-unknown", f"there is no graph format {format!r}", hint=f"One of: {', '.join(writers)}."
        )
    return writers[format](graph)


def graph_name(name: str) -> str:
    """The id a graph gets from its file's name where it gives none: ``a/refund.plan.yaml`` → ``refund``."""
    return PurePath(name).name.split(".")[0] or "graph"


def _told_by(name: str, text: str) -> GraphFormat:
    suffix = PurePath(name).suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if suffix == ".json" or text.lstrip()[:1] == "{":
        return "json"
    return "mermaid" if looks_like_mermaid(text) else "yaml"


def _document(text: str, name: str, format: str) -> tuple[Document, list[Finding]]:
    if format in ("json", "node-link"):
        document = read_json(text, name)
        if format == "node-link" or is_node_link(document.value):
            return read_node_link(document, graph_name(name))
        return document, []
    if format == "mermaid":
        return read_mermaid(text, name, graph_name(name))
    if format == "csv":
        return read_edge_list(text, name, graph_name(name)), []
    if format == "yaml":
        return read_yaml(text, name), []
    raise UntakenError(
        "plan-format-unknown", f"there is no graph format {format!r}", hint=f"One of: {', '.join(GRAPH_FORMATS)}."
    )


def _valid(document: Document, findings: list[Finding]) -> tuple[PlanGraph, list[Finding]]:
    graph = _converted(document)
    found = faults(graph)
    errors = [fault for fault in found if fault.severity == "error"]
    if errors:
        first, more = errors[0], len(errors) - 1
        message = first.message + (f" (and {more} more {'errors' if more > 1 else 'error'})" if more else "")
        raise UntakenError(first.code, message, where=document.where(first.path), hint=first.hint)
    located = [
        msgspec_free_finding(fault.finding(), document.where(fault.path)) for fault in found
    ]
    return graph, [*findings, *located]


def msgspec_free_finding(finding: Finding, where: Where) -> Finding:
    return Finding(
        code=finding.code, message=finding.message, where=where, hint=finding.hint, severity=finding.severity
    )


def _converted(document: Document) -> PlanGraph:
    if not isinstance(document.value, dict):
        raise UntakenError(
            "plan-schema", "a plan graph is a mapping with `id` and `sub_goals`", where=document.where(())
        )
    try:
        return msgspec.convert(document.value, PlanGraph)
    except msgspec.ValidationError as error:
        said = str(error)
        path = _path_in(said)
        raise UntakenError(
            "plan-schema", said, where=document.where(path), hint="See the plan graph format in docs/formats.md."
        ) from None


def _path_in(message: str) -> tuple[str | int, ...]:
    """msgspec names the place as ``$.sub_goals[3].check``."""
    match = None
    for match in _PATH.finditer(message):
        pass
    parts = re.findall(r"\.([^.\[]+)|\[(\d+)\]", match.group(1)) if match else []
    return tuple(name or int(index) for name, index in parts)


def _plain(graph: PlanGraph) -> dict[str, Any]:
    plain: dict[str, Any] = {"schema": graph.schema, **msgspec.to_builtins(graph)}
    return plain


def _json(graph: PlanGraph) -> str:
    return msgspec.json.format(msgspec.json.encode(_plain(graph)), indent=2).decode() + "\n"


def _decoded(text: str, target: Path) -> PlanGraph:
    read = read_json if target.suffix == ".json" else read_yaml
    return _converted(read(text, str(target)))
