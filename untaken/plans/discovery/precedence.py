"""Which sub-goal comes before which, how often, and what of it can stand together (§4, discovery)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from untaken.plans.discovery.first_attempts import FirstAttempts
from untaken.plans.discovery.proposed_graph import Alternatives, Support
from untaken.stats import wilson
from untaken.visible import free_id

CHANCE: Final = 0.05
"""Over all pairs looked at (Bonferroni): how likely so few common runs may be if two had no relation."""

Pair = tuple[int, int]
NEVER: Final = float("inf")


class Precedence(Struct, frozen=True, kw_only=True):
    """Counts over runs, by the positions of sub-goals in `names`.

    Attributes:
        names: k sub-goals.
        times: runs × k: the seq of the first attempt, infinite where there was none.
        first: k × k: runs in which the row's sub-goal was first attempted before the column's.
        both: k × k: runs that attempted both; on the diagonal, runs that attempted the one.
        agents: k × k: agents among those.
    """

    names: tuple[str, ...]
    times: NDArray[np.float64]
    first: NDArray[np.int64]
    both: NDArray[np.int64]
    agents: NDArray[np.int64]

    def share(self, pair: Pair) -> float:
        """The share of runs that attempted the first of the pair first, of those that attempted both."""
        return float(self.first[pair] / self.both[pair])

    def support(self, pair: Pair) -> Support:
        """The counts of a pair that some run attempted both of."""
        first, both, alone = int(self.first[pair]), int(self.both[pair]), int(self.both[pair[1], pair[1]])
        low, high = wilson(first, both)
        return Support(
            dependency=self.names[pair[0]],
            sub_goal=self.names[pair[1]],
            first=first,
            both=both,
            share=self.share(pair),
            low=low,
            high=high,
            alone=alone - both,
            agents=int(self.agents[pair]),
        )


def precedence(
    orders: Sequence[FirstAttempts], names: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> Precedence:
    """Count what came first."""
    columns = {name: place for place, name in enumerate(names)}
    times = np.array([[order.first.get(name, NEVER) for name in names] for order in orders])
    times = times.reshape(len(orders), len(names))
    for options in groups.values():
        times = np.column_stack([times, times[:, [columns[option] for option in options]].min(axis=1)])
    held = np.isfinite(times)
    # One column at a time: runs × k × k truth values would fill memory.
    first = np.array([((times[:, [i]] < times) & held).sum(axis=0) for i in range(times.shape[1])])
    return Precedence(
        names=(*names, *groups),
        times=times,
        first=first.reshape(times.shape[1], times.shape[1]),
        both=_together(held),
        agents=_agents(held, [order.agent for order in orders]),
    )


def _together(held: NDArray[np.bool_]) -> NDArray[np.int64]:
    counts = held.astype(float)  # floats multiply fast, and count exactly far beyond any number of runs
    return np.asarray(counts.T @ counts, dtype=np.int64)


def _agents(held: NDArray[np.bool_], agents: Sequence[str]) -> NDArray[np.int64]:
    rows: dict[str, list[int]] = {}
    for row, agent in enumerate(agents):
        rows.setdefault(agent, []).append(row)
    each = np.array([_together(held[of]) > 0 for of in rows.values()])
    return np.asarray(each.sum(axis=0), dtype=np.int64)


def before(counts: Precedence, *, theta: float, min_runs: int) -> list[Pair]:
    """Pairs in which the first came first in at least `theta` of at least `min_runs` runs, strongest first.

    The strength is the lower end of the interval; where that is equal, the names decide.
    """
    pairs = measured(counts, min_runs)
    ways = [way for a, b in pairs for way in ((a, b), (b, a)) if counts.share(way) >= theta]
    strength = {way: wilson(float(counts.first[way]), float(counts.both[way]))[0] for way in ways}
    return sorted(ways, key=lambda way: (-strength[way], counts.names[way[0]], counts.names[way[1]]))


def measured(counts: Precedence, min_runs: int) -> list[Pair]:
    """Pairs, each once, that enough runs attempted both of."""
    return [p for p in combinations(range(len(counts.names)), 2) if counts.both[p] >= min_runs]


def without_circles(pairs: Iterable[Pair], size: int) -> tuple[list[Pair], list[Pair]]:
    """Take pairs one by one, and leave out each that would close a circle of those taken before.

    So of every circle the last pair is left out: the weakest, where the strongest come first.

    Returns:
        What was taken, and what was left out.
    """
    # Closed at every step, so that one bit tells whether a pair closes a circle.
    after = [1 << n for n in range(size)]  # bits: what comes after each, itself included
    ahead = [1 << n for n in range(size)]
    kept: list[Pair] = []
    left: list[Pair] = []
    for a, b in pairs:
        if after[b] >> a & 1:
            left.append((a, b))
            continue
        kept.append((a, b))
        if not after[a] >> b & 1:
            upper, lower = ahead[a], after[b]
            for n in bits(upper):
                after[n] |= lower
            for n in bits(lower):
                ahead[n] |= upper
    return kept, left


def bits(mask: int) -> list[int]:
    """The positions of the bits that are set."""
    return [place for place, bit in enumerate(bin(mask)[:1:-1]) if bit == "1"]


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
