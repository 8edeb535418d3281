"""The What-If-Not reward of one action, and what it is made of (§7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, fsum
from typing import Final, Literal

import msgspec
from msgspec import Struct

from untaken.errors import Score, Unscored

Noise = Literal["same", "resampled"]
"""``same``: every clone draws the random numbers that the world itself would; ``resampled``: its own ones."""
Verdict = Literal["better", "worse", "tie", "unscored"]
At = Literal["<=", "<"]
"""Where an action is to be revised: at a WIN of 0.5 and below, or only below."""
EVEN: Final = 0.5
EVEN_WITHIN: Final = 1e-12
"""Largest rounding error of a sum of terms that cancel out, as a distance from 0.5."""


class Term(Struct, frozen=True, kw_only=True):
    """The action against one that was not taken.

    Attributes:
        intervention: how the other action was found: ``wait``, ``opposite`` or ``random``.
        action: the other action, ã.
        reward: f_R of it, r̃; mean over draws.
        value: σ(r − r̃); mean over draws.
        state: hash of the state it led to (of the first draw), where it was asked for.
    """

    intervention: str
    action: str
    reward: float
    value: float
    state: str | None = None


class WhatIfNot(Struct, frozen=True, kw_only=True):
    """What an action is worth beside what else could have been done in the same state.

    Attributes:
        action: the action, a.
        task: what rewards and the other actions were conditioned on; ``None`` for open play.
        rewarded_by: name of f_R.
        reward: f_R of the action, r; mean over draws.
        terms: one for each intervention that exists here and differs from the action.
        left_out: why each other intervention has no term.
        win: mean of the terms, between 0 and 1; unscored if there is none.
        spread: population sd of WIN over draws; ``None`` for a single draw.
        verdict: ``better`` above 0.5, ``worse`` below, ``tie`` at 0.5 to 1e-12: the simulator says nothing.
        revise: whether the policy is to be asked again.
        noise, draws: whose random numbers, and how often.
        state: hash of the state the action led to (of the first draw), where it was asked for.
    """

    action: str
    task: str | None
    rewarded_by: str
    reward: float
    terms: tuple[Term, ...]
    left_out: dict[str, str] = msgspec.field(default_factory=dict)
    win: Score
    spread: float | None = None
    verdict: Verdict
    revise: bool
    noise: Noise = "same"
    draws: int = 1
    state: str | None = None

    @property
    def others(self) -> dict[str, float]:
        """Reward of each other action that was tried (Ã)."""
        return {term.action: term.reward for term in self.terms}


def sigmoid(x: float) -> float:
    """σ(x) = 1 / (1 + e⁻ˣ), without overflow for any x."""
    if x >= 0:  # else e⁻ˣ may be too large for a double
        return 1 / (1 + exp(-x))
    grown = exp(x)
    return grown / (1 + grown)


def verdict_of(win: Score) -> Verdict:
    """The class of a WIN; what cancels out to within rounding is a tie."""
    if isinstance(win, Unscored):
        return "unscored"
    if abs(win - EVEN) <= EVEN_WITHIN:
        return "tie"
    return "better" if win > EVEN else "worse"


class WinSummary(Struct, frozen=True, kw_only=True):
    """How the actions of an episode compare with their alternatives.

    Attributes:
        steps: actions evaluated; `unscored` of them have no WIN and count in nothing below.
        better, worse, ties: by their verdicts.
        at_most_half: share of scored actions with a WIN of 0.5 or less, where the source revises.
        below_half: share of those below 0.5.
        tie_share: share of exact ties.
        mean: mean WIN.
    """

    steps: int
    unscored: int
    better: int
    worse: int
    ties: int
    at_most_half: Score
    below_half: Score
    tie_share: Score
    mean: Score


def summarise_wins(found: Sequence[WhatIfNot]) -> WinSummary:
    """The summary of an episode, or of several."""
    wins = [one.win for one in found if not isinstance(one.win, Unscored)]
    counted = Counter(one.verdict for one in found)
    none = Unscored("no action has a WIN")

    def share(number: int) -> Score:
        return number / len(wins) if wins else none

    return WinSummary(
        steps=len(found),
        unscored=counted["unscored"],
        better=counted["better"],
        worse=counted["worse"],
        ties=counted["tie"],
        at_most_half=share(counted["worse"] + counted["tie"]),
        below_half=share(counted["worse"]),
        tie_share=share(counted["tie"]),
        mean=fsum(wins) / len(wins) if wins else none,
    )
