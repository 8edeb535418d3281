"""``untaken graph audit``: is the plan itself right?"""

from __future__ import annotations

import argparse
from typing import Final

from untaken.analysis import EdgeAudit, NodeAudit, PlanAudit, TaskAudit, evaluate_corpus
from untaken.cli.console import NOTHING, Console, plain
from untaken.cli.grammar import Verbs, verb
from untaken.cli.inputs import read_graphs, read_ledgers
from untaken.cli.packet import print_packet
from untaken.counterfactual import PolicyMemory
from untaken.views import (
    STAR,
    audit_corpus,
    audit_document,
    audit_packet,
    nth,
    stranger_findings,
    writes_in_words,
)

TOP: Final = 40


def add_audit(verbs: Verbs) -> None:
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
    _print(found, console, args.top or None)
    for warning in stranger_findings(found):
        console.warn(plain(warning.message))
    findings = tuple(dict.fromkeys((*ledgers.findings, *corpus.findings)))
    console.document(audit_document(found, corpus.runs, findings=findings))
    return 1 if ledgers.broken or graphs.invalid or found.alarms else 0


def _print(found: PlanAudit, console: Console, top: int | None) -> None:
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
