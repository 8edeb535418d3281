"""Who plays Crafter, on the command line: a policy, its options, the language model it may ask (§7)."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Final

from untaken.cli.asking import model_of
from untaken.cli.console import Console
from untaken.cli.grammar import Parser, UsageError
from untaken.errors import Finding
from untaken.judging import ModelAccess
from untaken.numbers import counted
from untaken.simulator import ACHIEVEMENTS, POLICIES

LANGUAGE: Final = "language"
ASKING: Final = ("model", "replies", "offline", "budget")
"""Options of a model, for the policy that asks one."""
CHANCE: Final = ("epsilon", "slips")
"""Options of policies that draw."""


def takes_chance(parser: Parser) -> None:
    """``--epsilon`` and ``--slips``."""
    parser.takes_one(
        "--epsilon", "P", "for noisy: probability of drawing the next skill at random", type=float
    )
    parser.takes_one("--slips", "P", "for noisy and uniform: probability that an action slips", type=float)


def takes_task(parser: Parser) -> None:
    """``--task``."""
    words = "an achievement to reach; default: open play"
    parser.takes_one("--task", "T", words, choices=ACHIEVEMENTS)


def require_counts(args: argparse.Namespace, **least: int) -> None:
    """Options that count something are at least so many.

    Raises:
        UsageError: ``count-invalid``.
    """
    for name, few in least.items():
        if getattr(args, name) < few:
            option = name.replace("_", "-")
            raise UsageError(
                "count-invalid", f"--{option} is at least {few}", hint=f"A whole number from {few}."
            )


def chances(args: argparse.Namespace) -> dict[str, float]:
    """The options of the policy that were given.

    Raises:
        UsageError: ``option-without-effect`` where the policy has no such option.
    """
    given = {name: getattr(args, name) for name in CHANCE if getattr(args, name) is not None}
    for name in given:
        # A policy takes the options that its maker has parameters for.
        takers = [policy for policy, make in POLICIES.items() if name in signature(make).parameters]
        if args.policy not in takers:
            raise without_effect(
                name, f"with the policy {args.policy}", f"It applies to {' and '.join(takers)}"
            )
    return given


def refuse_model_options(args: argparse.Namespace) -> None:
    """Options of a model are for the policy that asks one.

    Raises:
        UsageError: ``option-without-effect``.
    """
    for name in ASKING:
        given = getattr(args, name)
        # Flags that were not given are false, other options none.
        if args.policy != LANGUAGE and given is not None and given is not False:
            raise without_effect(
                name,
                f"with the policy {args.policy}",
                f"It applies to --policy {LANGUAGE}, which asks a model",
            )


def without_effect(option: str, where: str, instead: str) -> UsageError:
    """The error for an option that would be silently ignored."""
    return UsageError(
        "option-without-effect",
        f"--{option} has no effect {where}",
        hint=f"{instead}; else leave --{option} out.",
    )


@contextmanager
def player(args: argparse.Namespace, console: Console) -> Iterator[ModelAccess | None]:
    """The model that plays, until the command is done. ``None`` for other policies.

    Raises:
        UntakenError: as `model_of`; `UsageError` as `refuse_model_options`.
    """
    refuse_model_options(args)
    if args.policy != LANGUAGE:
        yield None
        return
    with model_of(args, console) as model:
        yield model


def print_unanswered(model: ModelAccess | None, reasons: Iterable[str], console: Console) -> None:
    """Warns of questions without a usable answer."""
    if model is None or not model.spent.unanswered:
        return
    answers, lost = model.spent, model.spent.unanswered
    asked = counted(answers.answered + lost, "question")
    message = f"{lost} of {asked} without a usable answer; the policy waited"
    hint = "Answers are kept: the next run asks only the missing ones."
    console.findings(
        Finding(code="questions-unanswered", message=f"{message}: {reason}", hint=hint)
        for reason in dict.fromkeys(reasons)
    )
