"""How many runs say something, and the words for it."""

from __future__ import annotations

from typing import Final

N_MIN: Final = 3
"""Fewest runs on either side for an advantage to count as supported."""
N_SPREAD: Final = 2
"""Fewest runs that have a spread."""
MOST_RUNS: Final = 1000
"""No number is given where more runs than this are needed."""
COULD_BE_TIME: Final = "could be time: the difference does not hold between runs made at about the same time"


def time_words(reason: str) -> str:
    """What the rule for time costs, to be printed beside its reason; empty beside any other.

    Rates of `benchmarks/confounding.py`, 300 logs a world: see the table in docs/limitations.md.
    """
    if reason != COULD_BE_TIME:
        return ""
    return (
        "Runs of the two sides began at different times, so something that changed meanwhile may explain the "
        "difference. This rule also hides true differences: of those of 30 points that the exact test shows, "
        "8 to 10% in logs without such a change, 30% in a log of 40 runs, 73% where an upgrade leaves few "
        "runs to compare."
    )
