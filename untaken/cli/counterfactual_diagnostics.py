"""What ``untaken counterfactual --diagnostics`` says in words and tables."""

from __future__ import annotations

from typing import Final

from untaken.cli.console import NOTHING, Console, rate, signed
from untaken.counterfactual import (
    ASSOCIATION,
    FROM_ODDS,
    Balance,
    Diagnostics,
    Influence,
    OffPolicyContrast,
    Placebo,
)
from untaken.present.numbers import counted, interval

CONTEXT_CHARS: Final = 12


def print_diagnostics(diagnostics: Diagnostics, console: Console) -> None:
    """The placebo, what hangs on single runs, and what logged odds say."""
    console.say()
    _print_placebo(diagnostics.placebo, console)
    _print_balance(diagnostics.balance, console)
    _print_influence(diagnostics.influence, console)
    _print_contrasts(diagnostics.contrasts, console)


def _print_placebo(placebo: Placebo, console: Console) -> None:
    console.say(
        f"placebo: skills shuffled within context, task and agent, {counted(placebo.rounds, 'round')}, "
        f"{counted(placebo.comparisons, 'comparison')}"
    )
    for what, value, low, high in (
        ("mean advantage", placebo.advantage, placebo.advantage_low, placebo.advantage_high),
        ("mean delta", placebo.delta, placebo.delta_low, placebo.delta_high),
    ):
        console.say(f"  {what} {signed(value)} (95%: {interval(low, high, signed, unknown=NOTHING)})")
    share = (rate(value) for value in (placebo.supported, placebo.supported_low, placebo.supported_high))
    console.say("  share supported {} (95%: {} to {}; up to 0.05 is chance)".format(*share))
    console.say("  means away from 0 are what tasks and agents alone make of it")


def _print_balance(balance: tuple[Balance, ...], console: Console) -> None:
    console.say()
    if not balance:
        console.say("balance: no two skills of one context have both been taken")
        return
    both = sum(bool(one.strata_both) for one in balance)
    pairs = counted(len(balance), "pair")
    console.say(f"balance: in {both} of {pairs} both skills were taken within a task and agent")
    console.table(
        ("taken", "not taken", "context", "runs", "tasks", "agents", "strata with both", "runs in them"),
        [
            (
                one.selected,
                one.alternative,
                one.context_hash[:CONTEXT_CHARS],
                f"{one.runs_selected}, {one.runs_alternative}",
                f"{one.tasks_selected}, {one.tasks_alternative}",
                f"{one.agents_selected}, {one.agents_alternative}",
                one.strata_both,
                one.runs_both,
            )
            for one in balance
        ],
    )


def _print_influence(influence: tuple[Influence, ...], console: Console) -> None:
    console.say()
    if not influence:
        console.say("leaving out single runs: no comparison is supported")
        return
    alone = sum(bool(one.lost_without) for one in influence)
    console.say(
        f"without single runs: {alone} of {counted(len(influence), 'supported comparison')} lose support"
    )
    console.table(
        (
            "taken",
            "not taken",
            "context",
            "advantage",
            "95%",
            "runs",
            "moved most by",
            "without it",
            "lost without",
        ),
        [
            (
                one.selected,
                one.alternative,
                one.context_hash[:CONTEXT_CHARS],
                signed(one.advantage),
                interval(one.low, one.high, signed, unknown=NOTHING),
                one.runs,
                one.moved_by,
                signed(one.advantage_without),
                len(one.lost_without),
            )
            for one in influence
        ],
    )


def _print_contrasts(contrasts: tuple[OffPolicyContrast, ...], console: Console) -> None:
    console.say()
    if not contrasts:
        console.say(f"no probabilities were logged for these choices: each figure is an {ASSOCIATION}")
        return
    console.say(f"{FROM_ODDS}: expected score of the alternative minus that of the selected skill")
    console.table(
        (
            "taken",
            "not taken",
            "context",
            "n",
            "left out",
            "runs' worth",
            "top share",
            "SNIPS",
            "95%",
            "DR",
            "95%",
        ),
        [
            (
                one.selected,
                one.alternative,
                one.context_hash[:CONTEXT_CHARS],
                f"{one.n_selected}+{one.n_alternative}",
                one.left_out,
                rate(one.effective),
                rate(one.largest_share),
                signed(one.snips),
                interval(one.snips_low, one.snips_high, signed, unknown=NOTHING),
                signed(one.dr),
                interval(one.dr_low, one.dr_high, signed, unknown=NOTHING),
            )
            for one in contrasts
        ],
    )
