"""Sub-goals whose completion goes with success, over all runs of a task (§4). Association, not cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from untaken.comparing.cells import Pattern, Side
from untaken.comparing.model import ACHIEVED, KNOWN, OutcomeSplit
from untaken.errors import Unscored, number
from untaken.stats.exact import fisher_p
from untaken.stats.multiple import holm

ONE_OUTCOME = Unscored("no known status in successful runs, or none in failed runs")


def outcome_splits(
    sides: Sequence[Side],
    patterns: Mapping[str, Pattern],
    named: Sequence[tuple[str, str, bool]],
) -> tuple[OutcomeSplit, ...]:
    """What separates the runs that succeeded from those that failed: smallest p first, then largest share.

    A sub-goal that the recorded outcome itself decides is left out: it would separate them by definition.
    """
    ended = [side for side in sides if not isinstance(side.run.success, Unscored)]
    circular = {name for side in ended for name, node in side.nodes.items() if node.decided_by == "outcome"}
    found = [_split(row, ended, patterns) for row in named if row[0] not in circular]
    return tuple(sorted(_adjusted(found), key=_by_p_value))


def _split(
    row: tuple[str, str, bool], ended: Sequence[Side], patterns: Mapping[str, Pattern]
) -> OutcomeSplit:
    key, title, critical = row
    seen = [(side.run.success is True, patterns[side.run.digest].get(key)) for side in ended]
    known = [(success, status in ACHIEVED) for success, status in seen if status in KNOWN]
    n, m = sum(success for success, _ in known), sum(not success for success, _ in known)
    a = sum(success and done for success, done in known)
    b = sum(not success and done for success, done in known)
    return OutcomeSplit(
        key=key,
        title=title,
        critical=critical,
        successes=n,
        done_in_successes=a,
        failures=m,
        done_in_failures=b,
        unknown=len(ended) - len(known),
        difference=a / n - b / m if n and m else ONE_OUTCOME,
        p=fisher_p(a, n, b, m) if n and m else ONE_OUTCOME,
        p_holm=ONE_OUTCOME,
    )


def _adjusted(found: Sequence[OutcomeSplit]) -> list[OutcomeSplit]:
    if not any(number(split.p) is not None for split in found):
        return list(found)
    import numpy as np  # noqa: PLC0415 (slow)

    p = np.array([np.nan if isinstance(split.p, Unscored) else split.p for split in found])
    return [
        split if isinstance(split.p, Unscored) else replace(split, p_holm=float(adjusted))
        for split, adjusted in zip(found, holm(p), strict=True)
    ]


def _by_p_value(split: OutcomeSplit) -> tuple[float, float]:
    p, difference = number(split.p), number(split.difference)
    return (2.0 if p is None else p, -abs(difference or 0.0))
