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
    console.columns(
        balance,
        ("taken", lambda one: one.selected),
        ("not taken", lambda one: one.alternative),
        ("context", lambda one: one.context_hash[:CONTEXT_CHARS]),
        ("runs", lambda one: f"{one.runs_selected}, {one.runs_alternative}"),
        ("tasks", lambda one: f"{one.tasks_selected}, {one.tasks_alternative}"),
        ("agents", lambda one: f"{one.agents_selected}, {one.agents_alternative}"),
        ("strata with both", lambda one: one.strata_both),
        ("runs in them", lambda one: one.runs_both),
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
    console.columns(
        influence,
        ("taken", lambda one: one.selected),
        ("not taken", lambda one: one.alternative),
        ("context", lambda one: one.context_hash[:CONTEXT_CHARS]),
        ("advantage", lambda one: signed(one.advantage)),
        ("95%", lambda one: interval(one.low, one.high, signed, unknown=NOTHING)),
        ("runs", lambda one: one.runs),
        ("moved most by", lambda one: one.moved_by),
        ("without it", lambda one: signed(one.advantage_without)),
        ("lost without", lambda one: len(one.lost_without)),
    )


def _print_contrasts(contrasts: tuple[OffPolicyContrast, ...], console: Console) -> None:
    console.say()
    if not contrasts:
        console.say(f"no probabilities were logged for these choices: each figure is an {ASSOCIATION}")
        return
    console.say(f"{FROM_ODDS}: expected score of the alternative minus that of the selected skill")
    console.columns(
        contrasts,
        ("taken", lambda one: one.selected),
        ("not taken", lambda one: one.alternative),
        ("context", lambda one: one.context_hash[:CONTEXT_CHARS]),
        ("n", lambda one: f"{one.n_selected}+{one.n_alternative}"),
        ("left out", lambda one: one.left_out),
        ("runs' worth", lambda one: rate(one.effective)),
        ("top share", lambda one: rate(one.largest_share)),
        ("SNIPS", lambda one: signed(one.snips)),
        ("95%", lambda one: interval(one.snips_low, one.snips_high, signed, unknown=NOTHING)),
        ("DR", lambda one: signed(one.dr)),
        ("95%", lambda one: interval(one.dr_low, one.dr_high, signed, unknown=NOTHING)),
    )
