"""``untaken gate``: do the agents meet what is required of them?"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec import UNSET

from untaken.analysis import (
    MARGIN,
    SHOWN,
    GateCheck,
    Requirement,
    SequentialCheck,
    TimeLimit,
    TrackedIssue,
    asks_for_statements,
    check_in_sequence,
    check_requirements,
    compare_in_sequence,
    kept_taxonomy,
    load_issues,
    parse_requirement,
    track_issues,
)
from untaken.cli.console import NOTHING, Console, plain, rate, signed
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.cli.issues import print_issues
from untaken.cli.score import Scored, print_rules, scored_paths, usage_without_graphs
from untaken.counterfactual import plan_evaluation
from untaken.judging import uncalibrated
from untaken.ledger import Run
from untaken.numbers import counted
from untaken.scoring import ANCHORED_ONLY, DOUBTS, RunScore
from untaken.views import GATE_DOCUMENT, gated_issue, statements_of
from untaken.workspace import settings_of

KEEP_GOING: Final = 3
SECONDS: Final = {"s": 1, "m": 60, "h": 3600}
LONGEST: Final = 1e6
IN_SEQUENCE: Final = {"pass": "pass", "fail": "FAIL", "keep_going": "KEEP GOING", "unscored": "UNSCORED"}
VERDICTS = {"met": "met", "not_met": "NOT MET", "unscored": "UNSCORED"}


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "gate", gate)
    parser.takes_graphs()
    parser.takes_each(
        "--require",
        "REQUIREMENT",
        "metric, comparison, number: 'critical_completion>=0.9'; repeatable, all must be met",
    )
    parser.add_argument(
        "--on",
        choices=("point", "interval"),
        default="point",
        help="compare the value (default), or the worse end of its 95%% interval",
    )
    parser.takes_flag("--sequential", "pass, fail or keep going (exit 3), valid however often you look")
    parser.takes_one(
        "--baseline",
        "NAME",
        "with --sequential: compare every other agent with this one, pair by pair of runs of a task",
    )
    parser.add_argument(
        "--metric", default="completion", help="what --baseline compares (default completion)"
    )
    parser.takes_one(
        "--margin",
        "SHARE",
        f"how far an agent may fall behind the baseline and still pass (default {MARGIN})",
        type=share,
        default=MARGIN,
    )
    parser.takes_one(
        "--time-limit",
        "TIME",
        "with --sequential: a run not finished by then has failed, e.g. 90s, 10m, 2h; set it beforehand",
        type=duration,
    )
    parser.takes_one(
        "--passport", "FILE", "what judges are worth (untaken agree --passport); default: beside the ledgers"
    )
    parser.takes_flag("--allow-uncalibrated", "count judges without a valid passport, too")
    parser.takes_each("--agent", "NAME", "check only this agent; repeatable")
    parser.takes_one("--issues", "FILE", "issues (untaken issues); none of them may be reopened")
    parser.takes_resamples()


def share(text: str) -> float:
    """A number above 0 and at most 1."""
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError
    return value


def duration(text: str) -> timedelta:
    """A time above 0: ``90``, ``90s``, ``10m`` or ``2h``."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in SECONDS else (text, "s")
    value = float(number)
    if not 0 < value < LONGEST:
        raise ValueError
    return timedelta(seconds=value * SECONDS[unit])


def gate(args: argparse.Namespace, console: Console) -> int:
    """Prints each agent against each requirement; 1 where one is not met, or a ledger or graph is broken."""
    if not (args.require or args.issues or (args.sequential and args.baseline)):
        raise UsageError("requirement-invalid", "nothing is required", hint="Add --require METRIC>=NUMBER.")
    for given, option in ((args.baseline, "--baseline"), (args.time_limit, "--time-limit")):
        if given and not args.sequential:
            message = f"{option} needs --sequential"
            raise UsageError("requirement-invalid", message, hint="Add --sequential.")
    # A gate counts no pass of a judge where the plan does not say what counts as evidence.
    args.verdicts = [*args.verdicts, ANCHORED_ONLY]
    scored = scored_paths(args, console)
    requirements = [parse_requirement(text, on=args.on) for text in args.require]
    runs = scored.ledgers.sound_runs
    if args.sequential:
        in_sequence = _in_sequence(args, runs, scored.counted, requirements)
        checks: tuple[GateCheck, ...] = ()
        _print_sequence(in_sequence, console)
    else:
        in_sequence = ()
        checks = check_requirements(
            runs,
            scored.counted,
            requirements,
            on=args.on,
            agents=args.agent,
            resamples=args.resamples,
            seed=args.seed,
        )
        _print_checks(checks, console)
        _print_short(checks, console)
    issues, run_ids = _issues(args, scored), {run.digest: run.run_id for run in runs}
    if issues:
        console.say()
        print_issues(issues, run_ids, console)
    for finding in scored.findings:
        if finding.code in DOUBTS:
            console.say(plain(f"{finding.message}. {finding.hint}"))
    _print_judges(args, console)
    used = usage_without_graphs(scored, console)
    print_rules(args, scored, console)
    verdicts = {*(check.verdict for check in checks), *(check.verdict for check in in_sequence)}
    again = any(one.state == "reopened" for one in issues)
    # Nothing to check is met, too: issues alone may be asked for.
    met = verdicts <= {"met", "pass"} and not scored.broken and not again
    console.document(
        GATE_DOCUMENT(
            checks=checks,
            met=met,
            on=args.on,
            missing=args.missing,
            verdicts=args.verdicts,
            sequential=in_sequence,
            issues=[gated_issue(one, run_ids) for one in issues],
            usage=used or UNSET,
            judges=args.standings,
            findings=(*scored.findings, *(one.finding for one in uncalibrated(args.standings))),
        )
    )
    # 3 only while nothing has failed: more runs could not change that.
    undecided = verdicts <= {"pass", "keep_going"} and not scored.broken and not again
    return 0 if met else KEEP_GOING if undecided else 1


def _print_judges(args: argparse.Namespace, console: Console) -> None:
    doubtful = uncalibrated(args.standings)
    if doubtful:
        many = counted(sum(one.verdicts for one in doubtful), "verdict")
        what = "counted" if args.allow_uncalibrated else "left out (--allow-uncalibrated counts them)"
        console.say(f"{many} of judges without a valid passport: {what}")


def _issues(args: argparse.Namespace, scored: Scored) -> tuple[TrackedIssue, ...]:
    """The issues of a file over the runs, with the modes of the taxonomy in the same folder, if any."""
    if not args.issues:
        return ()
    file = Path(args.issues)
    issues, runs = load_issues(file).issues, scored.ledgers.every_run
    asked = asks_for_statements(issues)
    identity = settings_of(args.paths).identity
    statements = (
        # Slow: only for an issue whose rule asks for statements.
        statements_of(plan_evaluation(runs, scored.graphs, scored.scores, identity=identity)) if asked else {}
    )
    return track_issues(issues, runs, scored.scores, kept_taxonomy(file.parent), statements=statements)


def _in_sequence(
    args: argparse.Namespace,
    runs: Sequence[Run],
    counted: Sequence[RunScore],
    requirements: Sequence[Requirement],
) -> tuple[SequentialCheck, ...]:
    within = TimeLimit(limit=args.time_limit, now=datetime.now(UTC)) if args.time_limit else None
    found: tuple[SequentialCheck, ...] = ()
    if requirements:
        found = check_in_sequence(runs, counted, requirements, agents=args.agent, within=within)
    if args.baseline:
        found += compare_in_sequence(
            runs,
            counted,
            args.baseline,
            metric=args.metric,
            margin=args.margin,
            agents=args.agent,
            within=within,
        )
    return found


def _print_sequence(checks: Sequence[SequentialCheck], console: Console) -> None:
    console.columns(
        checks,
        "agent, requirement",
        ("verdict", lambda check: IN_SEQUENCE[check.verdict]),
        ("value", lambda check: signed(check.value) if check.baseline else rate(check.value)),
        ("at every look", _span),
        "n, in flight=unfinished, left out=left_out",
    )
    console.say()
    for check in checks:
        console.say(plain(f"{check.agent}, {check.requirement}: {check.reason}"))
    # The same in each requirement of an agent.
    for agent, repeats in {check.agent: check.repeats for check in checks if check.repeats}.items():
        named = ", ".join(plain(run, 80) for run in repeats[:SHOWN])
        more = f" … and {len(repeats) - SHOWN:,} more" if len(repeats) > SHOWN else ""
        console.say(f"{plain(agent)}: {counted(len(repeats), 'repeat')} of a task left out: {named}{more}")
    console.say("each end of an interval holds at every look with 95% confidence")


def _span(check: SequentialCheck) -> str:
    write = signed if check.baseline else rate
    low, high = write(check.low), write(check.high)
    return f"{low} … {high}" if NOTHING not in (low, high) else NOTHING


def _print_checks(checks: Sequence[GateCheck], console: Console) -> None:
    console.columns(
        checks,
        "agent, requirement",
        ("verdict", lambda check: VERDICTS[check.verdict]),
        "value, 95%=low…high, margin:+, tasks=n_tasks, runs=n_runs",
        ("from", lambda check: f"untaken {check.source}"),
    )


def _print_short(checks: Iterable[GateCheck], console: Console) -> None:
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
