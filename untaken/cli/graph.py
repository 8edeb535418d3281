"""``untaken graph``: plan graphs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from untaken.analysis import EdgeAudit, NodeAudit, PlanAudit, TaskAudit, evaluate_corpus
from untaken.cli.console import NOTHING, Console, plain
from untaken.cli.grammar import UsageError, Verbs, group, verb
from untaken.cli.inputs import paths_of, read_graphs, read_ledgers
from untaken.cli.packet import print_packet
from untaken.counterfactual import PolicyMemory
from untaken.errors import Finding, Unscored, UntakenError
from untaken.facts import find_graphs
from untaken.ledger import Run, disk
from untaken.numbers import counted
from untaken.plans import (
    GRAPH_FORMATS,
    MIN_RUNS,
    MIN_SHARE,
    THETA,
    GraphDiff,
    GraphSet,
    PlanGraph,
    ProposedGraph,
    changing_tools,
    diff_graphs,
    discovery,
    edges,
    export_graph,
    flow,
    inspect_graph,
    matches_glob,
    parse_graph,
    save_graph,
)
from untaken.views import (
    CHECKED_GRAPH,
    GRAPH_CHECK_DOCUMENT,
    GRAPH_DRAW_DOCUMENT,
    STAR,
    Part,
    audit_corpus,
    audit_document,
    audit_packet,
    graph_diff_document,
    graph_discover_document,
    nth,
    stranger_findings,
    writes_in_words,
)


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
    _add_audit(inner)
    parser = verb(inner, "diff", diff, "show the differences between two versions of a plan graph")
    parser.add_argument("old", metavar="OLD", help="plan graph")
    parser.add_argument("new", metavar="NEW", help="plan graph")
    parser = verb(inner, "draw", draw, "draw a plan graph as an SVG file")
    parser.add_argument("file", metavar="FILE", help="plan graph")
    parser.takes_out("FILE", "the picture (.svg)", required=True)
    parser.takes_one("--run", "LEDGER", "colour it by the status of one run", dest="ledger")
    parser.takes_one("--run-id", "ID", "which run, if the ledger has several")
    _add_discover(inner)
    parser = verb(inner, "export", export, "write a plan graph in another format")
    parser.add_argument("file", metavar="FILE", help="plan graph")
    parser.add_argument("--to", choices=GRAPH_FORMATS, default=None, help="default yaml; json with --json")
    parser.takes_out("FILE", "default: stdout")


class Checked(Struct, frozen=True, kw_only=True):
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
    _print_diff(found, console)
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


TOP: Final = 40


def _add_audit(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "audit", run_audit, "check plan graphs against recorded runs")
    parser.add_argument("paths", nargs="+", metavar="PATH", help="plan graph, or folder of plan graphs")
    parser.takes_one("--against", "LEDGERS", "ledgers, or folders of ledgers", nargs="+", required=True)
    parser.takes_top(TOP)
    parser.takes_packet("item N (sub-goals, then edges, then tasks)")


def run_audit(args: argparse.Namespace, console: Console) -> int:
    """Prints the audit; 1 where a sub-goal is doubtful or blind, or a ledger or graph is broken."""
    graphs, ledgers = read_graphs(args.paths), read_ledgers(args.against, console)
    corpus = evaluate_corpus(
        ledgers.every_run,
        graphs,
        memory=PolicyMemory.build([]),  # empty: the audit asks for the history of no skill
        progress=console.progress,
    )
    found = audit_corpus(corpus)
    if args.packet is not None:
        # In the order in which --packet N counts.
        items: list[NodeAudit | EdgeAudit | TaskAudit]
        items = [*found.worst_first, *found.doubtful_edges, *found.tasks]
        return print_packet(audit_packet(corpus, nth(items, args.packet)), console)
    console.say(f"{found.headline}.")
    _print_audit(found, console, args.top or None)
    for warning in stranger_findings(found):
        console.warn(plain(warning.message))
    findings = tuple(dict.fromkeys((*ledgers.findings, *corpus.findings)))
    console.document(audit_document(found, corpus.runs, findings=findings))
    return 1 if ledgers.broken or graphs.invalid or found.alarms else 0


def _print_audit(found: PlanAudit, console: Console, top: int | None) -> None:
    nodes = found.worst_first
    several = len({one.graph for one in nodes}) > 1
    console.columns(
        nodes[:top],
        "verdict",
        ("sub-goal", lambda one: f"{one.sub_goal}{f' {STAR}' if one.critical else ''}"),
        *(("graph",) if several else ()),
        "why, proposed=proposed_words",
    )
    if top and len(nodes) > top:
        console.say(f"… and {len(nodes) - top} more (--top 0 lists all)")
    if edges := found.doubtful_edges:
        console.say()
        console.columns(
            edges[:top],
            ("edge", lambda one: f"{one.dependency} → {one.sub_goal}"),
            "why",
        )
    if found.tasks:
        console.say()
        console.say("Tasks whose agents agree with each other and not with the plan, most doubtful first.")
        console.columns(
            found.tasks[:top],
            "doubt:.2, task=task_id",
            ("passed", lambda one: f"{round(one.passed * one.runs)} of {one.runs}"),
            "agree",
            ("proposed writes", lambda one: (writes_in_words(one) or NOTHING)[:120]),
        )


def _print_diff(found: GraphDiff, console: Console) -> None:
    """The differences as a table, and the renames that they may be."""
    old, new = (f"{graph.id} version {graph.version}" for graph in (found.before, found.after))
    console.say(plain(f"{old} → {new}"))
    rows = list(_diff_rows(found))
    if rows:
        console.table(("", "what", "where", "before", "after"), rows)
    for pair in found.renamed:
        console.say(plain(f"{pair.before!r} may now be called {pair.after!r}: all but the id is the same"))
    console.say(counted(len(rows), "difference") if rows else "no differences")


def _diff_rows(found: GraphDiff) -> Iterator[tuple[object, ...]]:
    for change in found.fields:
        yield "~", change.field, "(graph)", _value(change.before), _value(change.after)
    yield from (("-", "sub-goal", node.id, node.title or node.id, "") for node in found.removed)
    yield from (("+", "sub-goal", node.id, "", node.title or node.id) for node in found.added)
    for goal in found.changed:
        for change in goal.fields:
            yield "~", change.field, goal.sub_goal, _value(change.before), _value(change.after)
    yield from (("-", "edge", f"{edge.dependency} → {edge.sub_goal}", "", "") for edge in found.edges_removed)
    yield from (("+", "edge", f"{edge.dependency} → {edge.sub_goal}", "", "") for edge in found.edges_added)
    for pair in found.reordered:
        order = f"{pair.first}, {pair.second}"
        yield "~", "first to claim", order, pair.second, pair.first


def _value(value: Any) -> str:
    return NOTHING if value in (None, "", [], {}) else flow(value)


def _add_discover(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "discover", run_discover, "propose a plan graph from successful runs")
    parser.takes_ledgers(few="*")
    parser.takes_many(
        "--graphs",
        "PATH",
        "plan graph, or folder: its tags and rules map actions, and the draft is its next version",
        default=None,
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("actions", "plans", "calls"),
        default="actions",
        help="without --graphs: tags and tools are the sub-goals (default), steps of recorded plans, or the "
        "calls that all successes of one task make",
    )
    parser.takes_each(
        "--mutates", "GLOB", "with --from calls: tools that change something (default: by name and effect)"
    )
    parser.takes_each("--read", "SUB_GOAL", "with --from calls: also this offered call; repeatable")
    parser.add_argument(
        "--agent", action="append", metavar="NAME", help="only runs of this agent; repeatable"
    )
    parser.takes_one("--task", "GLOB", "only runs of these tasks")
    edge, sub_goal = f"share of runs for an edge ({THETA})", f"share of runs for a sub-goal ({MIN_SHARE})"
    parser.takes_one("--theta", "T", f"minimum {edge}", type=float, default=THETA)
    parser.takes_one("--min-share", "S", f"minimum {sub_goal}", type=float, default=MIN_SHARE)
    both = f"minimum runs with both ends for an edge ({MIN_RUNS})"
    parser.takes_one("--min-runs", "N", both, type=int, default=MIN_RUNS)
    parser.takes_out("FILE", "write the draft (*.plan.yaml)")


def run_discover(args: argparse.Namespace, console: Console) -> int:
    """Prints the draft with what it rests on; 1 where a ledger is broken."""
    ledgers = read_ledgers(paths_of(args), console)
    runs = _chosen(ledgers.every_run, args)
    graph, runs = _graph(args.graphs, runs) if args.graphs else (None, runs)
    draft = discovery.discover(
        runs,
        graph,
        theta=args.theta,
        min_share=args.min_share,
        min_runs=args.min_runs,
        # A name such as `.plan.yaml` has no stem.
        graph_id=Path(args.out).name.split(".")[0] or "draft" if args.out else "draft",
        source=args.source,
        mutates=args.mutates or changing_tools(runs) if args.source == "calls" else (),
        reads=args.read,
    )
    if args.out:
        save_graph(draft.graph, args.out)
        console.warn(f"written: {plain(args.out)}")  # on stderr: with --json, stdout is the document alone
    _print_draft(draft, console, counted(draft.runs, "run" if args.source == "plans" else "successful run"))
    console.document(graph_discover_document(draft, findings=ledgers.findings))
    return 1 if ledgers.broken else 0


def _chosen(runs: Iterable[Run], args: argparse.Namespace) -> list[Run]:
    everyone = list(runs)
    known = {run.agent for run in everyone}
    for name in args.agent or ():
        if name not in known:
            raise UsageError(
                "agent-unknown", f"no run is of the agent {name!r}", hint=", ".join(sorted(known))
            )
    return [
        run
        for run in everyone
        if (not args.agent or run.agent in args.agent)
        and (args.task is None or matches_glob(args.task, run.task_id))
    ]


def _graph(folders: list[str], runs: list[Run]) -> tuple[PlanGraph, list[Run]]:
    """The one graph of the runs, and the runs that it covers.

    Raises:
        UsageError: ``draft-of-several-graphs``, or ``no-graphs`` if none covers any run.
    """
    graphs = read_graphs(folders)
    by_graph: dict[str, tuple[PlanGraph, list[Run]]] = {}
    for run in runs:
        graph, _ = graphs.for_task(run.task_id, run.started.graph)
        if not isinstance(graph, Unscored):
            by_graph.setdefault(graph.id, (graph, []))[1].append(run)
    if len(by_graph) > 1:
        named = ", ".join(map(repr, sorted(by_graph)[:5]))
        raise UsageError(
            "draft-of-several-graphs",
            f"these runs use {len(by_graph)} plan graphs: {named}",
            hint="A draft needs one: choose with --task GLOB.",
        )
    if not by_graph:
        raise UsageError("no-graphs", "no plan graph covers any of these runs")
    return next(iter(by_graph.values()))


def _print_draft(draft: ProposedGraph, console: Console, used: str) -> None:
    agents = ", ".join(f"{agent} {runs}" for agent, runs in draft.agents.items())
    console.say(plain(f"{used} used ({agents})"))
    for words, count in draft.left_out.items():
        console.say(f"{counted(count, 'run')} {words} left out")
    console.say()
    console.columns(
        draft.sub_goals,
        "sub-goal=sub_goal, runs, share, 95%=low…high",
    )
    console.say()
    console.columns(
        draft.edges,
        "needs=dependency, sub-goal=sub_goal, first, both, share, 95%=low…high, without=alone, agents",
    )
    if draft.offered:
        console.say()
        console.say(
            "Calls that all successes make; what only reads is offered (--read) and not in the draft."
        )
        known = {node.id for node in draft.graph.sub_goals}
        console.columns(
            draft.offered,
            ("in the draft", lambda call: "yes" if call.sub_goal in known else "no"),
            "sub-goal=sub_goal",
            ("arguments", lambda call: json.dumps(call.arguments, sort_keys=True)),
        )
    console.say()
    for each in draft.alternatives:
        options = " or ".join(each.options)
        console.say(plain(f"proposed: any of {options}, in {each.runs} runs; more than one in {each.both}"))
    if draft.rare:
        console.say(plain(f"too rare: {', '.join(f'{r.sub_goal} ({r.runs})' for r in draft.rare)}"))
    console.say(
        f"An edge: first in at least {draft.theta:g} of the runs that hold both, at least {draft.min_runs}. "
        f"A sub-goal: in at least {draft.min_share:g} of the runs."
    )
    console.say(
        "It shows what came first, not what is required. Drafts are used only after a person accepts them."
    )
    if draft.current:
        console.say()
        _print_diff(diff_graphs(draft.current, draft.graph), console)
