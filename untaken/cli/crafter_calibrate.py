"""``untaken crafter calibrate``: estimates from ledgers, compared with clones that take each path (§2c)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from untaken.cli.console import Console, decimal, plain, span
from untaken.cli.crafter_players import chances, require_counts, takes_chance, takes_task
from untaken.cli.grammar import verb
from untaken.crafter import calibration
from untaken.crafter.calibration import (
    Calibration,
    Figure,
    calibration_document,
    write_calibration,
)
from untaken.crafter.players import policy_named
from untaken.crafter.simulator.playing import Setup
from untaken.present.numbers import counted, percent

PLAYERS = ("scripted", "noisy", "uniform")
"""The policies with skills."""
STEPS = 100
TRAIN, HELD_OUT, POINTS, DRAWS = 240, 40, 2, 12


def add_to(inner: Any) -> None:
    """Adds the verb to those of ``crafter``."""
    parser = verb(inner, "calibrate", run, "compare estimates from ledgers with results in clones")
    parser.add_argument("--policy", choices=PLAYERS, required=True, help="the policy; it must have skills")
    takes_chance(parser)
    takes_task(parser)
    parser.takes_number("--steps", STEPS, "planning horizon")
    parser.takes_number("--train", TRAIN, "training runs")
    parser.takes_number("--held-out", HELD_OUT, "runs on other maps")
    parser.takes_number("--points", POINTS, "decisions of each")
    parser.takes_number("--draws", DRAWS, "clones a skill")
    parser.takes_number("--seed", 1, "of the first map", metavar="S")
    parser.takes_number("--workers", 1, "processes to play in")
    parser.takes_out("FILE", "write the document here", type=Path)


def run(args: argparse.Namespace, console: Console) -> int:
    """Plays, forces what was not taken in clones, and says how well the ledgers foretold it."""
    require_counts(args, steps=1, train=1, held_out=1, points=1, draws=2, workers=1)
    options = chances(args)
    policy_named(args.policy, **options)
    plan = calibration.CalibrationPlan(
        setup=Setup(policy=args.policy, options=options, task=args.task, steps=args.steps),
        train=args.train,
        held_out=args.held_out,
        points=args.points,
        draws=args.draws,
        seed=args.seed,
    )
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)  # before the long work, not after it
    found = calibration.calibrate(plan, workers=args.workers, progress=console.progress)
    _print(found, console)
    if args.out is not None:
        write_calibration(args.out, found)
        console.say(f"written to {plain(args.out)}")
    return 0


def _print(found: Calibration, console: Console) -> None:
    used = found.settings
    console.columns(
        found.measures,
        ("estimate", lambda measure: measure.estimator),
        ("part", lambda measure: measure.part),
        ("pairs", lambda measure: measure.pairs),
        ("maps", lambda measure: measure.maps),
        ("three verdicts", lambda measure: _words(measure.three_way)),
        ("sign", lambda measure: _words(measure.sign)),
        ("n", lambda measure: measure.sign.n),
        ("rank", lambda measure: _words(measure.spearman)),
        ("rmse", lambda measure: _words(measure.rmse)),
        ("interval holds", lambda measure: _words(measure.coverage)),
    )
    console.say()
    console.say(
        f"{used.policy}, {used.task or 'open play'}: {counted(used.train, 'training run')}"
        f" ({percent(used.success_train)} succeeded), {counted(used.held_out, 'held-out run')} on other maps"
        f" ({percent(used.success_held_out)}), {counted(used.decisions, 'decision')},"
        f" {counted(used.draws, 'draw')} a skill; {counted(used.unknown, 'path')} without a history,"
        f" {used.not_begun} could not start"
    )
    console.say(
        f"verdicts and signs at ±{found.threshold}; 95% intervals resample held-out maps; ceiling: "
        "agreement of two halves of the draws"
    )
    console.document(calibration_document(found))


def _words(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return decimal(figure.value, 2)
    return f"{decimal(figure.value, 2)} ({span(figure.low, figure.high, 2)})"
