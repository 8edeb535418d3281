"""``untaken modes agree``: do two people see the same modes, at the same steps, with the same root cause?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from untaken.analysis import ModeAgreement, RootCauseAgreement, Taxonomy, ceiling_words, mode_agreement
from untaken.cli.analysed import read_analysed, takes_runs
from untaken.cli.console import Console
from untaken.cli.grammar import Verbs, verb
from untaken.views import corpus_root_causes, modes_agree_document

TOP = 20


def add_to(verbs: Verbs) -> None:
    """Adds the verb to those of ``modes``."""
    does = "compare two people's modes, steps and root causes, and automatic blame with them"
    parser = verb(verbs, "agree", agree, does)
    takes_runs(parser)
    parser.takes_top(TOP)


def agree(args: argparse.Namespace, console: Console) -> int:
    """Prints both tables; 1 where a ledger is broken."""
    given = read_analysed(args, console)
    modes = mode_agreement(given.corpus.runs.values(), given.taxonomy)
    causes = corpus_root_causes(given.corpus)
    _print_modes(modes[: args.top or None], given.taxonomy, console)
    console.say()
    _print_causes(causes[: args.top or None], console)
    console.say(ceiling_words(causes))
    console.document(modes_agree_document(modes, causes, given.taxonomy, findings=given.findings))
    return 1 if given.broken else 0


def _print_modes(found: Sequence[ModeAgreement], taxonomy: Taxonomy, console: Console) -> None:
    if not found:
        console.say("no two people have read the same run: a note, or a word on a mode")
        return

    console.columns(
        found,
        "a, b",
        ("mode", lambda one: taxonomy.name(one.mode) if one.mode else "all modes"),
        "n, both, only a=only_a, only b=only_b, kappa, 95%=kappa_low…kappa_high",
        "same step=same_step/located, ±1=near_step/located",
    )


def _print_causes(found: Sequence[RootCauseAgreement], console: Console) -> None:
    if not found:
        return

    console.columns(
        found,
        "root cause: a=a, b, same step=same_step/runs, 95%=same_low…same_high, ±1=near_step/runs",
        "apart=median_distance, same sub-goal=same_sub_goal/named, kappa",
    )
