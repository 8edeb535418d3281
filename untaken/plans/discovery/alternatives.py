"""Sub-goals of which a run does one or the other (§4, discovery)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import comb
from typing import Final

import numpy as np

from untaken.plans.discovery.precedence import Pair, Precedence
from untaken.plans.discovery.proposed_graph import Alternatives
from untaken.visible import free_id

CHANCE: Final = 0.05
"""Over all pairs looked at (Bonferroni): how likely so few common runs may be if two had no relation."""


def alternatives(
    counts: Precedence, ways: Sequence[Pair], among: Collection[str], *, theta: float, min_runs: int
) -> tuple[Alternatives, ...]:
    """Groups of sub-goals that stand at the same place, exclude each other, and leave no run without one.

    Two exclude each other where at most 1 − θ of the runs that attempted either attempted both, and so few
    are not to be expected by chance (hypergeometric, Bonferroni over all pairs). Two are at the same place if
    no third sub-goal is ordered differently with one than with the other, as far as enough runs show, and at
    least one is ordered in the same way with both. A group is proposed if at least θ of all runs attempted
    one.

    Args:
        counts: over all runs.
        ways: the pairs that come one before the other.
        among: sub-goals that may become options.
        theta: the share that makes a rule.
        min_runs: that must have attempted both of a pair for its order to be known.
    """
    places = [n for n, name in enumerate(counts.names) if name in among]
    # Groups are gathered from the most frequent one on.
    places.sort(key=lambda n: (-counts.both[n, n], counts.names[n]))
    order = _PairOrder(counts, ways, min_runs)
    tested = comb(len(places), 2)
    found, used = [], set[int]()
    for start in places:
        if start in used:
            continue
        group = [start]
        for other in places:
            fits = other not in used and other not in group
            # Every two of a group exclude each other.
            if fits and all(_apart(counts, a, other, theta, tested) and order.same(a, other) for a in group):
                group.append(other)
        proposed = _proposed(counts, sorted(group), theta) if len(group) > 1 else None
        if proposed:
            used.update(group)
            found.append(proposed)
    return tuple(found)


def _proposed(counts: Precedence, group: Sequence[int], theta: float) -> Alternatives | None:
    attempted = np.isfinite(counts.times[:, list(group)]).sum(axis=1)
    runs, both = int((attempted > 0).sum()), int((attempted > 1).sum())
    if runs < theta * len(counts.times):
        return None
    options = tuple(counts.names[n] for n in group)
    name = free_id("-or-".join(option[:60] for option in options[:4]), counts.names)
    return Alternatives(sub_goal=name, options=options, runs=runs, both=both)


# Two rare sub-goals seldom meet, even where nothing keeps them apart: hence the second condition.
def _apart(counts: Precedence, a: int, b: int, theta: float, tested: int) -> bool:
    both, of_a, of_b = (int(counts.both[pair]) for pair in ((a, b), (a, a), (b, b)))
    if both > (1 - theta) * (of_a + of_b - both):
        return False
    return fewer_by_chance(both, of_a, of_b, len(counts.times)) <= CHANCE / tested


def fewer_by_chance(both: int, of_a: int, of_b: int, n: int) -> float:
    """P(at most `both` common runs) if `of_a` and `of_b` of `n` runs were drawn independently."""
    ways = sum(comb(of_a, k) * comb(n - of_a, of_b - k) for k in range(min(both, of_b) + 1))
    return ways / comb(n, of_b)


class _PairOrder:
    """The order of two sub-goals: before, after, none, or unknown."""

    def __init__(self, counts: Precedence, ways: Sequence[Pair], min_runs: int) -> None:
        self.counts = counts
        self.ways = frozenset(ways)
        self.min_runs = min_runs

    def same(self, a: int, b: int) -> bool:
        """Whether no third one separates them, and one is in order with both."""
        pairs = list(self._seen(a, b))
        return all(one == other for one, other in pairs) and any(any(one) for one, _ in pairs)

    def _seen(self, a: int, b: int) -> Iterator[tuple[tuple[bool, bool], tuple[bool, bool]]]:
        for third in range(len(self.counts.names)):
            # Else no order shows.
            known = min(self.counts.both[a, third], self.counts.both[b, third]) >= self.min_runs
            if third not in (a, b) and known:
                yield self._to(a, third), self._to(b, third)

    def _to(self, one: int, third: int) -> tuple[bool, bool]:
        return (one, third) in self.ways, (third, one) in self.ways
