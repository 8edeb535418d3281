"""The three numbers that matter: how often it worked, how often that misleads, whether rankings agree."""

from __future__ import annotations

from components.figures.agents import metric_words
from components.shared import cards, text
from components.shared.panels import panel
from untaken.answers import Overview
from untaken.errors import Unscored, number
from untaken.present.numbers import interval, percent, signed


@panel
def draw(seen: Overview) -> None:
    """A card for each, with what it rests on."""
    more = f" {seen.succeeded.left_out} more have no recorded outcome." if seen.succeeded.left_out else ""
    undecided = f" {seen.lucky.left_out} more cannot be decided." if seen.lucky.left_out else ""
    tau = seen.agreement.tau_b if seen.agreement else Unscored("no ranking by this metric")
    cards.number_cards(
        (
            "Success, mean over tasks",
            percent(seen.task_mean),
            f"{seen.succeeded.count} of {seen.succeeded.n} runs with a recorded outcome "
            f"({percent(seen.succeeded.rate)}, pooled).{more}",
        ),
        (
            "Successes with a critical sub-goal not completed",
            percent(seen.lucky.rate),
            f"{seen.lucky.count} of {seen.lucky.n} successful runs with a critical sub-goal.{undecided}"
            if seen.lucky.n
            else "No successful run has a critical sub-goal with a result. Mark critical ones in Annotate.",
        ),
        (
            "Agreement of outcome and sub-goals (τ-b)",
            signed(tau),
            f"{text.label(tau.reason, 160)}." if isinstance(tau, Unscored) else _agreement_words(seen),
        ),
    )


def _agreement_words(seen: Overview) -> str:
    low, high = (
        (number(end) for end in (seen.agreement.low, seen.agreement.high)) if seen.agreement else (None, None)
    )
    known = low is not None and high is not None
    span = f"95% interval {interval(low, high, signed)}; " if known else ""
    return (
        f"{span}{len(seen.discordant)} of {seen.pairs} pairs of agents change order between outcome "
        f"success and {metric_words(seen.metric)}{_clearly(seen)}."
    )


def _clearly(seen: Overview) -> str:
    """How many of the pairs that change order do so beyond doubt, by the intervals of their ranks."""
    clear = sum(pair.clear for pair in seen.discordant)
    return f", {clear} of them clearly" if clear else ""
