"""Comparisons of agents in words: points, signs and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from untaken.analysis import METRICS, PairDirection, PairedDifference, RunContribution
from untaken.errors import number
from untaken.numbers import counted, decimal, interval, p_value, percent, points

from ..shared import text
from ..shared.palette import Tokens

SIGNS: Final[Mapping[PairDirection, str]] = {"above": "▲", "below": "▼", "level": "≈", "unknown": "?"}
"""Clearly above, clearly below, no clear difference, no interval."""


def metric_words(name: str) -> str:
    """A metric's short name, safe in a figure."""
    return METRICS[name].label if name in METRICS else text.figure(name.replace("_", " "), 30)


def fill_of(pair: PairedDifference, look: Tokens) -> str:
    """The colour behind a pair; the sign beside it says the same."""
    fills = {"above": look.fill, "below": look.warm, "level": look.band, "unknown": look.background}
    return fills[pair.direction]


def verdict(pair: PairedDifference) -> str:
    """Is the one ahead of the other? In one word or two."""
    if pair.direction == "unknown":
        return "Unknown"
    if pair.direction == "level":
        return "No clear difference"
    return "Yes" if pair.clear_among_all else "Only uncorrected"


def sentences(pair: PairedDifference, first: str, second: str) -> str:
    """Is the one ahead of the other? As markdown; the names are given as markdown already."""
    metric, difference = metric_words(pair.metric), number(pair.difference)
    if difference is None or number(pair.low) is None:
        why = "no task has a value for both" if difference is None else "an interval needs two tasks"
        return f"{first} and {second} cannot be compared by {metric}: {why}."
    span = f"95% interval {interval(pair.low, pair.high, points)}"
    tasks = (
        f"over the {counted(pair.n_tasks, 'task')} that both have a value on ({counted(pair.n_runs, 'run')})"
    )
    above, below = (first, second) if difference >= 0 else (second, first)
    size = points(abs(difference), sign=False)
    if not pair.clear_difference:
        lead = f"{above} is ahead by {size} points" if float(size) else "Both have the same value"
        return (
            f"The log shows no clear difference between {first} and {second} by {metric}. {lead} {tasks}; "
            f"the {span} includes 0 ({p_value(pair.p, 'p')}). That does not mean they are equal: "
            f"{_detected(pair)}."
        )
    sentence = (
        f"{above} is ahead of {below} by {metric}: {size} points {tasks}, {span}, {p_value(pair.p, 'p')}."
    )
    return f"{sentence} {_family(pair)}"


def band_words(pair: PairedDifference) -> str:
    """What the shaded band of a difference says."""
    if _too_few(pair):
        return f"All shaded: {_detected(pair)}"
    size = points(pair.mde, sign=False)
    return (
        f"Shaded: differences below {size} points, which {pair.n_tasks} tasks like these detect in fewer "
        "than four of five cases"
    )


def _too_few(pair: PairedDifference) -> bool:
    # The error of two tasks can ask for a difference of 600 points: there is none above 100.
    return (number(pair.mde) or 0.0) > 1


def _detected(pair: PairedDifference) -> str:
    if _too_few(pair):
        return f"{pair.n_tasks} tasks are too few to detect even 100 points in four of five cases"
    least = f"{points(pair.mde, sign=False)} points or more"
    return f"with these tasks, a true difference must be {least} to be detected in four of five cases"


def _family(pair: PairedDifference) -> str:
    if pair.family < 2:
        return "This is the only pair compared by this metric."
    still = "still clear" if pair.clear_among_all else "not clear any more"
    pairs = f"all {pair.family} pairs under this metric"
    return f"It is {still} after correction for {pairs} (Holm's {p_value(number(pair.p_holm) or 0.0, 'p')})."


def method(pair: PairedDifference) -> str:
    """How interval and p were computed."""
    if pair.test == "mcnemar":
        return (
            f"Single trials: exact McNemar on {decimal(pair.first_only, 0)} tasks where only the first "
            f"succeeded and {decimal(pair.second_only, 0)} that only the second succeeded at; "
            "adjusted Wald interval."
        )
    method = (
        "Student's t over tasks"
        if pair.interval == "student_t"
        else "the difference is the same on every task, so the adjusted Wald interval of single trials"
    )
    return f"p from random swaps of the two agents within tasks; interval: {method}."


def contribution_words(one: RunContribution, metric: str) -> str:
    """What is odd about a run: ``succeeded, 25% completed``."""
    outcome = "succeeded" if one.outcome else "failed"
    return f"{outcome}, {percent(one.value)} {metric_words(metric)}"


def turn_words(by_outcome: PairedDifference | None, by_metric: PairedDifference | None) -> str:
    """Whether either of two metrics shows a clear difference for a pair that they order oppositely."""
    sure = [pair.metric for pair in (by_outcome, by_metric) if pair is not None and pair.clear_difference]
    if not sure:
        return "Neither difference is clear: the order change may be chance."
    if len(sure) == 2:
        return "Both differences are clear: the order change is unlikely to be chance."
    return f"Only the difference by {metric_words(sure[0])} is clear."
