"""``untaken agree``: do two authors of verdicts agree?"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from untaken import judging
from untaken.cli.console import NOTHING, Console, decimal, plain, rate, signed, span
from untaken.cli.grammar import Parser, UsageError, Verbs, verb
from untaken.cli.inputs import paths_of, read_graphs, read_ledgers
from untaken.cli.review import print_reliability
from untaken.errors import Score, Where
from untaken.judging import (
    LEAST_KAPPA,
    AgreementEstimate,
    Figure,
    JudgeDifference,
    JudgePassport,
    JudgeTrust,
    LabelledRate,
    LabelledRates,
    VerdictAgreement,
    judge_differences,
    judge_trust,
    reviewers_agreement,
    verdict_agreement,
)
from untaken.ledger import require_path
from untaken.numbers import counted, interval, p_value
from untaken.views import AGREE_DOCUMENT

BASIS: Final = {"labels_and_judge": "labels and judge", "labels": "labels", "none": NOTHING}
MOST_SHOWN: Final = 20
TRUST: Final = {
    "reliable": "reliable",
    "unreliable": "UNRELIABLE",
    "cannot_tell": "cannot tell from these labels",
}


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "agree", agree)
    parser.takes_ledgers(few="*")
    for name, glob in (("a", "human:*"), ("b", "judge:*")):
        parser.takes_many(f"--{name}", "GLOB", f"whose verdicts, as globs ({glob})", default=[glob])
    parser.add_argument(
        "--target",
        choices=("runs", "tasks"),
        default="runs",
        help="rates of these runs (default), or of tasks like theirs",
    )
    takes_odds(parser)
    parser.takes_least_kappa(default=LEAST_KAPPA)
    parser.takes_many("--graphs", "PATH", "plan graphs, by which a passport knows the sub-goals")
    parser.takes_one("--passport", "FILE", "keep what each judge's verdicts are worth, for untaken gate")


def takes_odds(parser: Parser) -> None:
    """``--odds``."""
    parser.takes_one(
        "--odds",
        "FILE",
        "CSV of run_id, sub_goal (empty: all of the run), odds with which each label was drawn",
    )


def agree(args: argparse.Namespace, console: Console) -> int:
    """Prints how far two authors agree; 1 where a ledger is broken."""
    ledgers = read_ledgers(paths_of(args), console)
    runs = ledgers.every_run
    found = verdict_agreement(runs, args.a, args.b)
    everybody = reviewers_agreement(runs, tuple(dict.fromkeys((*args.a, *args.b))))
    trust = judge_trust(runs, args.a, args.b, least=args.min_kappa)
    differences = judge_differences(runs, args.a, args.b)
    rates = judging.labelled_rates(runs, args.a, args.b, target=args.target, odds=read_odds(args.odds))
    graphs = read_graphs(args.graphs)
    findings = (*ledgers.findings, *graphs.findings, *rates.findings)
    _print_agreement(found, console)
    console.say()
    print_reliability(everybody, console)
    _print_trust(trust, differences, console)
    if rates.adds:
        console.say()
        print_rates(rates, console)
    if args.passport:
        date = datetime.now(UTC).date().isoformat()
        measured = judging.measure_judges(runs, graphs, date=date, people=args.a, judges=args.b)
        judging.save_passports(measured, args.passport)
        _print_passports(measured, console)
    console.document(
        AGREE_DOCUMENT(
            found,
            everybody=everybody,
            judges=trust,
            differences=differences,
            labels=rates,
            findings=findings,
        )
    )
    return 1 if ledgers.broken else 0


def _print_trust(
    trust: Sequence[JudgeTrust], differences: Sequence[JudgeDifference], console: Console
) -> None:
    """Each judge overall and where it is unreliable; any two judges on the same labels."""
    shown = [one for one in trust if one.part == "all" or one.trust == "unreliable"]
    if shown:
        console.say()
        console.columns(
            shown[:MOST_SHOWN],
            "judge",
            ("on", lambda one: f"{one.graph} {one.name}".strip() or "everything"),
            "n, share=agreement, 95%=low…high, kappa, 95%=kappa_low…kappa_high, AC1=ac1, said met=prevalence",
            "both met=both_met, only a=only_a, only b=only_b, neither=both_not",
            ("", lambda one: TRUST[one.trust]),
        )
    for one in differences:
        gap = f"{signed(one.difference)} ({span(one.low, one.high)}, {p_value(one.p, 'p')})"
        agrees = f"{one.first} agrees with people on {one.first_agrees} of {one.n}, {one.second} on "
        console.say(plain(f"{agrees}{one.second_agrees}: {gap}"))


def read_odds(path: str | None) -> dict[tuple[str, str], float] | None:
    """The odds of each label, by run and sub-goal; ``None`` without a file.

    Raises:
        UntakenError: ``path-not-found``; ``odds-invalid`` where a line holds no run and number.
    """
    if path is None:
        return None
    require_path(Path(path))
    found: dict[tuple[str, str], float] = {}
    # A byte that is no UTF-8 gives an id that no run has, and no traceback.
    with Path(path).open(encoding="utf-8", errors="replace", newline="") as file:
        rows = csv.DictReader(file)
        for number, row in enumerate(rows, start=2):  # the first line has the headings
            try:
                # The column may be missing: the label is then of all of the run.
                found[row["run_id"], row.get("sub_goal") or ""] = float(row["odds"])
            except (KeyError, TypeError, ValueError) as error:
                where = Where(file=path, line=number)
                raise _no_odds("no run and odds in this line", where) from error
    # A file of headings alone has no line that could be refused.
    if not {"run_id", "odds"} <= set(rows.fieldnames or ()):
        raise _no_odds("no columns run_id and odds", Where(file=path))
    return found


def _no_odds(message: str, where: Where) -> UsageError:
    return UsageError("odds-invalid", message, where=where, hint="Columns: run_id, sub_goal, odds.")


def print_rates(rates: LabelledRates, console: Console) -> None:
    """Each rate, the labels alone, the judge alone; sub-goals only in the document."""
    shown = [one for one in rates.rates if one.part != "sub_goal"]

    def write(one: LabelledRate, value: Score) -> str:
        return signed(value) if one.part == "difference" else rate(value)

    console.columns(
        shown,
        ("share met", lambda one: f"{one.name} − {one.other}" if one.other else one.name or "all"),
        ("rate", lambda one: write(one, one.value)),
        "95%=low…high",
        ("labels alone", lambda one: write(one, one.people)),
        "95%=people_low…people_high",
        ("judge", lambda one: write(one, one.judge)),
        ("from", lambda one: BASIS[one.basis]),
        ("worth", lambda one: f"{decimal(one.worth, 1)}×" if isinstance(one.worth, float) else NOTHING),
        "labels, of=items",
    )
    whose = "these runs" if rates.target == "runs" else "tasks like these"
    drawn = "a random draw" if rates.odds == "even" else "the odds given"
    console.say(
        f"rates of {whose}; labels must be {drawn}; the judge counts from 30 labels on; worth: times the "
        "labels that do without the judge"
    )


def _print_passports(found: Sequence[JudgePassport], console: Console) -> None:
    def write(one: Figure) -> str:
        return f"{decimal(one.value)} ({interval(one.low, one.high, decimal, unknown='no interval')})"

    console.say()
    console.columns(
        found,
        "passport of=judge",
        ("labels", lambda one: f"{one.labels} of {one.items}"),
        ("kappa", lambda one: write(one.kappa)),
        ("sensitivity", lambda one: write(one.sensitivity)),
        ("specificity", lambda one: write(one.specificity)),
        "says met=judge_rate",
        ("corrected", lambda one: write(one.rate)),
        ("", lambda one: one.doubt or "calibrated"),
    )


def _print_agreement(found: VerdictAgreement, console: Console) -> None:
    whose = f"a = {', '.join(found.a)}; b = {', '.join(found.b)}"
    _print_estimates((found.overall, *found.agents), console)
    split = [one for one in found.sub_goals if one.only_a + one.only_b]  # the others are agreed on
    if split:
        console.say()
        _print_estimates(split[:10], console)
        if len(split) > 10:
            console.say(f"… and {len(split) - 10} more sub-goals where they disagree; --json lists them all")
    console.say()
    console.say(plain(f"{whose}; met or not met by {counted(found.overall.n, 'pair')} of verdicts"))
    console.say(
        f"{counted(found.left_out, 'sub-goal')} with a verdict from only one of them; intervals treat "
        f"{found.cluster}s as independent"
    )


def _print_estimates(found: Sequence[AgreementEstimate], console: Console) -> None:
    console.columns(
        found,
        ("", lambda one: f"{one.graph} {one.name}".strip() or "all"),
        "n",
        ("agree", lambda one: one.both_met + one.both_not),
        "share=agreement, 95%=low…high, kappa, 95%=kappa_low…kappa_high, only a=only_a, only b=only_b",
    )
