"""``untaken compare --versions A B``: what changed between two versions."""

from __future__ import annotations

import argparse

from untaken.analysis import VersionComparison, evaluate_corpus, triage
from untaken.cli.console import NOTHING, Console, decimal, plain, signed
from untaken.cli.packet import print_packet
from untaken.cli.score import print_rules, scored_paths
from untaken.counterfactual import PolicyMemory
from untaken.numbers import p_value
from untaken.views import (
    STAR,
    causes_of_versions,
    nth,
    suspect_words,
    version_changes,
    version_headline,
    versions_document,
    versions_packet,
)


def run_versions(args: argparse.Namespace, console: Console) -> int:
    """Prints what changed from the first version to the second; 1 where a ledger or graph is broken."""
    scored = scored_paths(args, console)
    corpus = evaluate_corpus(
        scored.ledgers.every_run,
        scored.graphs,
        memory=PolicyMemory.build([]),  # empty: nothing here asks for the history of a skill
        missing=args.missing,
        verdicts=args.verdicts,
    )
    first, second = args.versions
    found = version_changes(corpus, first, second, args.by)
    if args.packet is not None:
        return print_packet(versions_packet(corpus, nth(found.discordant, args.packet)), console)
    _print(found, console)
    if args.discordant:
        _print_pairs(found, console)
    print_rules(args, scored, console, missing="drop")  # differences are of runs with evidence
    console.document(
        versions_document(
            found,
            corpus.runs,
            causes=causes_of_versions(triage(corpus), corpus.runs, found),
            discordant=args.discordant,
            findings=scored.findings,
        )
    )
    return 1 if scored.broken else 0


def _print(found: VersionComparison, console: Console) -> None:
    console.say(plain(version_headline(found)))
    if suspect := suspect_words(found):
        console.say(plain(suspect))
    outcome = found.outcome
    if outcome.difference is not None:
        console.say(
            f"Success {outcome.a_succeeded} of {outcome.a_runs} → {outcome.b_succeeded} of {outcome.b_runs}, "
            f"{signed(outcome.difference)} inside tasks (p {p_value(outcome.p, unknown=NOTHING)})"
        )
    console.say()
    console.columns(
        found.sub_goals,
        ("sub-goal", lambda one: f"{one.title}{f' {STAR}' if one.critical else ''}"),
        (plain(found.a), lambda one: f"{one.a_completed}/{one.a_reached}"),
        (plain(found.b), lambda one: f"{one.b_completed}/{one.b_reached}"),
        "difference:+, p (Holm)=p_holm:p",
        ("changed", lambda one: ", ".join(filter(None, ("yes", one.kind))) if one.called else ""),
    )
    if found.costs:
        console.say()
        console.columns(
            found.costs,
            "per run=measure",
            (plain(found.a), lambda one: decimal(one.a, 2)),
            (plain(found.b), lambda one: decimal(one.b, 2)),
            "p (Holm)=p_holm:p",
            ("changed", lambda one: "yes" if one.called else ""),
        )


def _print_pairs(found: VersionComparison, console: Console) -> None:
    console.say()
    console.say(
        plain(f"Pairs of which one succeeded: {found.a_only} only {found.a}, {found.b_only} only {found.b}")
    )
    console.columns(
        found.discordant,
        "task=task_id",
        ("succeeded", lambda one: found.b if one.second_succeeded else found.a),
        "the other missed=sub_goal, why=reason:.160",
    )
