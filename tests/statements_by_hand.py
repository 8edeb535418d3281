"""The statements of plan decisions as the documentation defines them (§2d), written out with fractions.

The plainest reading of the rule for comparisons within task and agent; nothing of the engine is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb
from typing import TypeVar

import pytest

from untaken.counterfactual.plan import PlanDecision, PlanPath
from untaken.counterfactual.plan.statements import Statement
from untaken.errors import Unscored

Key = tuple[object, ...]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Row:
    """One comparison: the runs of each side by stratum, as outcomes."""

    sides: tuple[tuple[tuple[bool, ...], tuple[bool, ...]], ...]

    @property
    def difference(self) -> Fraction:
        weights = [Fraction(len(one) * len(two), len(one) + len(two)) for one, two in self.sides]
        gaps = [Fraction(sum(one), len(one)) - Fraction(sum(two), len(two)) for one, two in self.sides]
        return sum((w * gap for w, gap in zip(weights, gaps, strict=True)), Fraction(0)) / sum(weights)

    @cached_property
    def informative(self) -> list[tuple[tuple[bool, ...], tuple[bool, ...]]]:
        return [(one, two) for one, two in self.sides if len({*one, *two}) == 2]

    @cached_property
    def chances(self) -> dict[int, Fraction]:
        """Of each number of successes on the first side, the margins of every stratum given."""
        found = {0: Fraction(1)}
        for one, two in self.informative:
            n1, n0, k = len(one), len(two), sum(one) + sum(two)
            after: dict[int, Fraction] = defaultdict(Fraction)
            for total, chance in found.items():
                for x in range(max(0, k - n0), min(n1, k) + 1):
                    after[total + x] += chance * Fraction(comb(n1, x) * comb(n0, k - x), comb(n1 + n0, k))
            found = dict(after)
        return found

    def p_of(self, total: int) -> Fraction:
        return sum(chance for chance in self.chances.values() if chance <= self.chances[total])

    @cached_property
    def p(self) -> Fraction:
        return self.p_of(sum(sum(one) for one, _ in self.informative))

    @cached_property
    def testable(self) -> bool:
        return any(self.p_of(total) <= Fraction(1, 20) for total in self.chances)

    @property
    def enough(self) -> bool:
        return all(sum(len(pair[side]) for pair in self.informative) >= 3 for side in (0, 1))


def layers(path: PlanPath, decision: PlanDecision) -> list[Key]:
    state = decision.state
    done = state.unplanned, state.handed_over
    return [
        (1, path.domain, path.task_id, path.graph_id, frozenset(state.made), *done),
        (2, path.domain, min(decision.left, 3), min(len(state.made), 2), *done),
        (3, path.domain, decision.left > 0, *done),
        (4, path.domain),
    ]


def the_rows(paths: Sequence[PlanPath]) -> dict[Key, Row]:
    """Each comparison by its layer, its situation and the two options."""
    visits: dict[Key, dict[tuple[str, str], dict[str, list[bool]]]] = {}
    for path in paths:
        seen = set()
        for decision in path.decisions:
            for key in layers(path, decision):
                if key in seen:
                    continue
                seen.add(key)
                option = str(decision.option) if key[0] == 1 else decision.option.kind
                by_stratum = visits.setdefault(key, {}).setdefault((path.task_id, path.agent), {})
                by_stratum.setdefault(option, []).append(path.success is True)
    rows = {}
    for key, strata in visits.items():
        for pair in combinations(sorted({option for one in strata.values() for option in one}), 2):
            both = [one for one in strata.values() if pair[0] in one and pair[1] in one]
            if both:
                rows[key, *pair] = Row(tuple((tuple(one[pair[0]]), tuple(one[pair[1]])) for one in both))
    return rows


def q_of(ps: Mapping[K, Fraction]) -> dict[K, Fraction]:
    """After Benjamini and Hochberg: the least of p · n / rank over all that are no smaller, at most 1."""
    every = list(ps.values())
    return {
        key: min(Fraction(1), *(q * len(every) / sum(other <= q for other in every) for q in every if q >= p))
        for key, p in ps.items()
    }


def key_of(statement: Statement) -> Key:
    at = statement.situation
    done = at.unplanned, at.handed_over
    key: Key = {
        1: (1, at.domain, at.task_id, at.graph_id, frozenset(at.made), *done),
        2: (2, at.domain, at.left, at.made_count, *done),
        3: (3, at.domain, at.left > 0, *done),
        4: (4, at.domain),
    }[at.layer]
    return (key, *sorted((str(statement.option), str(statement.against))))


def check_statements(paths: Sequence[PlanPath], made: Iterable[Statement | None]) -> None:
    """Every comparison's counts, difference, p, q and support, against the rule."""
    found = {key_of(each): each for each in made if each is not None}
    rows = the_rows(paths)
    assert set(found) == set(rows)
    qs = q_of({key: row.p for key, row in rows.items() if row.testable})
    for key, row in rows.items():
        got, flip = found[key], str(found[key].option) != key[1]
        assert (got.difference, got.p) == pytest.approx((float(abs(row.difference)), float(row.p)))
        assert flip == (row.difference < 0) or row.difference == 0
        ns = [(sum(map(sum, side)), sum(map(len, side))) for side in zip(*row.sides, strict=True)]
        assert [(got.k1, got.n1), (got.k0, got.n0)] == (ns[::-1] if flip else ns)
        assert got.testable == row.testable
        assert (None if isinstance(got.q, Unscored) else got.q) == (
            pytest.approx(float(qs[key])) if key in qs else None
        )
        small = key in qs and qs[key] <= Fraction(1, 10) and row.p <= Fraction(1, 20)
        assert got.supported == (small and row.enough)
