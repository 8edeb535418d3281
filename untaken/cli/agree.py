"""``untaken agree``: do two authors of verdicts agree?"""

from __future__ import annotations

import argparse

from untaken.cli.console import NOTHING, Console, counted, plain, rate
from untaken.cli.grammar import TakesMany, Verbs, takes_ledgers, verb
from untaken.cli.inputs import UsageError, paths_of, read_ledgers
from untaken.cli.review import say_reliability
from untaken.cli.verbs import VERBS
from untaken.errors import Unscored, number
from untaken.judging import (
    Concord,
    VerdictAgreement,
    reviewers_agreement,
    verdict_agreement,
)
from untaken.report import agree_document


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "agree", VERBS["agree"], agree)
    takes_ledgers(parser, few="*")
    many = {"nargs": "+", "action": TakesMany}
    for name, glob in (("a", "human:*"), ("b", "judge:*")):
        words = f"whose verdicts, as globs ({glob})"
        parser.add_argument(f"--{name}", default=[glob], metavar="GLOB", help=words, **many)  # type: ignore[arg-type]


def agree(args: argparse.Namespace, console: Console) -> int:
    """Prints how far two authors agree; 1 where a ledger is broken."""
    ledgers = read_ledgers(_ledger_paths(args), console)
    runs = [run for _, run in ledgers.runs]
    found = verdict_agreement(runs, args.a, args.b)
    everybody = reviewers_agreement(runs, tuple(dict.fromkeys((*args.a, *args.b))))
    _say_agreement(found, console)
    console.say()
    say_reliability(everybody, console)
    console.findings(ledgers.findings)
    console.document(agree_document(found, everybody, findings=ledgers.findings))
    return 1 if ledgers.broken else 0


def _ledger_paths(args: argparse.Namespace) -> list[str]:
    if not args.paths and not hasattr(args, "greedy"):
        raise UsageError("no-ledgers", "no PATH of a ledger or folder of ledgers given")
    return paths_of(args)


def _say_agreement(found: VerdictAgreement, console: Console) -> None:
    whose = f"a = {', '.join(found.a)}; b = {', '.join(found.b)}"
    headings = ("", "n", "agree", "share", "95 %", "kappa", "95 %", "only a", "only b")
    console.table(headings, [_row(one) for one in (found.overall, *found.agents)])
    parted = [one for one in found.sub_goals if one.only_a + one.only_b]
    if parted:
        console.say()
        console.table(headings, [_row(one) for one in parted[:10]])
        if len(parted) > 10:
            console.say(f"… and {len(parted) - 10} more sub-goals where they disagree; --json lists them all")
    console.say()
    console.say(plain(f"{whose}; met or not met by {counted(found.overall.n, 'pair')} of verdicts"))
    console.say(
        f"{counted(found.left_out, 'sub-goal')} with a verdict from only one of them; intervals treat"
        f" "
        f"{found.cluster}s as independent"
    )


def _row(one: Concord) -> tuple[object, ...]:
    name = (
        "all" if one.part == "all" else one.name if one.part == "agent" else f"{one.graph} {one.name}".strip()
    )
    return (
        name,
        one.n,
        one.both_met + one.both_not,
        rate(one.agreement),
        _span(one.low, one.high),
        rate(one.kappa),
        _span(one.kappa_low, one.kappa_high),
        one.only_a,
        one.only_b,
    )


def _span(low: float | Unscored, high: float | Unscored) -> str:
    ends = number(low), number(high)
    return NOTHING if None in ends else f"{ends[0]:.3f} to {ends[1]:.3f}"
