"""``untaken graph``: plan graphs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from untaken.cli.console import NOTHING, Console, plain
from untaken.cli.grammar import UsageError, Verbs, group, verb
from untaken.cli.graph_audit import add_audit
from untaken.cli.graph_diff import print_diff
from untaken.cli.graph_discover import add_discover
from untaken.cli.inputs import read_ledgers
from untaken.errors import Finding, UntakenError
from untaken.facts import find_graphs
from untaken.ledger import Run, disk
from untaken.numbers import counted
from untaken.plans import (
    GRAPH_FORMATS,
    GraphSet,
    PlanGraph,
    diff_graphs,
    edges,
    export_graph,
    inspect_graph,
    parse_graph,
)
from untaken.views import CHECKED_GRAPH, GRAPH_CHECK_DOCUMENT, GRAPH_DRAW_DOCUMENT, Part, graph_diff_document


def add_to(verbs: Verbs) -> None:
    """Adds the verb and its own."""
    inner = group(verbs, "graph")
    parser = verb(inner, "check", check, "check plan graphs and list problems")
    parser.add_argument("paths", nargs="+", metavar="PATH", help="plan graph, or folder of plan graphs")
    parser.takes_one(
        "--against",
        "LEDGERS",
        "ledgers, or folders of ledgers: list where their runs contradict the graphs",
        nargs="+",
    )
    add_audit(inner)
    parser = verb(inner, "diff", diff, "show the differences between two versions of a plan graph")
    parser.add_argument("old", metavar="OLD", help="plan graph")
    parser.add_argument("new", metavar="NEW", help="plan graph")
    parser = verb(inner, "draw", draw, "draw a plan graph as an SVG file")
    parser.add_argument("file", metavar="FILE", help="plan graph")
    parser.takes_out("FILE", "the picture (.svg)", required=True)
    parser.takes_one("--run", "LEDGER", "colour it by the status of one run", dest="ledger")
    parser.takes_one("--run-id", "ID", "which run, if the ledger has several")
    add_discover(inner)
    parser = verb(inner, "export", export, "write a plan graph in another format")
    parser.add_argument("file", metavar="FILE", help="plan graph")
    parser.add_argument("--to", choices=GRAPH_FORMATS, default=None, help="default yaml; json with --json")
    parser.takes_out("FILE", "default: stdout")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One file, looked at."""

    file: str
    graph: PlanGraph | None
    findings: tuple[Finding, ...]


def check(args: argparse.Namespace, console: Console) -> int:
    """Prints every finding with its place; 1 where a graph is invalid."""
    checked = [_check(file, read) for file, read in _found(args.paths).items()]
    if args.against:
        checked = _against(checked, args.against, console)
    console.table(("graph", "version", "sub-goals", "edges", "critical", "file"), [_row(c) for c in checked])
    console.say()
    for found in (finding for c in checked for finding in c.findings):
        place = f"{found.where}: " if str(found.where) else ""
        console.say(plain(f"{found.severity}: {place}{found.message} [{found.code}]"))
        if found.hint:
            console.say(plain(f"  → {found.hint}"))
    invalid = sum(c.graph is None for c in checked)
    console.say(f"{counted(len(checked), 'graph')}, {invalid} invalid")
    console.document(GRAPH_CHECK_DOCUMENT(graphs=[_entry(c) for c in checked]))
    return 1 if invalid else 0


def diff(args: argparse.Namespace, console: Console) -> int:
    """Prints what differs; like ``diff``: 0 where nothing does, 1 where something does, 2 for trouble."""
    old, new = _only(args.old), _only(args.new)
    found = diff_graphs(old, new)
    print_diff(found, console)
    console.document(graph_diff_document(found, before=args.old, after=args.new))
    return 0 if found.equal else 1


def draw(args: argparse.Namespace, console: Console) -> int:
    """Writes the picture."""
    from untaken.scoring import score_run  # noqa: PLC0415 (slow)
    from untaken.views import plan_svg  # noqa: PLC0415 (slow)

    if Path(args.out).suffix.lower() != ".svg":
        raise UsageError(
            "picture-not-svg",
            f"{args.out}: only SVG is drawn",
            hint="Name a file that ends in .svg. A browser or rsvg-convert converts it to PNG or PDF.",
        )
    graph = _only(args.file)
    run = _run(args, console) if args.ledger else None
    score = score_run(run, graph) if run else None
    text = plan_svg(graph, score)
    disk.replace(Path(args.out), text.encode(), sync=False)
    shown = f", coloured by run {run.run_id}" if run else ""
    console.say(plain(f"{args.out}: {counted(len(graph.sub_goals), 'sub-goal')}{shown}"))
    console.document(
        GRAPH_DRAW_DOCUMENT(
            file=args.out,
            bytes=len(text.encode()),
            graph=graph.id,
            version=graph.version,
            run_id=run.run_id if run else None,
        )
    )
    return 0


def _run(args: argparse.Namespace, console: Console) -> Run:
    """The run named, or the only one.

    Raises:
        UsageError: ``run-unknown`` if there is none of that id, or several and none is named.
    """
    runs = read_ledgers([args.ledger], console).every_run
    chosen = [run for run in runs if args.run_id in (None, run.run_id)]
    if len(chosen) != 1:
        there = f"{counted(len(runs), 'run')} in {args.ledger}"
        wanted = "choose one of them" if args.run_id is None else f"not just one called {args.run_id!r}"
        raise UsageError(
            "run-unknown", f"{there}: {wanted}", hint="--run-id ID; `untaken verify` lists them."
        )
    return chosen[0]


def export(args: argparse.Namespace, console: Console) -> int:
    """Writes the graph as text."""
    text = export_graph(_only(args.file), args.to or ("json" if args.json else "yaml"))
    if args.out:
        disk.replace(Path(args.out), text.encode(), sync=False)
    else:
        console.write(text)
    return 0


def _found(paths: list[str]) -> dict[str, Callable[[], bytes]]:
    found = find_graphs(paths)
    if not found:
        raise UsageError("no-graphs", "no plan graph in " + ", ".join(paths), hint="They end in .plan.yaml.")
    return found


def _only(path: str) -> PlanGraph:
    found = _found([path])
    if len(found) > 1:
        raise UsageError("no-graphs", f"{len(found):,} plan graphs in {path}", hint="Name one of them.")
    return next(parse_graph(read(), name=name) for name, read in found.items())


def _check(file: str, read: Callable[[], bytes]) -> Checked:
    try:
        graph, findings = inspect_graph(read(), name=file)
    except UntakenError as error:
        return Checked(file=file, graph=None, findings=(error.finding(),))
    valid = all(finding.severity != "error" for finding in findings)
    return Checked(file=file, graph=graph if valid else None, findings=tuple(findings))


def _against(checked: list[Checked], ledgers: list[str], console: Console) -> list[Checked]:
    """The same, each graph with where the runs speak against it; broken runs say nothing."""
    from untaken.analysis import doubts_of, score_runs  # noqa: PLC0415 (slow)

    runs = read_ledgers(ledgers, console).every_run
    graphs = GraphSet.of(one.graph for one in checked if one.graph is not None)
    scores, _ = score_runs(runs, graphs)
    doubts = doubts_of(runs, scores, graphs)
    # By identity: of several versions of a graph, runs speak about the newest only.
    known = {id(graph): graph.id for graph in graphs.graphs}
    return [
        replace(
            one,
            findings=(
                *one.findings,
                *(d.finding for d in doubts if known.get(id(one.graph)) == d.graph_id),
            ),
        )
        for one in checked
    ]


def _row(checked: Checked) -> tuple[object, ...]:
    graph = checked.graph
    if graph is None:
        return "invalid", NOTHING, NOTHING, NOTHING, NOTHING, checked.file
    critical = sum(node.critical for node in graph.sub_goals)
    return graph.id, graph.version, len(graph.sub_goals), len(list(edges(graph))), critical, checked.file


def _entry(checked: Checked) -> Part:
    graph = checked.graph
    return CHECKED_GRAPH(
        file=checked.file,
        valid=graph is not None,
        id=graph.id if graph else None,
        version=graph.version if graph else None,
        sub_goals=len(graph.sub_goals) if graph else None,
        edges=len(list(edges(graph))) if graph else None,
        findings=checked.findings,
    )
