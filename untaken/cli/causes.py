"""``untaken causes``: what failed runs have in common where they fail first."""

from __future__ import annotations

import argparse

from untaken.analysis import triage
from untaken.cli.console import Console
from untaken.cli.grammar import Verbs, verb
from untaken.cli.packet import print_packet
from untaken.cli.score import evaluated_paths, print_rules
from untaken.numbers import counted
from untaken.scoring import cause_words
from untaken.views import STAR, cause_packet, causes_document, nth

TOP = 20


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "causes", run_causes)
    parser.takes_graphs()
    parser.takes_compared()
    parser.takes_memory()
    parser.takes_each("--agent", "NAME", "only runs of this agent; repeatable")
    parser.takes_top(TOP)
    parser.takes_packet("cause N")


def run_causes(args: argparse.Namespace, console: Console) -> int:
    """Prints the causes; 1 where a ledger or graph is broken."""
    scored, corpus = evaluated_paths(args, console)
    found, top = triage(corpus, agents=args.agent), args.top or None
    if args.packet is not None:
        return print_packet(cause_packet(corpus, nth(found.causes, args.packet)), console)
    console.say(f"{found.headline}.")
    console.columns(
        found.causes[:top],
        ("runs", lambda one: len(one.runs)),
        "kind",
        ("fails first at", lambda one: f"{one.sub_goal}{f' {STAR}' if one.critical else ''}"),
        ("cause", cause_words),
        "p:p",
        ("look at", lambda one: corpus.runs[one.runs[0]].run_id),
    )
    if not found.causes:
        console.say("No cause is shared by 3 failed runs of 2 tasks")
    elif top and len(found.causes) > top:
        console.say(f"… and {counted(len(found.causes) - top, 'more cause')} (--top 0 lists all)")
    print_rules(args, scored, console)
    console.document(
        causes_document(
            found,
            corpus.runs,
            missing=args.missing,
            verdicts=args.verdicts,
            top=top,
            findings=scored.findings,
        )
    )
    return 1 if scored.broken else 0
