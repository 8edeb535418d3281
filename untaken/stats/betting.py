"""Tests and ends of intervals of a mean that hold at every look (§5, "A gate that may be looked at").

Betting (Waudby-Smith and Ramdas 2024): bets against "the mean is at most m" multiply a capital of 1 by
1 − c + c·x/m at each value x from 0 to 1. If m is true no bet wins on average, so that the capital ever
reaches 20 with a probability of at most 1 in 20 (Ville 1939). The capital here is the mean over a grid of
stakes c. It falls as m grows, whatever the values, so an end of an interval is found by bisection.

Values may have any distribution, and differ, as long as each has a mean of at most m given those before: an
order that puts the easy tasks first would break that.

A value that is not known yet counts as 0 for "the mean is above" and as 1 for "the mean is below". The
capital grows with every value, so what is shown stays shown whatever the value turns out to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from msgspec import Struct

from untaken.stats.rounding import Floats

Shown = Literal["pass", "fail", "keep_going", "unscored"]
LEVEL: Final = 0.05
"""How often an end may ever be wrong; each end by itself."""
STAKES: Final = np.linspace(0.05, 0.95, 19)  # a stake of 1 would lose everything at the first 0
STEPS: Final = 40
LEAST: Final = 1e-9  # a mean of 0 pays infinitely much


def evidence_above(values: Sequence[float], mean: float) -> Floats:
    """Logarithm of the capital won against "the mean is at most `mean`", after each value."""
    paid = np.asarray(values, dtype=np.float64) / max(mean, LEAST)
    capital = np.cumsum(np.log1p(STAKES[:, None] * (paid - 1)), axis=1)
    # The largest is taken out first: capitals of long rows are beyond what a double holds.
    most = capital.max(axis=0)
    logs: Floats = most + np.log(np.exp(capital - most).mean(axis=0))
    return logs


def first_above(values: Sequence[float], mean: float) -> int | None:
    """After how many values it was shown that the mean is above `mean`; ``None`` where it was not."""
    if not values:
        return None
    reached = np.flatnonzero(evidence_above(values, mean) >= -np.log(LEVEL))
    return int(reached[0]) + 1 if reached.size else None  # reached once is enough, whatever is lost later


def lower_end(values: Sequence[float]) -> float:
    """The largest mean that was shown, at some look, to be too small: the lower end of the mean so far."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if first_above(values, middle) is None else (middle, high)
    return low


class Decided(Struct, frozen=True):
    """A verdict on the mean of `values`, after how many of them, and both ends of the mean's interval."""

    verdict: Shown
    at: int | None
    ends: tuple[float, float]


def decide(values: Sequence[float | None], *, passes: float, fails: float) -> Decided:
    """`verdict_of` with both ends of the interval, which hold at every look whatever the open values are."""
    if not values:
        return Decided("unscored", None, (0.0, 1.0))
    least, most = _extremes(values)
    ends = lower_end(least), 1 - lower_end([1 - value for value in most])
    return Decided(*verdict_of(values, passes=passes, fails=fails), ends)


def verdict_of(values: Sequence[float | None], *, passes: float, fails: float) -> tuple[Shown, int | None]:
    """Whether the mean is shown to be above `passes` or below `fails`, whichever comes first, and where.

    *Pass* comes first though every open value were 0, *fail* though every one were 1. Whatever an open value
    becomes, and also where it is left out in the end, there is no less evidence for that verdict at any place
    in the order and no more against it: a verdict is never revoked.

    Args:
        values: from 0 to 1, in an order that does not depend on them; ``None`` while one is open.
        passes: *pass* says that the mean is above it.
        fails: *fail* says that the mean is below it; at least `passes`.
    """
    for some, wanted in zip(_extremes(values), ("pass", "fail"), strict=True):
        found = _first_shown(some, passes, fails)
        if found[0] == wanted:
            return found
    return "keep_going", None


def _extremes(values: Sequence[float | None]) -> tuple[list[float], list[float]]:
    """The values with each open one at its least, and at its most."""
    least, most = ([end if value is None else value for value in values] for end in (0.0, 1.0))
    return least, most


def _first_shown(values: Sequence[float], passes: float, fails: float) -> tuple[Shown, int | None]:
    """What is shown first, a mean above `passes` or one below `fails`, and after how many values."""
    won, lost = first_above(values, passes), first_above([1 - value for value in values], 1 - fails)
    if won is not None and (lost is None or won <= lost):
        return "pass", won
    return ("keep_going" if lost is None else "fail"), lost
