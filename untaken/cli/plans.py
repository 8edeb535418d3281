"""``untaken graph``: plan graphs."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untaken.cli.console import NOTHING, Console, counted, plain
from untaken.cli.grammar import Verbs, verb
from untaken.cli.inputs import UsageError
from untaken.errors import Finding, UntakenError, Where
from untaken.plans import (
    GRAPH_FORMATS,
    PlanGraph,
    edges,
    export_graph,
    graph_files,
    inspect_graph,
    load_graph,
)
from untaken.report import finding_entries


def add_to(verbs: Verbs) -> None:
    """Adds the verb and its own."""
    group = verbs.add_parser("graph", help="check and export plan graphs", description="Plan graphs.")
    inner = group.add_subparsers(dest="graph_verb", metavar="VERB", required=True)
    parser = verb(inner, "check", "say what is wrong with plan graphs", check)
    parser.add_argument("paths", nargs="+", metavar="PATH", help="plan graph, or folder searched for them")
    parser = verb(inner, "export", "write a plan graph in another format", export)
    parser.add_argument("file", metavar="FILE", help="plan graph")
    parser.add_argument("--to", choices=GRAPH_FORMATS, default=None, help="default yaml; json with --json")
    parser.add_argument("-o", "--out", metavar="FILE", help="default: stdout")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One file, looked at."""

    file: Path
    graph: PlanGraph | None
    findings: tuple[Finding, ...]


def check(args: argparse.Namespace, console: Console) -> int:
    """Prints every finding with its place; 1 where a graph is invalid."""
    checked = [_check(file) for file in _files(args.paths)]
    console.table(("graph", "version", "sub-goals", "edges", "critical", "file"), [_row(c) for c in checked])
    console.say()
    for found in (finding for c in checked for finding in c.findings):
        console.say(plain(f"{found.severity}: {found.where}: {found.message} [{found.code}]"))
        if found.hint:
            console.say(plain(f"  → {found.hint}"))
    invalid = sum(c.graph is None for c in checked)
    console.say(f"{counted(len(checked), 'graph')}, {invalid} invalid")
    console.document({"schema": "untaken.graph-check/1", "graphs": [_entry(c) for c in checked]})
    return 1 if invalid else 0


def export(args: argparse.Namespace, console: Console) -> int:
    """Writes the graph as text."""
    text = export_graph(load_graph(args.file), args.to or ("json" if args.json else "yaml"))
    if args.out:
        Path(args.out).write_text(text, encoding="utf-8", newline="\n")
    else:
        console.write(text)
    return 0


def _files(paths: list[str]) -> list[Path]:
    for path in map(Path, paths):
        if not path.exists():
            raise UsageError("path-not-found", "there is no such file or folder", where=Where(file=str(path)))
    found = graph_files(paths)
    if not found:
        raise UsageError("no-graphs", "no plan graph in " + ", ".join(paths), hint="They end in .plan.yaml.")
    return found


def _check(file: Path) -> Checked:
    try:
        graph, findings = inspect_graph(file.read_bytes(), name=str(file))
    except UntakenError as error:
        return Checked(file=file, graph=None, findings=(error.finding(),))
    valid = all(finding.severity != "error" for finding in findings)
    return Checked(file=file, graph=graph if valid else None, findings=tuple(findings))


def _row(checked: Checked) -> tuple[object, ...]:
    graph = checked.graph
    if graph is None:
        return "invalid", NOTHING, NOTHING, NOTHING, NOTHING, checked.file
    critical = sum(node.critical for node in graph.sub_goals)
    return graph.id, graph.version, len(graph.sub_goals), len(list(edges(graph))), critical, checked.file


def _entry(checked: Checked) -> dict[str, Any]:
    graph = checked.graph
    return {
        "file": str(checked.file),
        "valid": graph is not None,
        "id": graph.id if graph else None,
        "version": graph.version if graph else None,
        "sub_goals": len(graph.sub_goals) if graph else None,
        "edges": len(list(edges(graph))) if graph else None,
        "findings": finding_entries(checked.findings),
    }
