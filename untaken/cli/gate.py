"""``untaken gate``: do the agents meet what is required of them?"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable

from untaken.cli.console import NOTHING, Console, counted, plain, rate, signed
from untaken.cli.grammar import Verbs, takes_graphs, verb
from untaken.cli.score import say_rules, scored_paths
from untaken.cli.verbs import VERBS
from untaken.gate import GateCheck, check_requirements, parse_requirement
from untaken.report import gate_document
from untaken.subgoals import DOUBTS

VERDICTS = {"met": "met", "not_met": "NOT MET", "unscored": "UNSCORED"}


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "gate", VERBS["gate"], gate)
    takes_graphs(parser)
    parser.add_argument(
        "--require",
        required=True,
        action="append",
        metavar="REQUIREMENT",
        help="metric, comparison, number: 'critical_completion>=0.9'; repeatable, all must be met",
    )
    parser.add_argument(
        "--on",
        choices=("point", "interval"),
        default="point",
        help="compare the value (default), or the worse end of its 95 %% interval",
    )
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        help="check only this agent; repeatable",
    )
    parser.add_argument("--resamples", type=int, default=10_000, help="task resamples (default 10000)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default 0)")


def gate(args: argparse.Namespace, console: Console) -> int:
    """Prints each agent against each requirement; 1 where one is not met, or a ledger or graph is broken."""
    scored = scored_paths(args, console)
    requirements = [parse_requirement(text, on=args.on) for text in args.require]
    runs = [run for _, run in scored.ledgers.runs if not run.integrity.broken]
    checks = check_requirements(
        runs,
        scored.counted,
        requirements,
        on=args.on,
        agents=args.agent,
        resamples=args.resamples,
        seed=args.seed,
    )
    console.table(_HEADINGS, [_row(check) for check in checks])
    _say_short(checks, console)
    for finding in scored.findings:
        if finding.code in DOUBTS:
            console.say(plain(f"{finding.message}. {finding.hint}"))
    say_rules(args, scored, console)
    console.findings(scored.findings)
    met = all(check.verdict == "met" for check in checks) and not scored.broken
    console.document(
        gate_document(
            checks,
            met=met,
            on=args.on,
            missing=args.missing,
            verdicts=args.verdicts,
            findings=scored.findings,
        )
    )
    return 0 if met else 1


_HEADINGS = ("agent", "requirement", "verdict", "value", "95 %", "margin", "tasks", "runs", "from")


def _row(check: GateCheck) -> tuple[object, ...]:
    low, high = rate(check.low), rate(check.high)
    return (
        check.agent,
        check.requirement,
        VERDICTS[check.verdict],
        rate(check.value),
        f"{low}–{high}" if NOTHING not in (low, high) else NOTHING,
        signed(check.margin),
        NOTHING if check.n_tasks is None else check.n_tasks,
        check.n_runs,
        f"untaken {check.source}",
    )


def _say_short(checks: Iterable[GateCheck], console: Console) -> None:
    console.say()
    for check in checks:
        if check.verdict != "met":
            for line in short_words(check):
                console.say(line)
    found = Counter(check.verdict for check in checks)
    console.say(
        f"{counted(found.total(), 'check')}: {found['met']} met, {found['not_met']} not met, "
        f"{found['unscored']} unscored"
    )


def short_words(check: GateCheck) -> list[str]:
    """Why a requirement is not met, which sub-goals are missed, and where to look; safe for a terminal."""
    lines = [plain(f"{check.agent}, {check.requirement}: {check.reason}")]
    if check.missed:
        named = ", ".join(
            f"{plain(goal.title or goal.sub_goal, 60)}{' ★' if goal.critical else ''} "
            f"({goal.missed} of {counted(goal.runs, 'run')})"
            for goal in check.missed
        )
        lines.append(f"  most often missed: {named}")
    if check.look_at:
        lines.append(f"  look at: {', '.join(plain(run, 80) for run in check.look_at)}")
    return lines
