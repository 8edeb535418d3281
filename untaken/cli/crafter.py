"""``untaken crafter``: planning in Crafter, what each action is worth, and the Crafter score (§7)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, get_args

from untaken.cli import crafter_run
from untaken.cli.asking import takes_model
from untaken.cli.console import NOTHING, Console, decimal, plain, rate, signed
from untaken.cli.crafter_players import player, print_unanswered, require_counts, takes_task
from untaken.cli.grammar import UsageError, Verbs, group, verb
from untaken.judging import ModelAccess
from untaken.numbers import counted, percent
from untaken.simulator import (
    ACHIEVEMENTS,
    BUDGET_STEPS,
    INTERVENTIONS,
    POLICIES,
    SHAPED,
    CrafterWorld,
    MethodScore,
    Noise,
    Watched,
    Watching,
    found_mistakes,
    method_scores,
    policy_named,
    read_scores,
    reward_named,
    watch,
)
from untaken.simulator import summarise_wins as summarise
from untaken.views import CRAFTER_SCORE_DOCUMENT, crafter_win_document


def add_to(verbs: Verbs) -> None:
    """Adds the verb and its own."""
    inner = group(verbs, "crafter")
    crafter_run.add_to(inner)
    _add_win(inner)
    parser = verb(inner, "score", run_score, "compute the Crafter score of recorded scores, by method")
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="recorded scores (.json, .json.gz), or folders of them"
    )
    parser.takes_number(
        "--budget-steps",
        BUDGET_STEPS,
        "episodes within the first N environment steps of a seed count",
    )


def run_score(args: argparse.Namespace, console: Console) -> int:
    """Prints the score of each method and its success rates; 1 where a record is unusable."""
    if args.budget_steps < 1:
        raise UsageError(
            "budget-steps-invalid", "--budget-steps is at least 1", hint="Published scores take 1000000."
        )
    recordings, findings = read_scores(args.paths)
    errors = [finding for finding in findings if finding.severity == "error"]
    # One file that can be read is enough to go on: the others are findings.
    if errors and not recordings:
        raise errors[0].as_error()
    scores = method_scores(recordings, budget_steps=args.budget_steps)
    console.table(("method", "task", "score", "± sd", "seeds", "episodes"), [_row(score) for score in scores])
    console.say()
    shown = [score for score in scores if score.success_percent]
    if shown:
        headings = ("reached in % of episodes", *(plain(score.method) for score in shown))
        console.table(
            headings, [(name, *(decimal(s.success_percent[name], 2) for s in shown)) for name in ACHIEVEMENTS]
        )
        console.say()
    console.say(
        f"{counted(len(scores), 'method')}; episodes within {args.budget_steps:,} steps of each seed; "
        "mean and population sd over seeds"
    )
    console.document(
        CRAFTER_SCORE_DOCUMENT(budget_steps=args.budget_steps, methods=scores, findings=findings)
    )
    return 1 if errors else 0


def _row(score: MethodScore) -> tuple[object, ...]:
    recorded = sum(seed.recorded for seed in score.by_seed)
    return (
        score.method,
        score.task or NOTHING,
        decimal(score.score_mean, 2),
        decimal(score.score_sd, 2),
        score.seeds if score.seeds == len(score.by_seed) else f"{score.seeds} of {len(score.by_seed)}",
        score.episodes if score.episodes == recorded else f"{score.episodes} of {recorded}",
    )


WIN_STEPS = 100
SHOWN = 20


def _add_win(inner: Any) -> None:
    """Adds the verb to those of ``crafter``."""
    parser = verb(inner, "win", run_win, "play Crafter and score each action against its alternatives (WIN)")
    parser.add_argument(
        "--policy", choices=list(POLICIES), default="random", help="the policy (default random)"
    )
    takes_task(parser)
    parser.takes_number("--seed", 1, "of the world and of all draws", metavar="S")
    parser.takes_number("--steps", WIN_STEPS, "steps at most")
    parser.takes_one("--reward", "R", f"f_R: env, shaped or rollout-N (default {SHAPED})", default=SHAPED)
    parser.add_argument(
        "--psi", nargs="+", choices=INTERVENTIONS, default=INTERVENTIONS, help="interventions (default all)"
    )
    parser.add_argument(
        "--noise", choices=get_args(Noise), default="same", help="random numbers of clones (default same)"
    )
    parser.takes_number("--draws", 1, "draws of resampled noise")
    parser.takes_one("--inject", "P", "share of actions replaced by others", type=float, default=0.0)
    takes_model(parser)


def run_win(args: argparse.Namespace, console: Console) -> int:
    """Plays and evaluates; the actions are done as they are."""
    _check(args)
    with player(args, console) as model:
        settings = _settings(args, model)
        options = {} if model is None else {"model": model}
        steps = []
        for step in watch(CrafterWorld(args.seed), policy_named(args.policy, **options), settings):
            steps.append(step)
            console.progress(step.step, args.steps, "steps")
        _print_win(settings, steps, console)
        print_unanswered(model, (step.unanswered for step in steps if step.unanswered), console)
    return 0


def _check(args: argparse.Namespace) -> None:
    require_counts(args, steps=1)
    if not 0 <= args.inject <= 1:
        raise UsageError("inject-invalid", "--inject is a probability", hint="A number from 0 to 1.")
    if args.draws < 1:
        raise UsageError("draws-invalid", "--draws is at least 1", hint="A whole number from 1.")
    if args.draws > 1 and args.noise == "same":
        raise UsageError(
            "draws-invalid",
            f"--draws {args.draws} with the same noise would draw the same result {args.draws} times",
            hint="Add --noise resampled.",
        )
    reward_named(args.reward)  # refuses an unknown name before anything is played


def _settings(args: argparse.Namespace, model: ModelAccess | None) -> Watching:
    return Watching(
        policy=args.policy,
        task=args.task,
        seed=args.seed,
        steps=args.steps,
        reward=args.reward,
        interventions=tuple(args.psi),
        noise=args.noise,
        draws=args.draws,
        inject=args.inject,
        model=None if model is None else model.name,
    )


def _print_win(settings: Watching, steps: Sequence[Watched], console: Console) -> None:
    summary, found = summarise([step.found for step in steps]), found_mistakes(steps)
    headings = ("step", "action", "r", *INTERVENTIONS, "WIN", "verdict", "injected")
    console.table(headings, [_win_row(step) for step in steps[:SHOWN]])
    if len(steps) > SHOWN:
        console.say(f"… and {counted(len(steps) - SHOWN, 'step')} more; --json lists them all")
    console.say()
    console.say(
        f"{counted(summary.steps, 'step')}, {settings.policy}, {settings.task or 'open play'};"
        f" f_R {settings.reward}, {settings.noise} noise: {summary.better} better,"
        f" {summary.worse} worse, {summary.ties} ties ({percent(summary.tie_share, 1)}),"
        f" {summary.unscored} unscored"
    )
    console.say(
        f"WIN: mean {rate(summary.mean)}; 0.5 or less in {percent(summary.at_most_half, 1)},"
        f" below 0.5 in {percent(summary.below_half, 1)} (n = {summary.steps - summary.unscored})"
    )
    if settings.inject:
        console.say(
            f"injected: {counted(found.injected, 'action')}; a low WIN separates them from {found.others} "
            f"others with AUC {rate(found.auc)}"
        )
    console.document(crafter_win_document(settings, steps))


def _win_row(step: Watched) -> tuple[object, ...]:
    found = step.found
    terms = {term.intervention: f"{term.action} {signed(term.reward, 2)}" for term in found.terms}
    return (
        step.step,
        found.action,
        signed(found.reward, 2),
        *(terms.get(name, NOTHING) for name in INTERVENTIONS),
        rate(found.win),
        found.verdict,
        "yes" if step.injected else "",
    )
