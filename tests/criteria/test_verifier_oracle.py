"""Which criteria the verifier keeps, against its rule (§8) written out plainly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, isclose, sqrt
from random import Random
from statistics import NormalDist, fmean, pstdev

from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq

from untaken.judging.criteria import Criterion, Quantified, QuantifierRun, Value, verify_criteria

SCALE = ["a", "b", "c", "d", "e"]
Levels = dict[str, list[int | None]]
Z = NormalDist().inv_cdf(0.975)
NEVER = (None, None)
EDGE = 1e-12
"""The estimate itself is no end of its interval."""


@dataclass(frozen=True)
class World:
    """Levels by criterion and subject; the first subjects succeeded. Each attack has a pass of its own."""

    successes: int
    passes: list[Levels]
    attacks: dict[str, Levels]

    def means(self, name: str, passes: list[Levels] | None = None) -> dict[int, Fraction]:
        """Of the subjects with a value; kept exact, so that equal ones are ties."""
        found = {}
        for subject in range(len(self.passes[0][name])):
            levels = self.levels(name, subject, self.passes if passes is None else passes)
            if levels:
                found[subject] = Fraction(sum(levels), len(levels))
        return found

    @staticmethod
    def levels(name: str, subject: int, passes: list[Levels]) -> list[int]:
        return [level for one in passes if (level := one[name][subject]) is not None]

    def stable(self, name: str) -> bool | None:
        every = [self.levels(name, subject, self.passes) for subject in range(len(self.passes[0][name]))]
        repeated = [levels for levels in every if len(levels) > 1]
        cv = [pstdev(levels) / fmean(levels) for levels in repeated if fmean(levels) >= 0.5]
        near = [pstdev(levels) / (len(SCALE) - 1) for levels in repeated if fmean(levels) < 0.5]
        if not repeated:
            return None
        return (not cv or fmean(cv) <= 0.5) and (not near or fmean(near) <= 0.15)

    def theta(self, name: str) -> Fraction | None:
        means = self.means(name)
        won = [mean for subject, mean in means.items() if subject < self.successes]
        lost = [mean for subject, mean in means.items() if subject >= self.successes]
        if not won or not lost:
            return None
        return Fraction(sum((a > b) * 2 + (a == b) for a in won for b in lost), 2 * len(won) * len(lost))

    def ends(self, name: str) -> tuple[float, float] | tuple[None, None]:
        """Newcombe's fifth method: where the distance is z standard errors."""
        theta = self.theta(name)
        if theta is None:
            return NEVER
        m = sum(subject < self.successes for subject in self.means(name))
        n = len(self.means(name)) - m

        def beyond(v: float, sign: int) -> float:
            more = ((m + n) / 2 - 1) * ((1 - v) / (2 - v) + v / (1 + v))
            return sign * (float(theta) - v) - Z * sqrt(v * (1 - v) / (m * n) * (1 + more))

        low = 0.0 if theta == 0 else brentq(lambda v: beyond(v, 1), 0.0, float(theta) - EDGE)
        high = 1.0 if theta == 1 else brentq(lambda v: beyond(v, -1), float(theta) + EDGE, 1.0)
        return low, high

    def by_chance(self, name: str) -> Fraction:
        """The share of all arrangements of the outcomes whose rank sum is as far from the middle."""
        means = self.means(name)
        values, won = list(means.values()), [place for place, s in enumerate(means) if s < self.successes]
        ranks = [sum((other < one) * 2 + (other == one) for other in values) for one in values]
        middle = Fraction(sum(ranks) * len(won), len(ranks))
        away = [
            abs(sum(ranks[place] for place in some) - middle)
            for some in combinations(range(len(ranks)), len(won))
        ]
        seen = abs(sum(ranks[place] for place in won) - middle)
        return Fraction(sum(one >= seen for one in away), len(away))

    def noticed(self, name: str, attack: str) -> bool:
        before, after = self.means(name), self.means(name, [self.attacks[attack]])
        drops = [before[subject] - after[subject] for subject in before if subject in after]
        wins, losses, n = sum(d > 0 for d in drops), sum(d < 0 for d in drops), len(drops)
        if not n:
            return False
        rate = (wins + (n - wins - losses) / 2) / n
        low = (rate + Z * Z / (2 * n) - Z * sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n))) / (
            1 + Z * Z / n
        )
        tail = Fraction(
            sum(comb(wins + losses, k) for k in range(wins, wins + losses + 1)), 2 ** (wins + losses)
        )
        return low > 0.5 and tail * len(self.attacks) <= Fraction(1, 20)

    def discriminates(self, name: str) -> bool:
        low, high = self.ends(name)
        if high is not None and high < 0.5:
            return False
        apart = low is not None and low > 0.5 and self.by_chance(name) <= Fraction(1, 20)
        return apart or any(self.noticed(name, attack) for attack in self.attacks)

    def alike(self, name: str, other: str) -> bool:
        first, second = self.means(name), self.means(other)
        common = [subject for subject in first if subject in second]
        if len(common) < 8:
            return False
        rho = spearman([first[s] for s in common], [second[s] for s in common])
        assume(rho is None or not isclose(abs(rho), 0.9, rel_tol=1e-9))  # a tie of rounding, not of the rule
        return rho is not None and abs(rho) >= 0.9

    def kept(self) -> set[str]:
        """One by one, the best separation first, what says nothing that a kept one says."""
        able = [name for name in self.passes[0] if self.stable(name) and self.discriminates(name)]

        def strength(name: str) -> float:
            theta = self.theta(name)
            seen = sum(self.noticed(name, attack) for attack in self.attacks)
            return (-9.0 if theta is None else float(theta)) + seen / 1_000

        kept: list[str] = []
        for name in sorted(able, key=strength, reverse=True):
            if not any(self.alike(name, other) for other in kept):
                kept.append(name)
        return set(kept)


def spearman(first: list[Fraction], second: list[Fraction]) -> float | None:
    ranks = [
        [2 * sum(b < a for b in side) + sum(b == a for b in side) for a in side] for side in (first, second)
    ]
    if any(len(set(side)) == 1 for side in ranks):
        return None
    mx, my = map(fmean, ranks)
    pairs = list(zip(*ranks, strict=True))
    top = sum((x - mx) * (y - my) for x, y in pairs)
    return top / sqrt(sum((x - mx) ** 2 for x, _ in pairs) * sum((y - my) ** 2 for _, y in pairs))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Criteria that follow the outcome, follow each other, waver or are noise; some values are missing."""
    rng, n = Random(draw(st.integers(0, 10**6))), draw(st.integers(6, 14))
    successes, noise = draw(st.integers(0, n)), draw(st.sampled_from([0.0, 0.3, 0.8, 2.0]))
    quality = [rng.gauss(3.2 if subject < successes else 1.2, noise) for subject in range(n)]
    base = {"good": quality, "same": [q + rng.gauss(0, noise / 2) for q in quality]}
    base |= {"noise": [rng.uniform(0, 4) for _ in range(n)], "low": [rng.uniform(0, 0.6) for _ in range(n)]}

    def a_pass(loss: float = 0.0) -> Levels:
        return {
            name: [
                None if rng.random() < 0.08 else min(4, max(0, round(v - loss + rng.gauss(0, noise / 2))))
                for v in values
            ]
            for name, values in base.items()
        }

    attacks = {name: a_pass(rng.choice([0.0, 1.5])) for name in ("one", "two")[: draw(st.integers(0, 2))]}
    return World(successes, [a_pass() for _ in range(draw(st.integers(1, 3)))], attacks)


def quantified(levels: Levels, successes: int) -> QuantifierRun:
    items = tuple(
        Quantified(
            subject=str(subject),
            success=subject < successes,
            values={
                name: Value(text=SCALE[level], level=level)
                for name, column in levels.items()
                if (level := column[subject]) is not None
            },
        )
        for subject in range(len(levels["good"]))
    )
    criteria = tuple(Criterion(name=name, accepted_values=SCALE) for name in levels)
    return QuantifierRun(name="pass", by="model", criteria=criteria, items=items)


@given(worlds())
def test_the_verifier_keeps_what_its_rule_keeps(world: World) -> None:
    found = verify_criteria(
        [quantified(one, world.successes) for one in world.passes],
        disturbed={name: [quantified(one, world.successes)] for name, one in world.attacks.items()},
    )
    assert {check.name: check.stability.stable for check in found.criteria} == {
        name: world.stable(name) for name in world.passes[0]
    }
    assert {check.name: bool(check.discrimination.discriminates) for check in found.criteria} == {
        name: world.discriminates(name) for name in world.passes[0]
    }
    assert set(found.kept) == world.kept()
