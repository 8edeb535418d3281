"""``untaken modes agree``: do two people see the same modes, at the same steps, with the same root cause?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from untaken.answers.mode_agreement import corpus_root_causes, modes_agree_document
from untaken.cli.analysed import read_analysed, takes_runs
from untaken.cli.console import Console, rate, span
from untaken.cli.grammar import Verbs, takes_top, verb
from untaken.failure_modes import ModeAgreement, Taxonomy, mode_agreement
from untaken.failure_modes.root_causes import RootCauseAgreement, ceiling_words

TOP = 20


def add_to(verbs: Verbs) -> None:
    """Adds the verb to those of ``modes``."""
    does = "compare two people's modes, steps and root causes, and automatic blame with them"
    parser = verb(verbs, "agree", does, agree)
    takes_runs(parser)
    takes_top(parser, TOP, "rows of each table")


def agree(args: argparse.Namespace, console: Console) -> int:
    """Prints both tables; 1 where a ledger is broken."""
    given = read_analysed(args, console)
    modes = mode_agreement(given.corpus.runs.values(), given.taxonomy)
    causes = corpus_root_causes(given.corpus)
    _print_modes(modes[: args.top or None], given.taxonomy, console)
    console.say()
    _print_causes(causes[: args.top or None], console)
    console.say(ceiling_words(causes))
    console.findings(given.findings)
    console.document(modes_agree_document(modes, causes, given.taxonomy, findings=given.findings))
    return 1 if given.broken else 0


def _print_modes(found: Sequence[ModeAgreement], taxonomy: Taxonomy, console: Console) -> None:
    if not found:
        console.say("no two people have read the same run: a note, or a word on a mode")
        return
    rows = [
        (
            one.a,
            one.b,
            taxonomy.name(one.mode) if one.mode else "all modes",
            one.n,
            one.both,
            one.only_a,
            one.only_b,
            rate(one.kappa),
            span(one.kappa_low, one.kappa_high),
            f"{one.same_step}/{one.located}",
            f"{one.near_step}/{one.located}",
        )
        for one in found
    ]
    headings = ("a", "b", "mode", "n", "both", "only a", "only b", "kappa", "95%", "same step", "±1")
    console.table(headings, rows)


def _print_causes(found: Sequence[RootCauseAgreement], console: Console) -> None:
    if not found:
        return
    rows = [
        (
            one.a,
            one.b,
            f"{one.same_step}/{one.runs}",
            span(one.same_low, one.same_high),
            f"{one.near_step}/{one.runs}",
            rate(one.median_distance),
            f"{one.same_sub_goal}/{one.named}",
            rate(one.kappa),
        )
        for one in found
    ]
    console.table(("root cause: a", "b", "same step", "95%", "±1", "apart", "same sub-goal", "kappa"), rows)
