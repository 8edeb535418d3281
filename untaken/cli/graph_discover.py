"""``untaken graph discover``: a draft of a plan graph from runs that succeeded."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from untaken.cli.console import Console, plain
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.graph_diff import print_diff
from untaken.cli.inputs import paths_of, read_graphs, read_ledgers
from untaken.errors import Unscored
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.plans import (
    MIN_RUNS,
    MIN_SHARE,
    THETA,
    PlanGraph,
    ProposedGraph,
    changing_tools,
    diff_graphs,
    discovery,
    matches_glob,
    save_graph,
)
from untaken.views import graph_discover_document


def add_discover(verbs: Verbs) -> None:
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
    _print(draft, console, counted(draft.runs, "run" if args.source == "plans" else "successful run"))
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


def _print(draft: ProposedGraph, console: Console, used: str) -> None:
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
    for group in draft.alternatives:
        options = " or ".join(group.options)
        console.say(plain(f"proposed: any of {options}, in {group.runs} runs; more than one in {group.both}"))
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
        print_diff(diff_graphs(draft.current, draft.graph), console)
