"""The three numbers that matter: how often it worked, how often that misleads, whether rankings agree."""

from __future__ import annotations

from components.figures.agents import metric_words
from components.shared import cards, text
from components.shared.panels import panel
from untaken.errors import Score, Unscored, number
from untaken.numbers import counted, interval, percent, signed
from untaken.views import Overview


@panel
def draw(seen: Overview) -> None:
    """A card for each, with what it rests on."""
    more = (
        f" {counted(seen.succeeded.left_out, 'more run', 'have')} no recorded outcome."
        if seen.succeeded.left_out
        else ""
    )
    rate = percent(seen.succeeded.rate)
    pooled = f" ({rate}, pooled)" if rate != percent(seen.task_mean) else ""
    undecided = f" {seen.lucky.left_out} more cannot be decided." if seen.lucky.left_out else ""
    tau = seen.agreement.tau_b if seen.agreement else Unscored("no ranking by this metric")
    ranked = seen.pairs and not isinstance(tau, Unscored)
    cards.number_cards(
        (
            "Success, mean over tasks",
            percent(seen.task_mean),
            f"{seen.succeeded.count} of {counted(seen.succeeded.n, 'run')} with a recorded outcome"
            f"{pooled}.{more}"
            if seen.succeeded.n
            else "No run records an outcome.",
        ),
        (
            "Successes that missed a critical sub-goal",
            percent(seen.lucky.rate),
            f"{seen.lucky.count} of {counted(seen.lucky.n, 'successful run')} with a critical sub-goal."
            f"{undecided}"
            if seen.lucky.n
            else "No run succeeded."
            if not seen.succeeded.count
            else "No successful run has a critical sub-goal with a result. Mark critical ones in Annotate.",
        ),
        (
            "Pairs of agents whose ranks differ",
            f"{len(seen.discordant)} of {seen.pairs}" if ranked else "–",
            f"By success against {metric_words(seen.metric)}. {agreement_words(seen)}"
            if ranked
            else _no_ranking(tau)
            if seen.succeeded.n and seen.graphs
            else "No plan graph: agents are ranked by the outcome alone."
            if seen.succeeded.n
            else "No run records an outcome to rank by.",
        ),
    )


def _no_ranking(tau: Score) -> str:
    why = tau.reason if isinstance(tau, Unscored) else "only one agent is ranked"
    return f"{text.label(why[:1].upper() + why[1:], 160)}."


def agreement_words(seen: Overview) -> str:
    """How far the two rankings agree, and how many pairs differ beyond doubt."""
    if seen.agreement is None:
        return ""
    low, high = number(seen.agreement.low), number(seen.agreement.high)
    clear = sum(pair.clear for pair in seen.discordant)  # beyond doubt, by the intervals of their ranks
    surely = f" {clear:,} of them clearly." if clear else ""
    span = f", 95% interval {interval(low, high, signed)}" if low is not None and high is not None else ""
    return f"{surely} Agreement (Kendall's τ-b) {signed(seen.agreement.tau_b)}{span}.".strip()
