"""``untaken crafter run``: Algorithm 1 in Crafter, recorded as runs, and without its parts (§7)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from untaken.cli.asking import takes_model
from untaken.cli.console import Console, decimal, plain, span
from untaken.cli.crafter_players import (
    LANGUAGE,
    chances,
    player,
    print_unanswered,
    require_counts,
    takes_chance,
    takes_task,
    without_effect,
)
from untaken.cli.grammar import UsageError, verb
from untaken.judging import ModelAccess
from untaken.numbers import counted, percent
from untaken.plans import save_graph
from untaken.simulator import (
    FULL,
    GRAPH_ID,
    POLICIES,
    PUBLISHED,
    SHAPED,
    START,
    Ablation,
    Episode,
    EpisodeJob,
    Setup,
    WinSettings,
    arms_of,
    play_all,
    policy_named,
    remarks,
    reward_named,
    succeeded,
    success_rule,
    tech_tree,
)
from untaken.views import crafter_ablation_document, crafter_run_document

STEPS = 1_000
GRAPH_FILE = f"{GRAPH_ID}.plan.yaml"
DAY = timedelta(days=1)
"""Time between recorded episodes, so that each finds the earlier ones in policy memory."""


def add_to(inner: Any) -> None:
    """Adds the verb to those of ``crafter``."""
    parser = verb(inner, "run", run, "play Crafter with Algorithm 1 and record the episodes as runs")
    parser.add_argument("--policy", choices=list(POLICIES), required=True, help="who plays")
    takes_chance(parser)
    takes_task(parser)
    parser.takes_number("--episodes", 1, "worlds, one per seed")
    parser.takes_number("--seed", 1, "seed of the first world", metavar="S")
    parser.takes_number("--steps", STEPS, "planning horizon")
    parser.takes_flag("--sce", "give the policy the causes that act on its task")
    parser.takes_flag("--win", "ask again if What-If-Not is 0.5 or less")
    parser.takes_flag("--below", "ask again only below 0.5")
    parser.takes_one("--reward", "R", f"f_R of What-If-Not (default {SHAPED})")
    parser.takes_flag("--ablation", "play all four arms in the same worlds and compare them")
    parser.takes_number("--workers", 1, "processes to play in")
    parser.takes_out("DIR", "record each episode here as a separate ledger", type=Path)
    takes_model(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Plays, and says what was reached; with ``--ablation``, what each part of the algorithm added."""
    setup = _setup(args)
    with player(args, console) as model:
        setup = replace(setup, options={**setup.options, **({"model": model.name} if model else {})})
        reasons = _play(args, setup, model, console)
        print_unanswered(model, reasons, console)
    return 0


def _play(
    args: argparse.Namespace, setup: Setup, model: ModelAccess | None, console: Console
) -> tuple[str, ...]:
    """Gives why questions to a model had no usable answer."""
    seeds = range(args.seed, args.seed + args.episodes)
    arms = arms_of(setup) if args.ablation else {setup.agent: setup}
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
    jobs = [
        # Arms inside worlds: a world has one day, and every `len(arms)`-th episode is of the same arm.
        EpisodeJob(setup=arm, seed=seed, start=START + day * DAY, folder=args.out, model=model)
        for day, seed in enumerate(seeds)
        for arm in arms.values()
    ]
    episodes: list[Episode] = []
    for episode in play_all(jobs, workers=args.workers):
        episodes.append(episode)
        console.progress(len(episodes), len(jobs), "episodes")
    played = {name: episodes[at :: len(arms)] for at, name in enumerate(arms)}
    if args.ablation:
        from untaken.simulator import ablation  # noqa: PLC0415 (slow: imports NumPy)

        _print_ablation(ablation(arms[FULL], played), console)
    else:
        _print_run(setup, jobs, episodes, console)
    if args.out is not None:
        graph = args.out / GRAPH_FILE
        if not graph.exists():  # somebody may have edited the one that is there
            save_graph(tech_tree(), graph)
        console.say(f"\n{counted(len(jobs), 'run')} recorded in {plain(args.out)}, plan graph: {GRAPH_FILE}")
    return tuple(reason for episode in episodes for reason in episode.why_unanswered)


def _setup(args: argparse.Namespace) -> Setup:
    require_counts(args, episodes=1, steps=1, workers=1)
    if args.policy == LANGUAGE and args.workers > 1:
        raise UsageError(
            "count-invalid",
            f"--workers is 1 with the policy {LANGUAGE}: all its questions go through one budget",
            hint="Leave --workers out.",
        )
    for name, given in (("below", args.below), ("reward", args.reward is not None)):
        if given and not (args.win or args.ablation):
            raise without_effect(name, "without What-If-Not", "Add --win, or --ablation")
    reward = SHAPED if args.reward is None else args.reward
    reward_named(reward)  # refuses an unknown name before anything is played
    win = WinSettings(reward=reward, at="<" if args.below else "<=")
    setup = Setup(
        policy=args.policy,
        options=chances(args),
        task=args.task,
        steps=args.steps,
        sce=args.sce,
        win=win if args.win or args.ablation else None,
    )
    if args.policy != LANGUAGE:
        # Refuses wrong options now; the other policy needs its model first.
        policy_named(setup.policy, **setup.options)
    return setup


def _print_run(
    setup: Setup, jobs: Sequence[EpisodeJob], episodes: Sequence[Episode], console: Console
) -> None:
    from untaken.simulator import summarise  # noqa: PLC0415 (slow: imports NumPy)

    arm = summarise(setup.agent, episodes)
    console.columns(
        episodes,
        "world=seed, steps",
        ("achievements", lambda episode: len(episode.unlocked)),
        ("success", lambda episode: "yes" if succeeded(episode) else "no"),
        "return=total:.1, died=dead, asked again=asked_again, revised",
        *(["unanswered"] if setup.policy == LANGUAGE else []),
    )
    console.say()
    rates = arm.success_percent
    reached = [(name, decimal(rates[name], 1)) for name in rates if rates[name]]
    if reached:
        console.table(("reached", "% of worlds"), reached)
        console.say()
    console.say(
        f"{setup.agent}, {setup.task or 'open play'}: Crafter score {decimal(arm.score, 2)}"
        f" (95% {span(arm.score_low, arm.score_high, 2)}, n = {counted(arm.episodes, 'world')}"
        f" of at most {setup.steps:,} steps); success: {success_rule(setup.task)}: {arm.successes}"
        f" of {arm.episodes}"
    )
    ledgers = [job.ledger for job in jobs if job.ledger is not None]
    console.document(crafter_run_document(setup, arm, episodes, ledgers=ledgers))


def _print_ablation(found: Ablation, console: Console) -> None:
    console.columns(
        found.arms,
        "arm=name, score:.2, 95%=score_low…score_high:.2, n=episodes, achievements:.2",
        ("success", lambda arm: percent(arm.successes / arm.episodes, 1)),
        ("asked again", lambda arm: percent(arm.asked_again, 1)),
        ("revised", lambda arm: percent(arm.revised, 1)),
        ("published", lambda arm: decimal(PUBLISHED[arm.name][0], 2)),
        ("± sd", lambda arm: decimal(PUBLISHED[arm.name][1], 2)),
    )
    console.say()
    console.columns(
        found.differences,
        "full minus=without, success:+, 95%=success_low…success_high:.2, p=success_p",
        "achievements:+, 95%=low…high:.2, p:p, p (Holm)=p_holm:p",
        "score:+, 95%=score_low…score_high:.2, n=worlds, the same in=same",
    )
    console.say()
    for line in remarks(found):
        console.say(line)
    console.document(crafter_ablation_document(found))
